# SPDX-License-Identifier: MIT
"""An accepted connection: sends and receives messages, and notices disconnects."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from types import BuiltinMethodType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from anyio import Event, move_on_after, sleep
from anyio.lowlevel import checkpoint

from kit.authoring.cancellation import find_fault
from kit.authoring.event_loops import running_trio
from kit.authoring.tasks import start_task
from kit.concurrency import DetachedTask, Signal
from kit.interface import KitError
from kit.interface.websocket import ReadyState, WebSocketDisconnectedError, check_close
from kit.request import KitRequest
from kit.web._json import decode, decode_as, is_malformed

from ._handshake import Message, Receive, Send

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from kit.authoring.codecs import TypeCodecs

T = TypeVar("T")

_logger = logging.getLogger("kit")

# The maximum number and size of messages that the handler hasn't received yet. Beyond these, the
# server stops reading, and the client has to wait.
_MOST_AHEAD = 16
_MOST_AHEAD_BYTES = 64 * 1024
# A handler that sends this often without receiving lets other tasks run.
_SENDS_IN_A_ROW = 32
_MOST_BYTES_PER_CHARACTER = 4  # RFC 3629, section 3
# How long close() waits for a client that doesn't read, and how long the server may then take to
# drop the client: uvicorn with websockets takes 30 seconds, and never drops it if interrupted.
_CLOSE_TIMEOUT_S = 10.0
_DROP_TIMEOUT_S = 40.0
# How long a handler may take to receive by itself, and then to notice a disconnect.
_PATIENCE_S = 1.0
# The same for a handler that may still be handling a message, or may receive the remaining ones.
_LONG_PATIENCE_S = 10.0

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

    _cancel_handler: Callable[[], object]
    _cancels_on_disconnect: bool

    def __init__(
        self,
        receive: Receive,
        send: Send,
        request: KitRequest,
        protocol: str,
        max_size: int,
        codecs: TypeCodecs,
    ) -> None:
        self._receive = receive
        self._send = send
        self._request = request
        self._protocol = protocol
        self._max_size = max_size
        self._codecs = codecs
        self._state = _OPEN
        self._has_ended = False  # whether there is nothing more to receive
        self._has_given_up = False  # whether it was closed without a close frame
        self._code: int | None = None
        self._reason = ""
        self._is_sending = False
        self._senders: deque[Event] = deque()  # tasks that wait for their turn to send
        self._sends = 0  # consecutive sends while no task receives
        self._is_receiving = False
        self._has_received = False  # whether the handler has ever received
        self._has_noticed = False  # whether the handler knows that the connection is closed
        self._timer: Any = None
        self._reader: DetachedTask | None = None  # None as long as the handler receives by itself
        self._ahead: deque[str | bytes] = deque()  # messages that the handler hasn't received yet
        self._ahead_bytes = 0
        self._changed = Signal()
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
        """Sends a message, and waits until the server has accepted it.

        Several tasks may send; messages are sent in the order of the calls. If a timeout cancels
        the call, its message may or may not have been sent.

        Args:
            data: A str is sent as a text message, bytes as a binary message.

        Raises:
            TypeError: If it is neither.
            WebSocketDisconnectedError: If the connection is closed.
        """
        if isinstance(data, str):
            message: Message = {"type": "websocket.send", "text": str(data)}
        elif isinstance(data, (bytes, bytearray, memoryview)):
            message = {"type": "websocket.send", "bytes": bytes(data)}
        else:
            raise TypeError(f"ws.send() takes str or bytes, not {type(data).__name__}")
        if self._state is not _OPEN:
            raise self._disconnected()
        if self._is_sending:
            await self._wait_for_turn()
        self._is_sending = True
        try:
            if not self._is_receiving:
                self._sends += 1
                if self._sends > 1:
                    self._start_reader()
                if self._sends % _SENDS_IN_A_ROW == 2:  # early, too, so that the reader begins
                    await checkpoint()
            if self._state is _CLOSED:
                raise self._disconnected()
            await self._send(message)
        except OSError as error:  # SPEC: ASGI, "Disconnected Client - send exception"
            self._leave(_BROKE_OFF, "")
            raise self._disconnected() from error
        finally:
            self._pass_turn()

    async def send_json(self, data: Any, /) -> None:
        """Sends a value as JSON in a text message.

        Args:
            data: The value, see `Context.json`.

        Raises:
            TypeError: If the value can't be encoded; the message names the part and its place.
            WebSocketDisconnectedError: If the connection is closed.
        """
        await self.send(self._codecs.encode_json(data).decode())

    async def receive(self) -> str | bytes:
        """Waits for the next message.

        Returns:
            A str for a text message, bytes for a binary message.

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
            if type is None:
                return decode(data)
            return decode_as(data, type, self._codecs if self._codecs.decoders else None)
        except (ValueError, RecursionError) as error:
            problem = "it is nested too deeply" if isinstance(error, RecursionError) else error
            what = "Malformed" if type is None or is_malformed(error) else "Unexpected"
            raise InvalidMessageError(f"{what} JSON in the message: {problem}") from error

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection; it receives no more messages. Does nothing if it is closed.

        Waits until previous messages are sent. If the client hasn't read them within 10 seconds,
        the connection is given up: tasks that wait for their turn to send get a
        `WebSocketDisconnectedError`, and after the handler, the server must drop the client. A task
        whose send blocks in the server keeps waiting, so cancel it.

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
        self._ahead.clear()
        self._changed.tell()
        await self._send_close()

    async def _send_close(self) -> None:
        """Sends the close frame after previous messages, unless another task has sent it."""
        with move_on_after(_CLOSE_TIMEOUT_S) as patience:
            await self._send_close_in_turn()
        if patience.cancelled_caught:
            _logger.debug("The client didn't read, so it got no close frame")
            self._state = _CLOSED
            self._has_given_up = True
            self._stop_reading()
            while self._senders:
                self._senders.popleft().set()  # the waiting tasks then raise

    async def _send_close_in_turn(self) -> None:
        if self._is_sending:
            await self._wait_for_turn()
        self._is_sending = True
        try:
            if self._state is _CLOSED:
                return
            if self._reader is not None:
                # granian doesn't send a close frame while a task receives.
                await self._reader.cancel_and_wait()
            await self._send_close_frame()
        except OSError:  # the client has left, too
            _logger.debug("The client had left before the connection was closed")
        finally:
            self._state = _CLOSED
            self._pass_turn()

    async def _send_close_frame(self) -> None:
        await self._send({"type": "websocket.close", "code": self._code, "reason": self._reason})

    async def _end(self, code: int, reason: str) -> None:
        """Closes the connection when the handler has ended, unless it is closed."""
        if self._state is _OPEN:
            await self.close(code, reason)
        elif self._state is not _CLOSED:
            # Another task is closing, or was cancelled before its turn. The server would abort the
            # connection if the app returned before the close frame.
            await self._send_close()
        if self._has_given_up:
            with move_on_after(_DROP_TIMEOUT_S):
                await self._drop()
        self._stop_reading()
        if self._reader is not None:
            await self._reader.cancel_and_wait()

    async def _drop(self) -> None:
        """Makes the server drop a client that doesn't read, if the server supports this."""
        if self._is_sending:
            await self._wait_for_turn()
        try:
            await self._send_close_frame()
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
            data = await (self._receive_data() if self._reader is None else self._take_ahead())
        finally:
            self._is_receiving = False
        if data is None:
            raise StopAsyncIteration
        if len(data) * _MOST_BYTES_PER_CHARACTER > self._max_size:
            await self._check_size(data)
        return data

    async def _take_ahead(self) -> str | bytes | None:
        """Returns the next message that the reader received, or None if there are no more."""
        while not (self._ahead or self._has_ended):
            await self._changed.wait()
        self._has_noticed = self._state is not _OPEN
        if not self._ahead:
            return None
        data = self._ahead.popleft()
        self._ahead_bytes -= len(data)
        self._changed.tell()
        return data

    async def _check_size(self, data: str | bytes) -> None:
        size = len(data.encode() if isinstance(data, str) else data)
        if size > self._max_size:
            reason = f"The message has {size} bytes, more than the {self._max_size} allowed"
            _logger.warning("A WebSocket is closed with %d. %s", _TOO_BIG, reason)
            await self.close(_TOO_BIG, reason)
            raise StopAsyncIteration

    def _disconnected(self) -> WebSocketDisconnectedError:
        self._has_noticed = True
        return WebSocketDisconnectedError(self._code or _BROKE_OFF, self._reason)

    async def _receive_data(self) -> str | bytes | None:
        """Receives the next message from the server, or returns None if there are no more."""
        if self._has_ended:
            return None
        message = await self._receive()
        data: str | bytes | None = message.get("text")
        if data is None:
            data = message.get("bytes")
        if data is None:
            self._has_ended = True
            self._leave(message.get("code"), message.get("reason"))
        return None if self._has_ended else data  # close() may have been called during the wait

    def _leave(self, code: int | None, reason: str | None) -> None:
        """Records why the client disconnected, unless the app closed the connection before."""
        if self._state is _OPEN or self._code == _BROKE_OFF:
            self._state = _CLOSED
            self._code = code or 1005
            self._reason = reason or ""

    async def _wait_for_turn(self) -> None:
        """Waits until previous senders have sent."""
        turn = Event()
        self._senders.append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn in self._senders:
                self._senders.remove(turn)
            else:
                self._pass_turn()
            raise

    def _pass_turn(self) -> None:
        if self._senders:
            self._senders.popleft().set()
        else:
            self._is_sending = False

    # A handler that doesn't receive wouldn't notice a disconnect. Another task therefore receives
    # for it, up to a limit: the client should wait if the handler can't keep up.

    def _start(self, cancel: Callable[[], object], cancel_on_disconnect: bool) -> None:
        """Makes the handler notice a disconnect.

        Args:
            cancel: Cancels the handler.
            cancel_on_disconnect: Whether to cancel it at once, even if it has noticed.
        """
        self._cancel_handler = cancel
        self._cancels_on_disconnect = cancel_on_disconnect
        # A server that isn't written in Python, such as granian, loses messages if its `receive` is
        # cancelled, e.g. by a timeout, and doesn't wake it when the app closes the connection.
        is_native = self._receive.__class__ is BuiltinMethodType
        if cancel_on_disconnect or is_native or running_trio() is not None:
            self._start_reader()
        else:
            # A handler that receives by itself is faster.
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(_PATIENCE_S, start_task, self._receive_for_handler)

    async def _receive_for_handler(self) -> None:
        if not self._has_received:
            self._start_reader()

    def _start_reader(self) -> None:
        if self._reader is None and not self._has_ended:
            self._reader = DetachedTask(self._read)

    async def _read(self) -> None:
        try:
            while (data := await self._receive_data()) is not None:
                self._ahead.append(data)
                self._ahead_bytes += len(data)
                self._changed.tell()
                while len(self._ahead) >= _MOST_AHEAD or self._ahead_bytes >= _MOST_AHEAD_BYTES:
                    await self._changed.wait()
        except BaseException as raised:
            failure = find_fault(raised)
            _logger.debug("The server failed to receive", exc_info=failure)
            self._has_ended = True
            self._leave(_BROKE_OFF, "")
        self._changed.tell()
        patience_s = self._patience_s()
        if patience_s is not None:
            await sleep(patience_s)
            if self._cancels_on_disconnect or not self._has_noticed:
                self._cancel_handler()

    def _patience_s(self) -> float | None:
        """Returns how long the handler may take to notice a disconnect that happens now.

        None if the handler notices at once, handles a message, or is closing the connection.
        """
        if self._state is ReadyState.CLOSING:
            return None
        if self._cancels_on_disconnect:
            return 0.0
        if self._is_receiving or self._has_noticed:
            return None
        if self._has_received:
            return _LONG_PATIENCE_S if self._sends > 1 else None
        return _LONG_PATIENCE_S if self._ahead else _PATIENCE_S

    def _stop_reading(self) -> None:
        """Stops the reader that `_start` started, without waiting for it."""
        if self._timer is not None:
            self._timer.cancel()
        if self._reader is not None:
            self._reader.cancel()
