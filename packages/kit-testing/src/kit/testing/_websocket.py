# SPDX-License-Identifier: MIT
"""WebSocket connections of the test client, in process."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload
from urllib.parse import unquote

from kit.concurrency import DetachedTask, Signal
from kit.interface.websocket import ReadyState, WebSocketDisconnectedError, check_close
from kit.testing._errors import WebSocketRefusedError
from kit.testing._execution import ExecutionContext
from kit.testing._inputs import Call, encode
from kit.web import Response
from kit.websocket import Handshake, InvalidMessageError

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from kit.testing._caller import Caller

T = TypeVar("T")

_Message = dict[str, Any]

# Messages that one end may send before the other takes them, as those in the buffers of a system.
_MOST_MESSAGES = 1000
# Seconds that a handler has to end after the client has closed, before it is cancelled.
_GRACE_S = 5.0
# Seconds that `receive` waits.
TIMEOUT_S = 5.0
_NO_CODE = 1005  # RFC 6455, section 7.1.5


class TestWebSocket:
    """The client's end of a WebSocket connection; `async with client.chat.ws() as ws:` opens it.

    Leaving the block closes the connection, waits for the handler to end, and cancels a handler
    that does not. `async for message in ws` ends when the app closes the connection.
    """

    __test__ = False  # keeps pytest from collecting it

    def __init__(self, caller: Caller, call: Call, protocols: list[str]) -> None:
        self._caller = caller
        self._call = call
        self._offered = protocols
        self._changed = Signal()
        self._to_app: list[_Message] = []
        self._to_client: list[_Message] = []
        self._accepted: _Message | None = None
        self._response: Response | None = None
        self._body = b""
        self._close: tuple[int, str] | None = None
        self._is_told = False
        self._failure: BaseException | None = None
        self._task: DetachedTask | None = None

    @property
    def response(self) -> Response:
        """The response with which the app accepted: its headers and cookies, and the status 101."""
        if self._response is None:
            raise RuntimeError("The connection is not open: use `async with client.path.ws()`")
        return self._response

    @property
    def protocol(self) -> str:
        """The subprotocol that the app has chosen; empty if none."""
        return (self._accepted or {}).get("subprotocol") or ""

    @property
    def ready_state(self) -> ReadyState:
        """Where the connection stands."""
        if self._accepted is None:
            return ReadyState.CONNECTING
        return ReadyState.OPEN if self._close is None else ReadyState.CLOSED

    @property
    def close_code(self) -> int | None:
        """The close code of either end; None while the connection is open."""
        return None if self._close is None else self._close[0]

    @property
    def close_reason(self) -> str:
        """What the closing end said; may be empty."""
        return "" if self._close is None else self._close[1]

    async def send(self, data: str | bytes, /) -> None:
        """Sends a message to the app: str as text, bytes as binary.

        Raises:
            TypeError: If it is neither.
            WebSocketDisconnectedError: If the connection is closed.
        """
        if not isinstance(data, (str, bytes)):
            raise TypeError(f"ws.send() takes str or bytes, not {type(data).__name__}")
        while len(self._to_app) >= _MOST_MESSAGES and self._close is None:
            await self._changed.wait()
        self._check_open()
        kind = "text" if isinstance(data, str) else "bytes"
        self._to_app.append({"type": "websocket.receive", kind: data})
        self._changed.tell()

    async def send_json(self, data: Any, /) -> None:
        """Sends a value as JSON in a text message.

        Raises:
            TypeError: If the value can't be encoded.
            WebSocketDisconnectedError: If the connection is closed.
        """
        await self.send(encode(data).decode())

    async def receive(self, *, timeout_s: float = TIMEOUT_S) -> str | bytes:
        """Waits for the next message of the app.

        Args:
            timeout_s: How long to wait, in seconds.

        Raises:
            WebSocketDisconnectedError: If the app has closed the connection; it has the code.
            TimeoutError: If no message comes.
        """
        from anyio import move_on_after

        with move_on_after(timeout_s):
            return await self._receive()
        raise TimeoutError(f"The app sent no message within {timeout_s:g} s")

    @overload
    async def receive_json(self, *, timeout_s: float = ...) -> Any: ...
    @overload
    async def receive_json(self, *, type: TypeForm[T], timeout_s: float = ...) -> T: ...
    async def receive_json(self, *, type: Any = Any, timeout_s: float = TIMEOUT_S) -> Any:
        """Waits for the next message and reads it as JSON.

        Args:
            type: What to make of it, a type that msgspec knows. Default: plain values.
            timeout_s: How long to wait, in seconds.

        Raises:
            InvalidMessageError: If it is no JSON, or doesn't fit `type`.
            WebSocketDisconnectedError: If the app has closed the connection.
            TimeoutError: If no message comes.
        """
        import msgspec

        from kit.authoring.models import with_defaults

        message = await self.receive(timeout_s=timeout_s)
        try:
            return with_defaults(msgspec.json.Decoder(type).decode, type)(message)
        except ValueError as error:
            raise InvalidMessageError(f"Unexpected JSON in the message: {error}") from error

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection. Does nothing if it is closed.

        Args:
            code: The close code.
            reason: Why; at most 123 bytes of UTF-8.

        Raises:
            ValueError: If the code or the reason may not be sent.
        """
        check_close(code, reason)
        self._leave(code, reason)

    def break_off(self) -> None:
        """Ends the connection without closing it, as when the network fails; the code is 1006."""
        self._leave(1006, "")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str | bytes:
        try:
            return await self.receive()
        except WebSocketDisconnectedError:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        if self._task is not None:
            raise RuntimeError("The connection was opened before: call ws() again")
        self._task = task = DetachedTask(self._live, changed=self._changed)
        try:
            while self._accepted is None and not task.over:
                await self._changed.wait()
        except BaseException:
            await task.cancel_and_wait()
            raise
        if self._accepted is None:
            raise self._failure or task.failure or self._refusal()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        from anyio import move_on_after

        task = self._task
        assert task is not None  # noqa: S101 - made on entering
        try:
            self._leave(1000, "")
            if error is None:
                with move_on_after(_GRACE_S):
                    await task.wait()
        finally:
            await task.cancel_and_wait()
        failure = self._failure or task.failure
        if failure is not None and error is None:
            raise failure

    async def _receive(self) -> str | bytes:
        while not self._to_client:
            if self._close is not None:
                raise WebSocketDisconnectedError(*self._close)
            await self._changed.wait()
        message = self._to_client.pop(0)
        self._changed.tell()
        data: str | bytes | None = message.get("text")
        return message["bytes"] if data is None else data

    def _check_open(self) -> None:
        if self._close is not None:
            raise WebSocketDisconnectedError(*self._close)

    def _leave(self, code: int, reason: str) -> None:
        if self._close is None:
            self._close = code, reason
            self._to_app.append({"type": "websocket.disconnect", "code": code, "reason": reason})
            self._changed.tell()

    def _refusal(self) -> WebSocketRefusedError:
        response = self._response
        assert response is not None  # noqa: S101 - there was no failure
        return WebSocketRefusedError(response, self._body)

    # What follows is the server, and runs in a task of its own.

    async def _live(self) -> None:
        from anyio import get_cancelled_exc_class

        try:
            await self._answer()
        except get_cancelled_exc_class():
            raise
        except BaseException as error:  # pytest.fail() raises no Exception
            self._failure = error
        finally:
            if self._close is None and self._accepted is not None:
                self._close = _NO_CODE, ""
            self._changed.tell()

    async def _answer(self) -> None:
        caller, request = self._caller, self._call.request
        caller.add_cookies(self._call)
        target, _, query = request.url.partition("://")[2].partition("?")
        path = "/" + target.partition("/")[2]
        scope = {
            "type": "websocket",
            "asgi": {"version": "3.0", "spec_version": "2.5"},
            "http_version": "1.1",
            "scheme": "wss" if request.url.startswith("https:") else "ws",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": list(request.headers.raw),
            "subprotocols": self._offered,
            "extensions": {"websocket.http.response": {}},
        }
        handshake = Handshake(scope, self._receive_for_app, self._send_for_app)
        request.scope = handshake.scope
        context = caller.context()
        try:
            response = await caller.app.fetch(request, caller.env, context)
            self._response = response
            caller.keep_cookies(request.url, response)
            if handshake.is_accepted(response):
                await handshake.converse(response)
            else:
                self._body = await response.clone().bytes()
                await handshake.end()
        except BaseException as error:
            handshake.close()
            await handshake.end(error)
            if isinstance(context, ExecutionContext):
                context.close()
            raise
        if isinstance(context, ExecutionContext):
            await context.finish()
        request.close()

    async def _receive_for_app(self) -> _Message:
        from anyio.lowlevel import checkpoint

        await checkpoint()
        while not self._to_app:
            if self._is_told:  # nothing comes after the disconnect
                from anyio import sleep_forever

                await sleep_forever()
            await self._changed.wait()
        message = self._to_app.pop(0)
        self._is_told = message["type"] == "websocket.disconnect"
        self._changed.tell()
        return message

    async def _send_for_app(self, message: _Message) -> None:
        from anyio.lowlevel import checkpoint

        await checkpoint()
        kind = message["type"]
        if kind == "websocket.accept":
            self._accepted = message
        elif kind == "websocket.send":
            while len(self._to_client) >= _MOST_MESSAGES and self._close is None:
                await self._changed.wait()
            if self._close is not None:
                raise OSError("The client has left")
            self._to_client.append(message)
        elif kind == "websocket.close" and self._close is None:
            self._close = message.get("code", 1000), message.get("reason") or ""
            left = {"type": "websocket.disconnect", "code": self._close[0], "reason": ""}
            self._to_app.append(left)
        self._changed.tell()
