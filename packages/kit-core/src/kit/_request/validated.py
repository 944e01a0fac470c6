# SPDX-License-Identifier: MIT
"""Checks that validated data has the type that a handler expects."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    is_typeddict,
)

from kit.interface import ValidationTarget

from .conversion import show_type

_MOST_SHOWN = 3


def check_validated(target: ValidationTarget, validated: Mapping[str, Any], kind: Any) -> Any:
    """Returns the validated data of a part of the request, after checking its type.

    Args:
        target: The part.
        validated: The data of all parts that were validated.
        kind: The type.

    Raises:
        LookupError: If nothing validated this part.
        TypeError: If the data is not of the type.
    """
    shown = show_type(kind)
    call = f"c.req.valid({target!r}, {shown})"
    if target not in validated:
        raise LookupError(
            f"{call}: nothing validated this part of the request; register the route with "
            f"use=[validator({target!r}, {shown})]"
        )
    data = validated[target]
    if not _is_of(data, kind):
        raise TypeError(f"{call}: this part was validated as {_describe(data)}")
    return data


def _is_of(value: Any, kind: Any) -> bool:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is None:
        return _is_of_plain(value, kind)
    if origin is Annotated:
        return _is_of(value, arguments[0])
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in arguments)
    if origin in (Union, types.UnionType):
        return any(_is_of(value, each) for each in arguments)
    if not _is_of(value, origin):
        return False
    if origin.__module__.partition(".")[0] not in ("builtins", "collections"):
        return True  # the meaning of other generic classes' parameters is unknown
    if isinstance(value, Mapping) and len(arguments) == 2:
        key, item = arguments
        return all(_is_of(k, key) and _is_of(v, item) for k, v in value.items())
    if isinstance(value, tuple) and arguments[-1:] != (...,):
        return len(value) == len(arguments) and all(map(_is_of, value, arguments))
    return all(_is_of(each, arguments[0]) for each in value)


def _is_of_plain(value: Any, kind: Any) -> bool:
    if kind is None:
        return value is None
    if kind is Any or isinstance(kind, TypeVar):
        return True
    if is_typeddict(kind):
        return isinstance(value, dict) and kind.__required_keys__ <= value.keys()
    if isinstance(kind, type):
        return isinstance(value, kind) or (kind is float and isinstance(value, int))
    # A NewType has a __supertype__; an alias, `type X = ...`, has a __value__.
    meant = getattr(kind, "__supertype__", None) or getattr(kind, "__value__", None)
    return meant is None or _is_of(value, meant)


def _describe(value: Any) -> str:
    """Describes data by its type and the types of its items."""
    name = type(value).__qualname__
    if type(value) in (list, tuple, set, frozenset):
        held = [*dict.fromkeys(type(each).__qualname__ for each in value)]
    elif type(value) is dict:
        held = [*dict.fromkeys(map(repr, value))]
    else:
        held = []
    if not held:
        return name
    more = ", ..." if len(held) > _MOST_SHOWN else ""
    return f"{name} of {', '.join(held[:_MOST_SHOWN])}{more}"
