# SPDX-License-Identifier: MIT
"""Runs the handler of an accepted connection, and closes the connection after it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from kit._routing.exception_groups import leaves
from kit.authoring.cancellation import Cancellation, find_fault
from kit.authoring.event_loops import running_trio
from kit.authoring.maybe_await import is_awaitable, settle
from kit.authoring.signatures import describe
from kit.interface import HandlerError, HTTPException
from kit.interface.websocket import WebSocketDisconnectedError
from kit.web import Response

from ._socket import InvalidMessageError, WebSocket

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
    cancel_on_disconnect: bool,
) -> Exception | None:
    """Runs a handler and closes the connection when the handler ends, for any reason.

    Args:
        work: The handler.
        ws: The connection.
        function: The user's function, for errors.
        cancel_on_disconnect: Whether the handler is cancelled as soon as the client disconnects.

    Returns:
        The exception that the handler raised, or None. A HandlerError if the handler used another
        connection that was closed, which is a fault of this connection's handler.
    """
    code, reason = _NORMAL, ""
    failure: Exception | None = None
    trio = running_trio()
    # On asyncio, `finally` blocks may wait; see Cancellation.
    block: Any = Cancellation() if trio is None else trio.CancelScope()
    ws._start(block.request if trio is None else block.cancel, cancel_on_disconnect)
    try:
        with block:
            result = await _awaitable(work(ws), function)
            if result is not None:
                _check_result(await settle(result, function), function)
        if block.is_caught if trio is None else block.cancelled_caught:
            failure = ws._disconnected()
    except BaseException as raised:
        try:
            failure = error = find_fault(raised)
        except BaseException:
            ws._stop_reading()
            raise
        code, reason = _closing_for(error, ws)
        if code == _FAULT and _is_of_closed(error):
            failure = HandlerError(describe(function), f"used another connection: {error}")
            failure.__cause__ = error
    await ws._end(code, reason)
    return failure


def _awaitable(result: Any, function: object) -> Any:
    """Returns the result of a handler, if it can be awaited."""
    if not is_awaitable(result):
        problem = f"returned {type(result).__name__}: write `async def` for a handler (c, ws)"
        if hasattr(result, "__aiter__"):
            problem = "is a generator: send messages with ws.send() in place of `yield`"
        raise HandlerError(describe(function), problem)
    return result


def _check_result(result: Any, function: object) -> None:
    """Rejects a response, which a handler may have meant as a refusal."""
    if isinstance(result, Response):
        problem = (
            "returned a Response, but the connection was accepted before: refuse a handshake in "
            "middleware, such as use=[...] of the route, and end a connection with ws.close()"
        )
        raise HandlerError(describe(function), problem)


async def close_after(error: Exception, ws: WebSocket) -> None:
    """Closes a connection whose handler raised, before the handler cleans up."""
    code, reason = _closing_for(error, ws)
    ws._logged = error
    await ws.close(code, reason)


def _closing_for(error: Exception, ws: WebSocket) -> tuple[int, str]:
    """Returns the code and reason for an exception; logs a fault."""
    logged, ws._logged = ws._logged, None  # the exception refers to `ws`
    if logged is error:
        return ws.close_code or _NORMAL, ""  # close_after() has closed the connection
    if ws.close_code is not None and _is_of_closed(error):
        return _NORMAL, ""  # not sent
    code, reason = _code_and_reason(error)
    if code == _FAULT:
        shown = ascii(ws._request.path)[1:-1]
        _logger.error("Exception in the WebSocket handler of %s", shown, exc_info=error)
    return code, reason


def _code_and_reason(error: Exception) -> tuple[int, str]:
    first, *others = leaves(error)
    leaf = error if others else first
    if isinstance(leaf, InvalidMessageError):
        return _INVALID_DATA, _cut(leaf.problem)
    if isinstance(leaf, HTTPException) and leaf.status < _FIRST_FAULT_STATUS:
        return _POLICY, _cut(leaf.message or "")
    return _FAULT, "Internal Server Error"


def _is_of_closed(error: Exception) -> bool:
    return all(isinstance(leaf, WebSocketDisconnectedError) for leaf in leaves(error))


def _cut(reason: str) -> str:
    """Cuts text to the length that a close frame allows."""
    return reason.encode("utf-8", "replace")[:_MOST_REASON_BYTES].decode("utf-8", "ignore")
