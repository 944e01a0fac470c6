# SPDX-License-Identifier: MIT
"""An accepted connection: sends and receives messages, and notices that the client has left."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from kit._support.json import decode, decode_as, encode, is_malformed
from kit.interface import KitError
from kit.interface.websocket import ReadyState, WebSocketDisconnectedError, check_close
from kit.request import KitRequest

from ._departures import Departure, LookedAfter
from ._handshake import Message, Receive, Send

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")

_logger = logging.getLogger("kit")

# The maximum size of messages that the handler hasn't received yet. Beyond it, the server stops
# reading, and the client has to wait.
_MOST_AHEAD = 16
_MOST_AHEAD_BYTES = 64 * 1024
# A handler that sends this often without receiving lets other tasks run.
_SENDS_IN_A_ROW = 32
_MOST_BYTES_PER_CHARACTER = 4  # RFC 3629, section 3
# How long close() waits for a client that doesn't read, and how long the server may then take to
# drop it: uvicorn with websockets takes 30 seconds, and never does if it is interrupted.
_CLOSE_TIMEOUT_S = 10.0
_DROP_TIMEOUT_S = 40.0

_OPEN = ReadyState.OPEN
_CLOSED = ReadyState.CLOSED
_BROKE_OFF = 1006  # RFC 6455, section 7.1.5
_TOO_BIG = 1009  # section 7.4.1


class InvalidMessageError(KitError, ValueError):
    """A message isn't JSON, or not of the expected type.

    If the handler doesn't catch it, the connection is closed with 1007 (RFC 6455, section 7.4.1).

    Args:
        problem: What is wrong with the message; sent to the client as the reason.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem


class WebSocket:
    """An accepted connection, which handlers get as `ws`.

    `async for message in ws` yields each message, a str or bytes, and ends when the connection is
    closed. Any number of tasks may send; one may receive at a time.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        request: KitRequest,
        protocol: str,
        max_size: int,
    ) -> None:
        self._receive = receive
        self._send = send
        self._request = request
        self._protocol = protocol
        self._max_size = max_size
        # PERF: a text of no more is short enough, whatever they are.
        self._few_characters = max_size // _MOST_BYTES_PER_CHARACTER
        self._state = _OPEN
        self._has_ended = False  # whether there is nothing more to receive
        self._has_given_up = False  # whether it was closed without a close frame
        self._code: int | None = None
        self._reason = ""
        self._is_receiving = False
        self._has_received = False  # whether the handler ever has
        self._was_told = False  # whether the handler was told that the connection is closed
        self._is_sending = False
        self._senders: deque[Any] | None = None  # tasks that wait to send
        self._sends = 0  # in a row, while no task receives
        self._ahead: deque[Message] | None = None  # messages that the handler hasn't received yet
        self._ahead_bytes = 0
        self._messages_ahead = 0  # that were ever received ahead
        self._watcher: Any = None  # the task that receives them
        self._changed: Any = None
        self._is_wanted = False
        self._always_watches = False
        self._on_left: Callable[[], object] | None = None
        self._logged: Exception | None = None

    @property
    def url(self) -> str:
        """Absolute URL of the handshake; its scheme is `ws` or `wss`."""
        return "ws" + self._request.url.removeprefix("http")

    @property
    def protocol(self) -> str:
        """The subprotocol that was negotiated; empty if there is none."""
        return self._protocol

    @property
    def ready_state(self) -> ReadyState:
        """The state of the connection."""
        return self._state

    @property
    def close_code(self) -> int | None:
        """The close code: 1005 if none was sent, 1006 if the connection broke off.

        None while the connection is open.
        """
        return self._code

    @property
    def close_reason(self) -> str:
        """The reason given by the closing end; may be empty."""
        return self._reason

    async def send(self, data: str | bytes, /) -> None:
        """Sends a message, and waits until the server has taken it.

        Several tasks may send; messages are sent in the order of the calls. If a timeout cancels
        the call, its message may have been sent or not.

        Args:
            data: str is sent as a text message, bytes as a binary one.

        Raises:
            TypeError: If it is neither.
            WebSocketDisconnectedError: If the connection is closed.
        """
        if data.__class__ is str:
            message: Message = {"type": "websocket.send", "text": data}
        elif data.__class__ is bytes:
            message = {"type": "websocket.send", "bytes": data}
        else:
            message = _message_of(data)
        if self._state is not _OPEN:
            raise self._disconnected()
        if self._is_sending:
            await self._take_turn()
        else:
            self._is_sending = True
        try:
            if not self._is_receiving:
                self._sends += 1
                if self._sends > 1:
                    await self._look_out()
            if self._state is _CLOSED:
                raise self._disconnected()
            await self._send(message)
        except OSError as error:  # SPEC: ASGI, "Disconnected Client - send exception"
            self._leave(_BROKE_OFF, "")
            raise self._disconnected() from error
        finally:
            if self._senders:
                self._senders.popleft().set()
            else:
                self._is_sending = False

    async def send_json(self, data: Any, /) -> None:
        """Sends a value as JSON in a text message.

        Args:
            data: The value, see `Context.json`.

        Raises:
            TypeError: If the value can't be encoded; the message says what and where.
            WebSocketDisconnectedError: If the connection is closed.
        """
        await self.send(encode(data).decode())

    async def receive(self) -> str | bytes:
        """Waits for the next message.

        Returns:
            A str for a text message, bytes for a binary one.

        Raises:
            WebSocketDisconnectedError: If the connection is closed.
            RuntimeError: If another task is receiving.
        """
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise self._disconnected() from None

    @overload
    async def receive_json(self) -> Any: ...
    @overload
    async def receive_json(self, *, type: TypeForm[T]) -> T: ...
    async def receive_json(self, *, type: Any = None) -> Any:
        """Waits for the next message, text or binary, and decodes it as JSON.

        Args:
            type: The type to decode into: a dataclass, msgspec Struct, TypedDict, any type that
                msgspec supports, or a pydantic model. Default: dicts, lists and plain values.

        Raises:
            InvalidMessageError: If it isn't JSON, or doesn't match `type`. The connection stays
                open.
            WebSocketDisconnectedError: If the connection is closed.
            RuntimeError: If another task is receiving.
        """
        message = await self.receive()
        data = message.encode() if isinstance(message, str) else message
        try:
            return decode(data) if type is None else decode_as(data, type)
        except (ValueError, RecursionError) as error:
            problem = "it is nested too deeply" if isinstance(error, RecursionError) else error
            what = "Malformed" if type is None or is_malformed(error) else "Unexpected"
            raise InvalidMessageError(f"{what} JSON in the message: {problem}") from error

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection; it receives no more messages. Does nothing if it is closed.

        Waits until the messages before are sent. If the client hasn't read them within 10 seconds,
        the connection is given up: tasks that wait for their turn to send get a
        `WebSocketDisconnectedError`, and after the handler it is up to the server to drop the
        client. A task that the server keeps waiting goes on waiting: cancel it.

        Args:
            code: The close code: 1000 to 1003, 1007 to 1014, or 3000 to 4999.
            reason: A reason for people; at most 123 bytes of UTF-8.

        Raises:
            ValueError: If the code or the reason can't be sent.
        """
        check_close(code, reason)
        if self._state is not _OPEN:
            return
        self._state = ReadyState.CLOSING
        self._code = code
        self._reason = reason
        self._has_ended = True
        self._ahead = None
        if self._changed is not None:
            self._changed.tell()
        await self._send_close()

    async def _send_close(self) -> None:
        """Sends the close frame after the messages before it, unless another task has sent it."""
        from anyio import move_on_after

        with move_on_after(_CLOSE_TIMEOUT_S) as patience:
            await self._send_close_in_turn()
        if patience.cancelled_caught:
            self._give_up()

    async def _send_close_in_turn(self) -> None:
        if self._is_sending:
            await self._take_turn()
        self._is_sending = True
        try:
            if self._state is _CLOSED:
                return
            if self._watcher is not None:
                # granian doesn't send a close frame while a task receives.
                await self._watcher.cancel_and_wait()
            await self._send(
                {"type": "websocket.close", "code": self._code, "reason": self._reason}
            )
        except OSError:  # the client has left, too
            _logger.debug("The client had left before the connection was closed")
        finally:
            self._state = _CLOSED
            if self._senders:
                self._senders.popleft().set()
            else:
                self._is_sending = False

    def _give_up(self) -> None:
        """Closes a connection whose client doesn't read, without a close frame."""
        _logger.debug("The client didn't read, so it got no close frame")
        self._state = _CLOSED
        self._has_given_up = True
        abandon(self)
        while self._senders:
            self._senders.popleft().set()  # they raise

    async def _end(self, code: int, reason: str) -> None:
        """Closes the connection when the handler has ended, unless it is closed."""
        if self._state is _OPEN:
            await self.close(code, reason)
        elif self._state is not _CLOSED:
            # Another task is closing, or was cancelled before its turn. The server would break off
            # the connection if the app returned before the close frame.
            await self._send_close()
        if self._has_given_up:
            from anyio import move_on_after

            with move_on_after(_DROP_TIMEOUT_S):
                await self._drop()

    async def _drop(self) -> None:
        """Lets the server drop a client that doesn't read, as far as it does so."""
        if self._is_sending:
            await self._take_turn()
        try:
            await self._send(
                {"type": "websocket.close", "code": self._code, "reason": self._reason}
            )
        except Exception as error:  # the client has left, or the server has taken the first frame
            _logger.debug("The server refused a close frame: %r", error)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str | bytes:
        if self._is_receiving:
            raise RuntimeError(
                "Two tasks receive from the same WebSocket, so each would get only some of the "
                "messages: receive in one task, and pass messages on from there"
            )
        self._is_receiving = True
        self._has_received = True
        self._sends = 0
        try:
            if self._has_ended:
                raise StopAsyncIteration
            if self._ahead is None:
                message = await self._receive()
            else:
                message = await self._receive_ahead()
            if self._has_ended:  # close() was called meanwhile
                raise StopAsyncIteration
        finally:
            self._is_receiving = False
        data: str | bytes | None = message.get("text")
        if data is None:
            data = message.get("bytes")
            if data is None:
                self._has_ended = True
                self._leave(message.get("code"), message.get("reason"))
                raise StopAsyncIteration
        if len(data) > self._few_characters:
            await self._check_size(data)
        return data

    async def _check_size(self, data: str | bytes) -> None:
        size = len(data.encode() if isinstance(data, str) else data)
        if size > self._max_size:
            reason = f"The message has {size} bytes, more than the {self._max_size} allowed"
            _logger.warning("A WebSocket is closed with %d. %s", _TOO_BIG, reason)
            await self.close(_TOO_BIG, reason)
            raise StopAsyncIteration

    def _disconnected(self) -> WebSocketDisconnectedError:
        self._was_told = True
        return WebSocketDisconnectedError(self._code or _BROKE_OFF, self._reason)

    def _leave(self, code: int | None, reason: str | None) -> None:
        """Notes that the client has left, and why, once that is known."""
        if self._state is _OPEN or self._code == _BROKE_OFF:
            self._code = code or 1005
            self._reason = reason or ""
        if self._state is _OPEN:
            self._state = _CLOSED
            if self._on_left is not None:
                self._on_left()

    async def _take_turn(self) -> None:
        """Waits until the tasks that sent before have sent."""
        from anyio import Event

        if self._senders is None:
            self._senders = deque()
        turn = Event()
        self._senders.append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn in self._senders:
                self._senders.remove(turn)
            elif self._senders:
                self._senders.popleft().set()
            else:
                self._is_sending = False
            raise

    # A handler that doesn't receive wouldn't notice that the client has left. So another task
    # receives for it, up to a limit: the client should wait if the handler can't keep up.

    async def _look_out(self) -> None:
        """Starts a task that receives while the handler only sends."""
        if self._watcher is None:
            self._watch()
        if self._sends % _SENDS_IN_A_ROW == 2:  # also after the first, so that the task begins
            from anyio.lowlevel import checkpoint

            await checkpoint()

    def _watch(self) -> None:
        if self._has_ended or self._state is not _OPEN:
            return
        from kit.concurrency import DetachedTask, Signal

        if self._changed is None:
            self._changed = Signal()
        if self._ahead is None:
            self._ahead = deque()
        self._watcher = DetachedTask(self._receive_for_others, on_end=self._end_watch)

    def _end_watch(self) -> None:
        watcher, self._watcher = self._watcher, None
        failure = watcher.failure
        if failure is not None:
            _logger.debug("The server failed to receive", exc_info=failure)
            self._add_ahead({"type": "websocket.disconnect", "code": _BROKE_OFF})
        self._changed.tell()

    async def _receive_for_others(self) -> None:
        while True:
            message = await self._receive()
            is_wanted = self._is_wanted
            self._add_ahead(message)
            # A task that receives goes on by itself, which is faster.
            if self._state is not _OPEN or (is_wanted and not self._always_watches):
                return
            while self._is_full():
                await self._changed.wait()

    def _add_ahead(self, message: Message) -> None:
        if message["type"] == "websocket.disconnect":
            self._leave(message.get("code"), message.get("reason"))
        else:
            self._messages_ahead += 1
        if self._ahead is not None:
            self._ahead.append(message)
            self._ahead_bytes += _size_of(message)
            self._changed.tell()

    def _is_full(self) -> bool:
        ahead = self._ahead
        return ahead is not None and (
            len(ahead) >= _MOST_AHEAD or self._ahead_bytes >= _MOST_AHEAD_BYTES
        )

    async def _receive_ahead(self) -> Message:
        """Returns the first message that was received ahead, or waits for one."""
        while self._ahead is not None and not self._ahead:
            if self._watcher is None:
                self._ahead = None
                return await self._receive()
            self._is_wanted = True
            try:
                await self._changed.wait()
            finally:
                self._is_wanted = False
        if self._ahead is None:  # closed meanwhile
            return {"type": "websocket.disconnect"}
        message = self._ahead.popleft()
        self._ahead_bytes -= _size_of(message)
        self._changed.tell()
        return message


def websocket_of(
    receive: Receive, send: Send, request: KitRequest, protocol: str, max_size: int
) -> WebSocket:
    """Returns the connection that a handshake has opened."""
    ws = WebSocket(receive, send, request, protocol, max_size)
    if receive.__class__ is BuiltinMethodType:
        # The server is not written in Python, as granian: it loses messages if its `receive` is
        # cancelled, e.g. by a timeout, and doesn't wake it when the connection is closed here.
        ws._always_watches = True
        ws._watch()
    return ws


def watch_always(ws: WebSocket, on_left: Callable[[], object]) -> None:
    """Starts a task that always receives, and calls a function when the client leaves."""
    ws._on_left = on_left
    if not ws._always_watches:
        ws._always_watches = True
        ws._watch()


def look_after(ws: WebSocket) -> LookedAfter:
    """Returns a context manager for the handler, which ends if the client leaves it unnoticed."""
    return LookedAfter(partial(_departure_of, ws))


def _departure_of(ws: WebSocket) -> Departure | None:
    """Returns what a handler knows of its client's departure; None as long as that hasn't left.

    If nobody receives, this starts the task that does.
    """
    if ws._state is _OPEN:
        if ws._watcher is None and not ws._is_receiving:
            ws._watch()
        return None
    if ws._state is not _CLOSED or ws._is_receiving or ws._was_told or ws._has_ended:
        return "noticed"
    if not ws._has_received:
        return "unnoticed, with messages left" if ws._messages_ahead else "unnoticed"
    return "unnoticed, while sending" if ws._sends > 1 else "noticed"


def left(ws: WebSocket) -> WebSocketDisconnectedError:
    """Returns the error for a handler that was ended because the client has left."""
    return ws._disconnected()


def abandon(ws: WebSocket) -> None:
    """Ends the task that receives, without waiting for it; the connection is over."""
    if ws._watcher is not None:
        ws._watcher.cancel()


def path_of(ws: WebSocket) -> str:
    """Returns the path of the handshake."""
    return ws._request.path


def note_logged(ws: WebSocket, error: Exception) -> None:
    """Notes that an exception of the handler was already logged."""
    ws._logged = error


def forget_logged(ws: WebSocket) -> Exception | None:
    """Returns the exception that `note_logged` noted, and drops it, since it refers to `ws`."""
    error, ws._logged = ws._logged, None
    return error


def end(ws: WebSocket, code: int, reason: str) -> Awaitable[None] | None:
    """Returns what ends the connection; None if nothing is left to do.

    Args:
        ws: The connection.
        code: The close code, unless it is closed.
        reason: The reason, at most 123 bytes of UTF-8.
    """
    if ws._state is _CLOSED and not ws._has_given_up:
        return None if ws._watcher is None else ws._watcher.cancel_and_wait()
    return ws._end(code, reason)


def _size_of(message: Message) -> int:
    """Returns about how much memory a message takes."""
    return len(message.get("text") or message.get("bytes") or b"")


def _message_of(data: Any) -> Message:
    if isinstance(data, str):
        return {"type": "websocket.send", "text": str(data)}
    if isinstance(data, (bytes, bytearray, memoryview)):
        return {"type": "websocket.send", "bytes": bytes(data)}
    raise TypeError(f"ws.send() takes str or bytes, not {type(data).__name__}")
