# SPDX-License-Identifier: MIT
"""Runs one request through a mounted ASGI application."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator
from contextlib import suppress
from typing import Any

from kit.authoring.maybe_await import is_awaitable, settle
from kit.concurrency import DetachedTask, Signal, threadsafe_call
from kit.interface import Context, HandlerError
from kit.web import ClientDisconnectedError, Headers, Request, Response

from ._request import RequestMessages
from ._types import Message, Scope

_logger = logging.getLogger("kit")

# Seconds that an application has to end after its client disconnected, before it is cancelled.
# Applies to requests without an execution context that could wait for it later.
_GRACE_S = 5.0

# SPEC: WHATWG Fetch section 2.2.3, "null body status".
_NULL_BODY_STATUSES = frozenset((101, 204, 205, 304))


class Exchange:
    """Runs an ASGI application for one request until it ends, background work included.

    The application runs in a separate task: it continues after the handler has returned, and may
    hold cancel scopes open while it sends, which must not be open around the handler or around the
    task that reads the body. Sending waits until the previous chunk has been read.

    SPEC: ASGI HTTP & WebSocket message format, version 2.3: messages sent after the client has
    disconnected are ignored.

    Args:
        app: The application.
        name: Its name in error messages.
        scope: The scope.
        request: Provides the body, and reports when the client disconnects.
        wait_until: Takes over the work after the response; None if nothing does.

    Raises:
        TypeError: If the body of the request was already read.
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
        self._cut_off_by: Exception | None = None
        self._task: DetachedTask | None = None

    @property
    def has_head(self) -> bool:
        """Whether the application has sent the head of a response."""
        return self._head is not None

    @property
    def is_complete(self) -> bool:
        """Whether the application has sent the whole response."""
        return self._complete

    @property
    def gone(self) -> bool:
        """Whether the response is incomplete and no longer being read."""
        return self._messages.closed and not self._complete

    async def respond(self) -> Response:
        """Starts the application and returns its response once that has a head.

        Raises:
            Exception: The exception that the application raised before.
            HandlerError: If it ended without a response, or its response is invalid.
            ClientDisconnectedError: If it ended because the client disconnected.
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
            gone = ClientDisconnectedError("The client disconnected before it was answered")
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
        """Returns the next chunk of the response, or None at its end.

        Raises:
            Exception: The exception that the application raised before the end.
            HandlerError: If it returned before the end.
            ClientDisconnectedError: If it ended because the client disconnected.
        """
        while not self._chunk:
            if self._complete:
                return None
            if self._over:
                failure, self._failure = self._failure, None
                raise failure or ClientDisconnectedError("The client disconnected")
            await self._changed.wait()
        chunk, self._chunk = self._chunk, b""
        self._messages.changed.tell()
        return chunk

    def close(self) -> None:
        """Signals to the application that its response is no longer being read."""
        self._messages.close()
        if self._over:
            self._log_failure()

    def cut_off(self, error: Exception) -> None:
        """Keeps a response that has begun from being completed, as its content has failed.

        The `BaseHTTPMiddleware` of Starlette would end it as if it were complete.

        Args:
            error: The exception of the content.
        """
        if self._head is not None:
            self._cut_off_by = error

    async def leave(self) -> None:
        """Hands the application's remaining work to the execution context, or waits for it."""
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
        """Waits until the application ends; cancels it if the caller is cancelled."""
        try:
            while not self._over:
                await self._changed.wait()
        except BaseException:
            await self._cancel_and_wait()
            raise

    async def rest(self) -> None:
        """Waits until the application ends.

        Raises:
            Exception: The exception that it raised after its response.
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
        closed = self._messages.closed  # also true once the response is complete
        if self._head is not None and not (closed or self._failure):
            self._failure = HandlerError(self._name, "ended in the middle of its response")
        is_awaited = self._is_left or (self._head is None and not self._task.is_cancelled)
        if closed and not is_awaited:
            self._log_failure()

    def _log_failure(self) -> None:
        """Logs an exception that no caller is left to receive."""
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
        """Handles a message that the application sends.

        SPEC: ASGI HTTP, "Response Start - send event" and "Response Body - send event".
        """
        kind = message["type"]
        if kind == "http.response.start" and self._head is None:
            self._head = message
        elif kind == "http.response.body" and self._head is not None and not self._complete:
            await self._send_chunk(message.get("body", b""))
            if not message.get("more_body", False):
                if self._cut_off_by is not None:
                    raise self._cut_off_by
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

            await checkpoint()  # lets the application's other tasks receive the disconnect
        else:
            self._chunk = bytes(chunk)


class AppBody:
    """The body of a response that is not yet complete.

    Not an async generator: loop shutdown would close it, and the generators around it, immediately.

    Args:
        exchange: Provides the chunks.
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
        """Signals to the application that the body is no longer being read."""
        if not self._ended:
            self._ended = True
            self._exchange.close()
            await self._exchange.leave()

    async def client_left(self) -> None:
        """Called by the code that sends the body when the client has disconnected."""
        self._exchange.close()

    def __del__(self) -> None:
        # The response was never read, e.g. because a middleware replaced it. A finalizer may run in
        # another thread, or in the middle of other code.
        if not self._ended:
            with suppress(RuntimeError):  # the event loop is closed
                self._call_soon(self._exchange.close)


class _Rest:
    """The work an application does after its response, as an awaitable for `wait_until`.

    Not a coroutine: `close` on one that has not started would not cancel the application.
    """

    __slots__ = ("_exchange",)

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def __await__(self) -> Generator[Any, Any, None]:
        return self._exchange.rest().__await__()

    def close(self) -> None:
        """Called when the request is cancelled before this is awaited."""
        self._exchange.cancel()


async def call_app(app: Callable[..., Any], name: str, scope: Scope, *channels: Any) -> None:
    """Calls an ASGI application.

    Raises:
        HandlerError: If it doesn't return an awaitable, so it can't be an ASGI application; or if
            it raises SystemExit, except from its lifespan.
        Exception: Whatever the application raises.
    """
    try:
        # It may be an async function that returns what another application returned, unawaited.
        await settle(await _awaitable(app(scope, *channels), name), name)
    except SystemExit as error:
        if scope["type"] == "lifespan":
            raise
        # A SystemExit in a task would end the event loop, and so the server.
        raise HandlerError(name, f"raised {error!r}") from error


def _awaitable(result: Any, name: str) -> Any:
    if not is_awaitable(result):
        raise HandlerError(
            name,
            f"gave {type(result).__name__}, expected an awaitable: "
            "it must be an ASGI 3 application, async (scope, receive, send)",
        )
    return result


def find_wait_until(
    c: Context[Any, Any],
) -> Callable[[Awaitable[None]], object] | None:
    """Returns what takes over work after the response; None if nothing does."""
    try:
        return c.execution_ctx.wait_until
    except RuntimeError:  # there is no execution context
        return None
