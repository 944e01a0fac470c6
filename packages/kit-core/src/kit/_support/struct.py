# SPDX-License-Identifier: MIT
"""Objects that every request needs, made as cheaply as Python can."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct

C = TypeVar("C", bound=type[Struct])


def with_plain_stores(cls: C) -> C:
    """Lets attributes of a Struct be set as those of any other object are.

    PERF: a msgspec Struct is made in half the time that a class with an `__init__` takes. But it
    has a `__setattr__` of its own, with which setting an attribute takes three times as long. What
    it is for is objects made of plain values alone, which the garbage collector is told of when
    they are given a container: so each must be made with something that is more than a value.

    Args:
        cls: The Struct; it is changed.
    """
    # After the class is made, since msgspec puts its own there. CPython keeps both in one place,
    # and that of `object` is only taken where both are.
    cls.__delattr__ = object.__delattr__  # type: ignore[method-assign]
    cls.__setattr__ = object.__setattr__  # type: ignore[method-assign]
    return cls
