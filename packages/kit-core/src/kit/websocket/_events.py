# SPDX-License-Identifier: MIT
"""Runs a connection with functions that are called for its events, as in Hono."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from anyio import CancelScope
from msgspec import Struct

from kit.authoring.cancellation import find_fault
from kit.authoring.maybe_await import call
from kit.authoring.signatures import describe
from kit.interface import HandlerError
from kit.interface.websocket import WebSocketDisconnectedError, WSEvents

from ._conversation import close_after
from ._socket import WebSocket

_NAMES = tuple(WSEvents.__annotations__)
_BROKE_OFF = 1006  # RFC 6455, section 7.1.5


# These implement the protocols of kit.interface.websocket.


class Open(Struct, frozen=True):
    """The connection was accepted."""

    type: ClassVar[str] = "open"


class Message(Struct, frozen=True):
    """A message arrived."""

    type: ClassVar[str] = "message"
    data: str | bytes


class Closed(Struct, frozen=True):
    """The connection was closed (WHATWG WebSockets, section 6)."""

    type: ClassVar[str] = "close"
    code: int
    reason: str
    was_clean: bool


class Raised(Struct, frozen=True):
    """A function of `WSEvents` raised an exception."""

    type: ClassVar[str] = "error"
    error: Exception


def check_events(events: Any, function: Any) -> WSEvents:
    """Checks that a function returned the functions of a connection."""
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
    return events  # type: ignore[return-value]  # checked above


async def run_events(events: WSEvents, ws: WebSocket) -> None:
    """Calls the functions of a connection until it is closed, one after another.

    If there is an `on_error`, it gets exceptions, and the connection continues; otherwise, an
    exception ends the connection. `on_close` is always called, shielded from cancellation.
    """
    try:
        await _call(events, "on_open", Open(), ws)
        async for data in ws:
            await _call(events, "on_message", Message(data), ws)
    except Exception as error:
        await close_after(error, ws)
        raise
    finally:
        if events.get("on_close") is not None:
            code = ws.close_code or _BROKE_OFF
            closed = Closed(code, ws.close_reason, code != _BROKE_OFF)
            with CancelScope(shield=True):  # it may wait, even if the others were cancelled
                await _call(events, "on_close", closed, ws)


async def _call(events: Any, name: str, event: Any, ws: WebSocket) -> None:
    function = events.get(name)
    if function is None:
        return
    try:
        await call(function, event, ws)
    except BaseException as raised:
        error = find_fault(raised)
        if isinstance(error, WebSocketDisconnectedError) and ws.close_code is not None:
            return  # this client has disconnected; otherwise, another connection raised the error
        on_error = events.get("on_error")
        if on_error is None:
            raise error  # noqa: B904 - the error has its own cause
        await call(on_error, Raised(error), ws)
