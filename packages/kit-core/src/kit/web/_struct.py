# SPDX-License-Identifier: MIT
"""Structs with fast assignment to attributes; every request needs some."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct

__all__ = ("Opaque", "Struct", "with_plain_stores")

C = TypeVar("C", bound=type[Struct])


def with_plain_stores(cls: C) -> C:
    """Replaces a Struct's `__setattr__` with the method of `object`.

    PERF: msgspec's own `__setattr__` takes twice as long, 0.17 µs of a request that sets headers.
    It tells the garbage collector about objects that are created with only plain values and later
    get a container. Therefore, create these Structs with at least one value that isn't plain.

    Args:
        cls: The Struct, which is changed.
    """
    # msgspec would replace methods defined in the class. CPython keeps both methods in one slot,
    # and uses the fast one only if both come from `object`.
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
    """Base class of Structs that hide their fields; list it before Struct.

    Rich prefers `__rich_repr__` to the repr, so it would print headers and bodies. Templates look
    for `__struct_fields__`. For `help`, msgspec evaluates the annotations; since some of their
    names are imported only for type checkers, the annotations are removed.
    """

    __slots__ = ()

    __rich_repr__ = _Absent("__rich_repr__")
    __struct_fields__ = _Absent("__struct_fields__")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__annotations__ = {}
