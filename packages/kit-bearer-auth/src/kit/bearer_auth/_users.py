# SPDX-License-Identifier: MIT
"""The type of the user that `verify_token` returns, for tools."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def user_type(verify_token: Any) -> Any:
    """Returns the type of the users that a function returns.

    Args:
        verify_token: The function, whose annotation is read.

    Returns:
        The type, without None, and without the bools that only say whether a token is accepted;
        None if nothing is left; Any if the function doesn't say what it returns.
    """
    while isinstance(verify_token, partial):
        verify_token = verify_token.func
    if not hasattr(verify_token, "__code__") and not hasattr(verify_token, "__func__"):
        verify_token = type(verify_token).__call__
    try:
        returned = get_type_hints(verify_token, include_extras=True).get("return", Any)
    except (NameError, TypeError, AttributeError):  # it names what is defined later, or nowhere
        return Any
    if get_origin(returned) in (Awaitable, Coroutine):
        returned = get_args(returned)[-1]
    members = get_args(returned) if get_origin(returned) in (Union, UnionType) else (returned,)
    users = tuple(each for each in members if not _is_verdict(each))
    return Union[users] if users else None  # noqa: UP007 - they are known at runtime alone


def _is_verdict(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return all(isinstance(value, bool) or value is None for value in get_args(kind))
    return kind is None or kind is NoneType or kind is bool
