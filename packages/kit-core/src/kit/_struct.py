# SPDX-License-Identifier: MIT
"""Structs, which every request needs, whose attributes can be set like those of other objects."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct

__all__ = ("Opaque", "Struct", "with_plain_stores")

C = TypeVar("C", bound=type[Struct])


def with_plain_stores(cls: C) -> C:
    """Lets attributes of a Struct be set like those of any other object.

    PERF: msgspec's own `__setattr__` takes twice as long, 0.17 µs of a request that sets headers.
    It exists to tell the garbage collector about objects that were created with only plain values
    and are then given a container: create these Structs with something other than a plain value.

    Args:
        cls: The Struct; it is changed.
    """
    # Not in the class, since msgspec replaces it there. CPython keeps both methods in one slot, and
    # uses that of `object` only if both are from there.
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
