# SPDX-License-Identifier: MIT
"""The types of WebSocket handlers, and the rules for closing a connection.

SPEC: RFC 6455; the names are those of the WHATWG WebSockets standard in snake_case.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from enum import IntEnum
from typing import Any, Protocol, TypeAlias, TypedDict, TypeVar, overload

from ._errors import KitError

__all__ = (
    "CloseEvent",
    "ErrorEvent",
    "MessageEvent",
    "OnClose",
    "OnError",
    "OnMessage",
    "OnOpen",
    "OpenEvent",
    "ReadyState",
    "WSEvents",
    "WebSocket",
    "WebSocketDisconnectedError",
    "check_close",
)

T = TypeVar("T")

_MOST_REASON_BYTES = 123


class ReadyState(IntEnum):
    """The state of a connection (WHATWG WebSockets, section 3.1)."""

    CONNECTING = 0
    OPEN = 1
    CLOSING = 2
    CLOSED = 3


class WebSocket(Protocol):
    """An accepted connection; its methods raise WebSocketDisconnectedError once it is closed.

    `async for message in ws` yields each message, str or bytes, and ends when the connection is
    closed.
    """

    @property
    def url(self) -> str:
        """Absolute URL of the handshake; its scheme is `ws` or `wss`."""

    @property
    def protocol(self) -> str:
        """The negotiated subprotocol; empty if there is none."""

    @property
    def ready_state(self) -> ReadyState:
        """The state of the connection."""

    async def send(self, data: str | bytes, /) -> None:
        """Sends a message: str as text, bytes as binary."""

    async def send_json(self, data: Any, /) -> None:
        """Sends a value as JSON in a text message; raises TypeError if it cannot be encoded."""

    async def receive(self) -> str | bytes:
        """Waits for the next message."""

    @overload
    async def receive_json(self) -> Any: ...
    @overload
    async def receive_json(self, *, type: type[T]) -> T: ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection; raises ValueError if `check_close` does."""

    def __aiter__(self) -> AsyncIterator[str | bytes]: ...


class OpenEvent(Protocol):
    """The connection was accepted."""

    @property
    def type(self) -> str:
        """`open`."""


class MessageEvent(Protocol):
    """A message was received."""

    @property
    def type(self) -> str:
        """`message`."""

    @property
    def data(self) -> str | bytes:
        """The message."""


class CloseEvent(Protocol):
    """The connection was closed (WHATWG WebSockets, section 6)."""

    @property
    def type(self) -> str:
        """`close`."""

    @property
    def code(self) -> int:
        """The close code; 1005 if none was sent, 1006 if the connection was lost."""

    @property
    def reason(self) -> str:
        """The reason given by the closing end; may be empty."""

    @property
    def was_clean(self) -> bool:
        """Whether both ends closed it properly."""


class ErrorEvent(Protocol):
    """A function of `WSEvents` raised."""

    @property
    def type(self) -> str:
        """`error`."""

    @property
    def error(self) -> Exception:
        """The exception."""


# The second argument is a WebSocket, annotated as whatever class it is; see `AnyContext`.
OnOpen: TypeAlias = Callable[[OpenEvent, Any], Awaitable[None] | None]
"""Called once the connection is accepted: `def on_open(event, ws)`, plain or async."""

OnMessage: TypeAlias = Callable[[MessageEvent, Any], Awaitable[None] | None]
"""Called for each message: `def on_message(event, ws)`, plain or async."""

OnClose: TypeAlias = Callable[[CloseEvent, Any], Awaitable[None] | None]
"""Called once the connection is closed: `def on_close(event, ws)`, plain or async."""

OnError: TypeAlias = Callable[[ErrorEvent, Any], Awaitable[None] | None]
"""Called when one of the others raised: `def on_error(event, ws)`, plain or async."""


class WSEvents(TypedDict, total=False):
    """The functions that handle a connection, e.g. `WSEvents(on_message=echo)`."""

    on_open: OnOpen
    on_message: OnMessage
    on_close: OnClose
    on_error: OnError


class WebSocketDisconnectedError(KitError):
    """The connection is closed: nothing more can be sent or received.

    Args:
        code: The close code; 1005 if none was sent, 1006 if the connection was lost.
        reason: The reason given by the closing end; may be empty.
    """

    def __init__(self, code: int = 1005, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        why = f"{self.code} {self.reason!r}" if self.reason else str(self.code)
        return f"The WebSocket connection is closed ({why})"


def check_close(code: int, reason: str = "") -> None:
    """Checks that a close code and a reason may be sent (RFC 6455, sections 5.5 and 7.4).

    Args:
        code: 1000 to 1003 or 1007 to 1014 from the IANA registry, 3000 to 3999 for libraries, or
            4000 to 4999 for applications. 1005, 1006 and 1015 stand for closings without a code.
        reason: At most 123 bytes of UTF-8.

    Raises:
        ValueError: If one of them may not be sent.
    """
    if (
        not isinstance(code, int)
        or isinstance(code, bool)
        or not (1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999)
    ):
        raise ValueError(
            f"The close code {code!r} can't be sent: "
            "expected 1000 to 1003, 1007 to 1014, or 3000 to 4999"
        )
    try:
        size = len(reason.encode())
    except (AttributeError, UnicodeEncodeError):
        raise ValueError(
            f"The close reason {reason!r:.100} can't be sent: expected text that UTF-8 can encode"
        ) from None
    if size > _MOST_REASON_BYTES:
        raise ValueError(
            f"The close reason has {size} bytes of UTF-8: expected at most {_MOST_REASON_BYTES}"
        )
