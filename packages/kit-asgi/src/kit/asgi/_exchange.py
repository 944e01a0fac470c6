# SPDX-License-Identifier: MIT
"""One request to a mounted ASGI application, and the response that comes of it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator
from contextlib import suppress
from typing import Any

from kit.concurrency import DetachedTask, Signal, threadsafe_call
from kit.interface import HandlerError
from kit.web import ClientDisconnectedError, Headers, Request, Response

from ._request import RequestMessages
from ._types import Message, Scope

_logger = logging.getLogger("kit")

# An application that was told that nobody reads its response any more, in a request that has no
# execution context to see to it later, is cancelled when it does not end in this time.
_GRACE_S = 5.0

# SPEC: WHATWG Fetch section 2.2.3, "null body status".
_NULL_BODY_STATUSES = frozenset((101, 204, 205, 304))


class Exchange:
    """Runs an ASGI application on a request, from its start to its end, background work included.

    It has a task of its own: the application goes on after the handler has returned, and may hold
    cancel scopes open while it sends, which must not be open around the handler or around whoever
    reads the body. What is sent waits until what was sent before is read.

    SPEC: ASGI HTTP & WebSocket message format, version 2.3: what is sent when the client is gone
    is ignored.

    Args:
        app: The application.
        name: What it is called in errors.
        scope: The scope.
        request: Gives its body, and tells when the client goes away.
        wait_until: Sees to what the application does after its response; None if nobody does.

    Raises:
        TypeError: If the body of the request was read.
    """

    def __init__(
        self,
        app: Callable[..., Any],
        name: str,
        scope: Scope,
        request: Request,
        wait_until: Callable[[Awaitable[None]], object] | None,
    ) -> None:
        self._app = app
        self._name = name
        self._scope = scope
        self._messages = RequestMessages(request)
        self._wait_until = wait_until
        self._changed = Signal()
        self._head: Message | None = None
        self._chunk = b""
        self._complete = False
        self._drops_body = False
        self._is_left = False
        self._over = False
        self._failure: Exception | None = None
        self._task: DetachedTask | None = None

    @property
    def gone(self) -> bool:
        """Whether nobody reads the response any more, and it is not complete."""
        return self._messages.closed and not self._complete

    async def respond(self) -> Response:
        """Starts the application, and gives its response as soon as that has a head.

        Raises:
            Exception: What the application raised before.
            HandlerError: If it ended without a response, or its response can't be sent.
            ClientDisconnectedError: If it ended because the client is gone.
        """
        self._task = DetachedTask(self._run, changed=self._changed, on_end=self._end)
        try:
            while self._head is None and not self._over:
                await self._changed.wait()
            if self._head is None:
                raise self._without_response()
            response = self._make_response(self._head)
        except BaseException:
            await self._cancel_and_wait()
            raise
        if not isinstance(response.body, AsyncIterable) or isinstance(response.body, bytes):
            await self.leave()
        return response

    def _without_response(self) -> Exception:
        failure, self._failure = self._failure, None
        if self._messages.told_closed:
            gone = ClientDisconnectedError("The client went away before it was answered")
            gone.__cause__ = failure
            return gone
        return failure or HandlerError(self._name, "ended without sending a response")

    def _make_response(self, head: Message) -> Response:
        try:
            status = head["status"]
            headers = Headers(
                (bytes(name).decode("latin-1"), bytes(value).decode("latin-1"))
                for name, value in head.get("headers", ())
            )
            empty = Response(None, status=status, headers=headers)
        except (KeyError, TypeError, ValueError) as error:
            raise HandlerError(
                self._name, f"sent an invalid http.response.start: {error}"
            ) from error
        if status in _NULL_BODY_STATUSES:
            self._drops_body = True
            self._messages.changed.tell()
            return empty
        if not self._complete:
            return Response(AppBody(self), status=status, headers=headers)
        if self._scope["method"] == "HEAD":
            return empty
        content, self._chunk = self._chunk, b""
        return Response(content, status=status, headers=headers)

    async def next(self) -> bytes | None:
        """Gives the next chunk of the response, None at its end.

        Raises:
            Exception: What the application raised before the end.
            HandlerError: If it returned before the end.
            ClientDisconnectedError: If it ended because the client is gone.
        """
        while not self._chunk:
            if self._complete:
                return None
            if self._over:
                failure, self._failure = self._failure, None
                raise failure or ClientDisconnectedError("The client went away")
            await self._changed.wait()
        chunk, self._chunk = self._chunk, b""
        self._messages.changed.tell()
        return chunk

    def close(self) -> None:
        """Tells the application that nobody reads its response any more."""
        self._messages.close()
        if self._over:
            self._log_failure()

    async def leave(self) -> None:
        """Leaves what the application still does to the execution context, or waits for it."""
        if self._over:
            return
        if self._wait_until is not None:
            with suppress(RuntimeError):  # the request is over already
                self._wait_until(_Rest(self))
                self._is_left = True
                return
        if self.gone:
            from anyio import move_on_after

            with move_on_after(_GRACE_S):
                await self.finish()
        else:
            await self.finish()

    async def finish(self) -> None:
        """Waits for the end of the application; cancels it, if this is cancelled."""
        try:
            while not self._over:
                await self._changed.wait()
        except BaseException:
            await self._cancel_and_wait()
            raise

    async def rest(self) -> None:
        """Waits for the end of the application.

        Raises:
            Exception: What it raised after its response.
        """
        await self.finish()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def cancel(self) -> None:
        """Cancels the application."""
        self._is_left = False
        if self._task is not None:
            self._task.cancel()
        self.close()

    async def _cancel_and_wait(self) -> None:
        self.cancel()
        if self._task is not None:
            await self._task.cancel_and_wait()

    async def _run(self) -> None:
        receive = self._messages.receive
        await call_app(self._app, self._name, self._scope, receive, self._send)

    def _end(self) -> None:
        assert self._task is not None  # noqa: S101 - it has just ended
        self._messages.stop()
        self._over = True
        self._failure = self._task.failure
        closed = self._messages.closed  # as it is when the response is complete
        if self._head is not None and not (closed or self._failure):
            self._failure = HandlerError(self._name, "ended in the middle of its response")
        is_awaited = self._is_left or (self._head is None and not self._task.is_cancelled)
        if closed and not is_awaited:
            self._log_failure()

    def _log_failure(self) -> None:
        """Logs what was raised when there is nobody left to raise it to."""
        failure, self._failure = self._failure, None
        if failure is not None:
            _logger.error(
                "Exception in %s %s its response to %s %s",
                self._name,
                "after" if self._complete else "during",
                self._scope["method"],
                ascii(self._scope["path"])[1:-1],
                exc_info=failure,
            )

    async def _send(self, message: Message) -> None:
        """Takes a message of the application.

        SPEC: ASGI HTTP, "Response Start - send event" and "Response Body - send event".
        """
        kind = message["type"]
        if kind == "http.response.start" and self._head is None:
            self._head = message
        elif kind == "http.response.body" and self._head is not None and not self._complete:
            await self._send_chunk(message.get("body", b""))
            if not message.get("more_body", False):
                self._complete = True
                self._messages.close()
        elif not self.gone:
            when = "in the middle of" if self._head is not None else "before"
            when = "after the end of" if self._complete else when
            raise RuntimeError(f"{self._name} sent {kind!r} {when} its response")
        self._changed.tell()

    async def _send_chunk(self, chunk: Any) -> None:
        if not isinstance(chunk, (bytes, bytearray, memoryview)):
            raise TypeError(f"{self._name} sent a body of {type(chunk).__name__}, expected bytes")
        if not chunk:
            return
        messages = self._messages
        while self._chunk and not (messages.closed or self._drops_body):
            await messages.changed.wait()
        if messages.closed or self._drops_body:
            from anyio.lowlevel import checkpoint

            await checkpoint()  # lets the rest of the application hear of it
        else:
            self._chunk = bytes(chunk)


class AppBody:
    """The body of a response that is not complete yet.

    It is no generator: an event loop that ends would close it and those around it at once.

    Args:
        exchange: Gives the chunks.
    """

    __slots__ = ("_call_soon", "_ended", "_exchange")

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._ended = False
        self._call_soon = threadsafe_call()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._ended:
            raise StopAsyncIteration
        try:
            chunk = await self._exchange.next()
        except Exception:
            self._ended = True
            raise
        if chunk is None:
            self._ended = True
            await self._exchange.leave()
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        """Tells the application that nobody reads on."""
        if not self._ended:
            self._ended = True
            self._exchange.close()
            await self._exchange.leave()

    async def client_left(self) -> None:
        """Called by who sends the body, when there is nobody left to send it to."""
        self._exchange.close()

    def __del__(self) -> None:
        # A response that nobody read, as of a middleware that put another one in its place. This
        # may be another thread, or the middle of anything.
        if not self._ended:
            with suppress(RuntimeError):  # the event loop is closed
                self._call_soon(self._exchange.close)


class _Rest:
    """What an application does after its response, for `wait_until`.

    No coroutine: one that has not begun could not be given up.
    """

    __slots__ = ("_exchange",)

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def __await__(self) -> Generator[Any, Any, None]:
        return self._exchange.rest().__await__()

    def close(self) -> None:
        """Called where the request was cancelled."""
        self._exchange.cancel()


async def call_app(app: Callable[..., Any], name: str, scope: Scope, *channels: Any) -> None:
    """Calls an ASGI application.

    Raises:
        HandlerError: If it is none, because it gives nothing that can be awaited.
        Exception: What it raises.
    """
    result = app(scope, *channels)
    if not hasattr(result, "__await__"):
        raise HandlerError(
            name,
            f"gave {type(result).__name__}, expected an awaitable: "
            "it must be an ASGI 3 application, async (scope, receive, send)",
        )
    await result
