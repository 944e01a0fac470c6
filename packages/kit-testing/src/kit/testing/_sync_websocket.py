# SPDX-License-Identifier: MIT
"""WebSocket connections of the synchronous test client."""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from kit.interface.websocket import ReadyState, WebSocketDisconnectedError
from kit.testing._errors import WebSocketRefusedError
from kit.testing._loop import SyncCaller, Worker
from kit.testing._sync_response import SyncResponse
from kit.testing._websocket import TIMEOUT_S, TestWebSocket

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")


class SyncTestWebSocket:
    """The client's end of a WebSocket connection; `with client.chat.ws() as ws:` opens it.

    Methods are those of `TestWebSocket`, without `await`. `for message in ws` ends when the app
    closes the connection.
    """

    def __init__(self, caller: SyncCaller, connection: TestWebSocket) -> None:
        self._caller = caller
        self._connection = connection
        self._worker: Worker | None = None

    @property
    def response(self) -> SyncResponse:
        """The response with which the app accepted: its headers and cookies, and the status 101."""
        return SyncResponse(self._caller, self._connection.response, b"", None)

    @property
    def protocol(self) -> str:
        """The subprotocol that the app has chosen; empty if none."""
        return self._connection.protocol

    @property
    def ready_state(self) -> ReadyState:
        """Where the connection stands."""
        return self._connection.ready_state

    @property
    def close_code(self) -> int | None:
        """The close code of either end; None while the connection is open."""
        return self._connection.close_code

    @property
    def close_reason(self) -> str:
        """What the closing end said; may be empty."""
        return self._connection.close_reason

    def send(self, data: str | bytes, /) -> None:
        """Sends a message to the app: str as text, bytes as binary.

        Raises:
            TypeError: If it is neither.
            WebSocketDisconnectedError: If the connection is closed.
        """
        self._run(self._connection.send, data)

    def send_json(self, data: Any, /) -> None:
        """Sends a value as JSON in a text message.

        Raises:
            TypeError: If the value can't be encoded.
            WebSocketDisconnectedError: If the connection is closed.
        """
        self._run(self._connection.send_json, data)

    def receive(self, *, timeout_s: float = TIMEOUT_S) -> str | bytes:
        """Waits for the next message of the app.

        Args:
            timeout_s: How long to wait, in seconds.

        Raises:
            WebSocketDisconnectedError: If the app has closed the connection; it has the code.
            TimeoutError: If no message comes.
        """
        data: str | bytes = self._run(partial(self._connection.receive, timeout_s=timeout_s))
        return data

    @overload
    def receive_json(self, *, timeout_s: float = ...) -> Any: ...
    @overload
    def receive_json(self, *, type: TypeForm[T], timeout_s: float = ...) -> T: ...
    def receive_json(self, *, type: Any = Any, timeout_s: float = TIMEOUT_S) -> Any:
        """Waits for the next message and reads it as JSON.

        Args:
            type: What to make of it, a type that msgspec knows. Default: plain values.
            timeout_s: How long to wait, in seconds.

        Raises:
            InvalidMessageError: If it is no JSON, or doesn't fit `type`.
            WebSocketDisconnectedError: If the app has closed the connection.
            TimeoutError: If no message comes.
        """
        receive = self._connection.receive_json
        return self._run(partial(receive, type=type, timeout_s=timeout_s))

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Closes the connection. Does nothing if it is closed.

        Args:
            code: The close code.
            reason: Why; at most 123 bytes of UTF-8.

        Raises:
            ValueError: If the code or the reason may not be sent.
        """
        self._run(self._connection.close, code, reason)

    def break_off(self) -> None:
        """Ends the connection without closing it, as when the network fails; the code is 1006."""

        async def break_off() -> None:
            self._connection.break_off()

        self._run(break_off)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str | bytes:
        try:
            return self.receive()
        except WebSocketDisconnectedError:
            raise StopIteration from None

    def __enter__(self) -> Self:
        worker = Worker(self._caller.running_portal())
        try:
            worker.run(self._connection.__aenter__)
        except BaseException as error:
            worker.end()
            if isinstance(error, WebSocketRefusedError):
                response = SyncResponse(self._caller, error.response, error.body, None)
                raise WebSocketRefusedError(response, error.body) from None
            raise
        self._worker = worker
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        worker, self._worker = self._worker, None
        assert worker is not None  # noqa: S101 - made on entering
        try:
            if not worker.interrupted:
                worker.run(self._connection.__aexit__, kind, error, traceback)
        finally:
            worker.end()

    def _run(self, function: Any, *args: Any) -> Any:
        if self._worker is None:
            raise RuntimeError("The connection is not open: use `with client.path.ws() as ws:`")
        return self._worker.run(function, *args)
