# SPDX-License-Identifier: MIT
"""Makes Structs, which every request needs, cheaper to use and to import."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Any, NotRequired, Required, TypeVar, get_type_hints

__all__ = ("Opaque", "Struct", "with_plain_stores")

_OF_MSGSPEC = ("inspect", "json", "msgpack", "structs", "toml", "yaml")


class _Deferred(ModuleType):
    """Stands for a module while msgspec is imported; loads it if an attribute is needed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import itself looks at
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _stand_ins() -> dict[str, ModuleType]:
    """Returns a stand-in for each module that msgspec imports but that few apps need.

    Where msgspec needs types of a module, the stand-in is the module in C that defines them.
    """
    known: dict[str, dict[str, Any]] = {f"msgspec.{name}": {} for name in _OF_MSGSPEC}
    # What msgspec needs of it is the same in typing since Python 3.11.
    known["typing_extensions"] = {
        "get_type_hints": get_type_hints,
        "NotRequired": NotRequired,
        "Required": Required,
    }
    if sys.version_info < (3, 13) and hasattr(os, "uname"):
        # uuid asks it for the name of the system.
        known["platform"] = {"system": lambda: os.uname().sysname}
    made: dict[str, ModuleType] = {}
    for name, attributes in known.items():
        if name not in sys.modules:
            made[name] = _Deferred(name)
            vars(made[name]).update(attributes)
    if sys.version_info < (3, 12):
        # Up to 3.11, datetime first defines all of its classes in Python.
        for name in ("datetime", "decimal"):
            if name not in sys.modules:
                with suppress(ImportError):
                    made[name] = import_module(f"_{name}")
    return made


@contextmanager
def _msgspec_alone() -> Iterator[None]:
    """Has msgspec import only its core, and its submodules at first use.

    PERF: a third of the time up to the first app.
    """
    if "msgspec" in sys.modules:
        yield
        return
    stand_ins = _stand_ins()
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
    import msgspec

    for name in _OF_MSGSPEC:
        if isinstance(vars(msgspec).get(name), _Deferred):
            delattr(msgspec, name)

    def load(name: str) -> Any:
        if name not in _OF_MSGSPEC:
            raise AttributeError(f"module 'msgspec' has no attribute {name!r}")
        return import_module(f"msgspec.{name}")

    msgspec.__getattr__ = load  # type: ignore[method-assign]  # PEP 562


with _msgspec_alone():
    from msgspec import Struct

C = TypeVar("C", bound=type[Struct])


def with_plain_stores(cls: C) -> C:
    """Lets attributes of a Struct be set like those of any other object.

    PERF: creating a msgspec Struct takes half the time of a class with an `__init__`. But its own
    `__setattr__` makes setting an attribute take three times as long. It exists to tell the garbage
    collector about objects that were created with only plain values and are then given a container.
    So each of these Structs must be created with something other than a plain value.

    Args:
        cls: The Struct; it is changed.
    """
    # After the class is created, since msgspec sets its own. CPython keeps both methods in one
    # slot, and uses that of `object` only if both are from there.
    cls.__delattr__ = object.__delattr__  # type: ignore[method-assign]
    cls.__setattr__ = object.__setattr__  # type: ignore[method-assign]
    return cls


class _Absent:
    """An attribute that isn't there, although a base class has it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        raise AttributeError(self._name)


class Opaque:
    """Base class of Structs whose fields aren't shown; it stands before Struct.

    Rich prefers `__rich_repr__` to the repr, and so would print headers and bodies. Templates look
    for `__struct_fields__`. For `help`, msgspec evaluates the annotations; some of their names are
    imported for type checkers only, so the annotations are removed.
    """

    __slots__ = ()

    __rich_repr__ = _Absent("__rich_repr__")
    __struct_fields__ = _Absent("__struct_fields__")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__annotations__ = {}
