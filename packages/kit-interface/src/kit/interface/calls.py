# SPDX-License-Identifier: MIT
"""Calls functions that users pass as options, which may be plain or async."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

__all__ = ("call",)

T = TypeVar("T")


async def call(function: Callable[..., Awaitable[T] | T], /, *args: Any) -> T:
    """Calls a function, and awaits its result if that is awaitable.

    Args:
        function: A plain or async function.
        *args: Its arguments.

    Returns:
        What the function returned, or what awaiting that returned.
    """
    result: Any = function(*args)
    if hasattr(result, "__await__"):
        result = await result
    return cast(T, result)
