# SPDX-License-Identifier: MIT
"""Runs a connection by functions that are called for its events, as in Hono."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from kit.interface import HandlerError
from kit.interface.signatures import describe
from kit.interface.websocket import WebSocketDisconnectedError, WSEvents

from ._conversation import close_after
from ._socket import WebSocket

_NAMES = tuple(WSEvents.__annotations__)
_BROKE_OFF = 1006  # RFC 6455, section 7.1.5


# These are what the protocols of kit.interface.websocket are for.


class Open(Struct, frozen=True):
    """The connection was accepted."""

    @property
    def type(self) -> str:
        """`open`."""
        return "open"


class Message(Struct, frozen=True):
    """A message came.

    Attributes:
        data: The message: str if it is text, bytes if it is binary.
    """

    data: str | bytes

    @property
    def type(self) -> str:
        """`message`."""
        return "message"


class Closed(Struct, frozen=True):
    """The connection was closed (WHATWG WebSockets, section 6).

    Attributes:
        code: The close code; 1005 if none was sent, 1006 if the connection broke off.
        reason: What the closing end said; may be empty.
        was_clean: Whether both ends closed it in order.
    """

    code: int
    reason: str
    was_clean: bool

    @property
    def type(self) -> str:
        """`close`."""
        return "close"


class Raised(Struct, frozen=True):
    """A function of `WSEvents` raised.

    Attributes:
        error: What it raised.
    """

    error: Exception

    @property
    def type(self) -> str:
        """`error`."""
        return "error"


_OPENED = Open()


def check_events(events: Any, function: Any) -> WSEvents:
    """Checks what a function returned as the functions of a connection.

    Raises:
        HandlerError: If it is no `WSEvents`; the message names the function.
    """
    if not isinstance(events, Mapping):
        raise HandlerError(
            describe(function),
            f"returned {type(events).__name__}, expected WSEvents(on_message=...)",
        )
    for name, each in events.items():
        if name not in _NAMES:
            problem = f"returned the unknown event {name!r:.100}: expected {', '.join(_NAMES)}"
            raise HandlerError(describe(function), problem)
        if each is not None and not callable(each):
            problem = f"returned {each!r:.100} as {name}, expected a function (event, ws)"
            raise HandlerError(describe(function), problem)
    return events  # type: ignore[return-value]  # as just checked


async def run_events(events: WSEvents, ws: WebSocket) -> None:
    """Calls the functions of a connection until it is closed, one after another.

    An exception is given to `on_error`, if there is one, and the connection goes on; otherwise it
    ends the connection. `on_close` is called in any case.

    Args:
        events: The functions.
        ws: The connection.

    Raises:
        Exception: What one of them raised, unless `on_error` took it.
    """
    try:
        await _call(events, "on_open", _OPENED, ws)
        async for data in ws:
            await _call(events, "on_message", Message(data), ws)
    except BaseException as error:
        if isinstance(error, Exception):
            await close_after(error, ws)
        raise
    finally:
        code = ws.close_code or _BROKE_OFF
        closed = Closed(code, ws.close_reason, code != _BROKE_OFF)
        await _call(events, "on_close", closed, ws)


async def _call(events: Any, name: str, event: Any, ws: WebSocket) -> None:
    function = events.get(name)
    if function is None:
        return
    try:
        result = function(event, ws)
        if hasattr(result, "__await__"):
            await result
    except WebSocketDisconnectedError:
        if ws.close_code is None:  # of another connection
            raise
    except Exception as error:
        on_error = events.get("on_error")
        if on_error is None:
            raise
        result = on_error(Raised(error), ws)
        if hasattr(result, "__await__"):
            await result
