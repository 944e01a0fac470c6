# SPDX-License-Identifier: MIT
"""The responses that a return annotation describes."""

from __future__ import annotations

from collections import deque
from types import UnionType
from typing import Annotated, Any, Literal, Never, NoReturn, Union, get_args, get_origin

from .._signature.signature import REQUIRED
from .._signature.types import aliased, allows_none, split


def describe_responses(returns: Any, status: int | None) -> dict[int, Any]:
    """Returns the types of the responses of an endpoint by status, for documents.

    Args:
        returns: The return annotation, or REQUIRED if there is none.
        status: The status of the result, or None.
    """
    kind, _ = split(returns)
    if kind is REQUIRED or kind is Any:
        return {}
    if kind is None or kind is type(None):
        return {204 if status is None else status: None}
    data = find_data_type(returns)
    found: dict[int, Any] = {}
    if data is not None:
        found[200 if status is None else status] = data
    if allows_none(returns) and status is None:
        found[204] = None
    return found


def find_data_type(kind: Any) -> Any:
    """Returns a type without None and without responses; None if nothing else is in it.

    A deque is a list.
    """
    inner, metadata = split(kind)
    if (value := aliased(inner)) is not None and (allows_none(value) or _has_response(value)):
        inner = value
    origin, held = get_origin(inner), get_args(inner)
    data = inner
    if origin is Literal:
        values = tuple(each for each in held if each is not None)
        data = Literal[values] if values else None
    elif origin in (Union, UnionType):
        members = tuple(each for each in map(find_data_type, held) if each is not None)
        data = Union[members] if members else None  # noqa: UP007
    elif inner in (type(None), NoReturn, Never) or _is_response(inner):
        return None
    elif deque in (inner, origin):  # sent as a list, but msgspec doesn't know what it holds
        data = list[held[0]] if held else list  # type: ignore[valid-type]
    if data is None or not metadata:
        return data
    return Annotated[(data, *metadata)]


def _has_response(kind: Any) -> bool:
    return any(map(_is_response, (kind, *get_args(kind))))


def _is_response(kind: Any) -> bool:
    return all(hasattr(kind, name) for name in ("status", "headers", "body_used"))
