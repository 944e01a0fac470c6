# SPDX-License-Identifier: MIT
"""Runs the handler of an accepted connection, and closes the connection after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from types import CoroutineType
from typing import Any

from kit.interface import HandlerError, HTTPException
from kit.interface.signatures import describe
from kit.interface.websocket import WebSocketDisconnectedError

from ._socket import InvalidMessageError, WebSocket, abandon, end, watch_always

_logger = logging.getLogger("kit")

# SPEC: RFC 6455 section 7.4.1.
_NORMAL = 1000
_INVALID_DATA = 1007
_POLICY = 1008
_FAULT = 1011
_MOST_REASON_BYTES = 123
_FIRST_FAULT_STATUS = 500


async def converse(
    work: Callable[[WebSocket], Any],
    ws: WebSocket,
    function: object,
    path: str,
    cancel_on_disconnect: bool,
) -> Exception | None:
    """Runs a handler and closes the connection when it ends, in whatever way.

    Args:
        work: The handler.
        ws: The connection.
        function: The function of the user, for errors.
        path: The path of the handshake, for the log.
        cancel_on_disconnect: Whether the handler is cancelled when the client leaves.

    Returns:
        The exception that the handler raised, or None.
    """
    code, reason = _NORMAL, ""
    failure: Exception | None = None
    try:
        if cancel_on_disconnect:
            from anyio import CancelScope

            with CancelScope() as scope:
                watch_always(ws, scope.cancel)
                await _checked(work(ws), function)
        else:
            result = work(ws)
            if result.__class__ is not CoroutineType:
                result = _checked(result, function)
            await result
    except Exception as error:
        failure = error
        code, reason = _closing_for(error, ws, path)
    except BaseException:
        abandon(ws)
        raise
    ending = end(ws, code, reason)
    if ending is not None:
        await ending
    return failure


def _checked(result: Any, function: object) -> Any:
    """Returns what a handler returned.

    Raises:
        HandlerError: If it can't be awaited.
    """
    if not hasattr(result, "__await__"):
        problem = f"returned {type(result).__name__}: write `async def` for a handler (c, ws)"
        raise HandlerError(describe(function), problem)
    return result


async def close_after(error: Exception, ws: WebSocket) -> None:
    """Closes a connection whose handler raised, before the handler cleans up."""
    code, reason = _code_and_reason(error)
    await ws.close(code, reason)


def _closing_for(error: Exception, ws: WebSocket, path: str) -> tuple[int, str]:
    """Returns the code and reason for an exception, and logs it if it is a fault."""
    leaves = [*_leaves(error)]
    if ws.close_code is not None and all(_is_of_closed(leaf) for leaf in leaves):
        return _NORMAL, ""  # sent to nobody
    code, reason = _code_and_reason(error)
    if code == _FAULT:
        shown = ascii(path)[1:-1]
        _logger.error("Exception in the WebSocket handler of %s", shown, exc_info=error)
    return code, reason


def _code_and_reason(error: Exception) -> tuple[int, str]:
    leaves = [*_leaves(error)]
    leaf = leaves[0] if len(leaves) == 1 else error
    if isinstance(leaf, InvalidMessageError):
        return _INVALID_DATA, _cut(leaf.problem)
    if isinstance(leaf, HTTPException) and leaf.status < _FIRST_FAULT_STATUS:
        return _POLICY, _cut(leaf.message or "")
    return _FAULT, "Internal Server Error"


def _is_of_closed(error: Exception) -> bool:
    return isinstance(error, WebSocketDisconnectedError)


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _cut(reason: str) -> str:
    """Returns as much of a text as a close frame can have."""
    return reason.encode("utf-8", "replace")[:_MOST_REASON_BYTES].decode("utf-8", "ignore")
