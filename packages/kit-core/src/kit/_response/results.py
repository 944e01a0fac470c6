# SPDX-License-Identifier: MIT
"""Checks the values that handlers return."""

from __future__ import annotations

from typing import Any

from kit.authoring.maybe_await import is_awaitable
from kit.authoring.signatures import describe
from kit.interface import HandlerError
from kit.web._response import Response


async def settle(result: Any, handler: Any) -> Response | None:
    """Awaits the result of a handler.

    Raises:
        HandlerError: If it is neither a response nor None; the message names the handler.
    """
    while not (result is None or isinstance(result, Response)):
        # A handler may return an awaitable from elsewhere, e.g. `return c.not_found()`.
        if not is_awaitable(result):
            raise _refused(result, handler)
        result = await result
    return result


def _refused(result: Any, handler: Any) -> HandlerError:
    from kit._support.hints import hint

    what = type(result).__name__
    if isinstance(result, type):
        what = f"the class {result.__qualname__}"
    return HandlerError(
        describe(handler), f"returned {what}, expected a Response{hint('result', result)}"
    )
