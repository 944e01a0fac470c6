# SPDX-License-Identifier: MIT
"""Runs WSGI applications as ASGI applications: a2wsgi, plus what it doesn't handle."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from threading import Lock, Semaphore
from typing import Any
from urllib.parse import quote

from kit.concurrency import running_trio

from ._types import Message, Receive, Scope, Send

# How many chunks may wait to be sent, and how often, in seconds, a waiting thread checks whether
# the client is still there.
_CHUNKS_AHEAD = 4
_LOOK_S = 0.5
# A larger body is read by the thread, as the application asks for it.
_SMALL_BODY_BYTES = 64 * 1024
_ASCII = bytes(range(128))


def wrap_wsgi(wsgi_app: Callable[..., Iterable[bytes]], workers: int) -> Callable[..., Any]:
    """Returns an ASGI application that runs a WSGI application.

    Its scope must contain `kit.is_gone`, a function that returns whether the response is no longer
    being read.

    Args:
        wsgi_app: The WSGI application.
        workers: Number of threads.

    Raises:
        ImportError: If a2wsgi is not installed.
    """
    try:
        from a2wsgi import WSGIMiddleware
    except ImportError as error:
        raise ImportError(
            'from_wsgi() needs the package a2wsgi: pip install "kit-asgi[wsgi]"'
        ) from error

    def begin(environ: Any, start_response: Any) -> Iterable[bytes]:
        call: _Call = environ["asgi.scope"]["kit.call"]
        return call.begin(environ, start_response)

    # An unbounded queue: a thread waiting for room in a bounded one could not be stopped. _Call
    # limits how many chunks it contains.
    middleware: Any = WSGIMiddleware(begin, workers=workers, send_queue_size=0)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if running_trio() is not None:
            raise RuntimeError("from_wsgi() needs asyncio: a2wsgi does not run on trio")
        call = _Call(wsgi_app, receive, send, scope["kit.is_gone"])
        scope = {
            **scope,
            "headers": _headers(scope["headers"]),
            "query_string": quote(scope["query_string"], safe=_ASCII).encode(),
            "kit.call": call,
        }
        try:
            if 0 < _length(scope["headers"]) <= _SMALL_BODY_BYTES:
                await call.read_ahead()
            await middleware(scope, call.receive, call.send)
        finally:
            await call.end()

    return app


def _headers(lines: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Returns the header lines that can become environ variables.

    APPSEC: `x_user` would become the same variable as `x-user`, which a proxy may have checked.

    SPEC: RFC 9113 section 8.2.3: Cookie lines are joined with a semicolon; a2wsgi joins all
    headers with commas.
    """
    kept = [line for line in lines if b"_" not in line[0] and line[0] != b"cookie"]
    cookies = [value for name, value in lines if name == b"cookie"]
    return [*kept, (b"cookie", b"; ".join(cookies))] if cookies else kept


def _length(lines: list[tuple[bytes, bytes]]) -> int:
    """Returns the length of a body in bytes; 0 if none was sent."""
    value = next((value for name, value in lines if name == b"content-length"), b"")
    return int(value) if value.isdigit() else 0


class _Call:
    """One call of a WSGI application in a thread, and the messages between it and the event loop.

    The thread waits for the event loop whenever it sends or reads. If the event loop ended first,
    the thread would wait forever, and so would Python at exit. So the request ends only when the
    thread does, even if it is cancelled.

    Args:
        wsgi_app: The application.
        receive: Returns the messages of the request.
        send: Sends the messages of the response.
        is_gone: Returns whether the response is no longer being read.
    """

    def __init__(
        self,
        wsgi_app: Callable[..., Iterable[bytes]],
        receive: Receive,
        send: Send,
        is_gone: Callable[[], bool],
    ) -> None:
        self._wsgi_app = wsgi_app
        self._receive = receive
        self._send = send
        self._is_gone = is_gone
        self._body: Iterable[bytes] = ()
        self._ahead: deque[Message] = deque()  # messages that were received before the thread began
        self._slots = Semaphore(_CHUNKS_AHEAD)
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._has_begun = False
        self._is_given_up = False
        self._has_ended = asyncio.Event()

    # These run in the event loop:

    async def read_ahead(self) -> None:
        """Receives the whole body, so that a client that sends it slowly occupies no thread.

        Raises:
            ConnectionResetError: If the client disconnects before the end.
        """
        ahead: list[Message] = []
        while not ahead or ahead[-1].get("more_body", False):
            ahead.append(await self.receive())
        self._ahead.extend(ahead)

    async def receive(self) -> Message:
        """Returns the next message of the request's body.

        Raises:
            ConnectionResetError: If the client disconnects before the end; a2wsgi would treat the
                partial body as complete.
        """
        if self._ahead:
            return self._ahead.popleft()
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("The client disconnected before its body was complete")
        return message

    async def send(self, message: Message) -> None:
        """Sends a message of the response."""
        await self._send(message)
        if message["type"] == "http.response.body":
            self._slots.release()

    async def end(self) -> None:
        """Waits for the thread to end, which is soon once nothing reads its output."""
        from anyio import CancelScope

        with self._lock:
            self._is_given_up = True
        with CancelScope(shield=True):
            while self._has_begun and not self._has_ended.is_set():
                # A closing event loop cancels each task once; that must not cut the wait short.
                with suppress(asyncio.CancelledError):
                    await self._has_ended.wait()

    # These run in the thread:

    def begin(self, environ: dict[str, Any], start_response: Any) -> _Call:
        """Calls the application; returns the iterable that a2wsgi iterates and finally closes."""
        with self._lock:
            if self._is_given_up:  # cancelled while waiting for a thread
                raise ConnectionResetError("The request was cancelled")
            self._has_begun = True
        # Werkzeug treats a body without a length as empty unless this says that the input ends.
        environ["wsgi.input_terminated"] = True
        environ["wsgi.errors"] = sys.stderr
        try:
            self._body = self._wsgi_app(environ, start_response)
        except BaseException:
            self._tell_end()
            raise
        return self

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._body:
            while not self._slots.acquire(timeout=_LOOK_S):
                if self._is_over():
                    return
            if self._is_over():
                return
            yield chunk

    def close(self) -> None:
        """Closes the iterable that the application returned."""
        try:
            close = getattr(self._body, "close", None)
            if close is not None:
                close()
        finally:
            self._tell_end()

    def _is_over(self) -> bool:
        return self._is_given_up or self._is_gone()

    def _tell_end(self) -> None:
        with suppress(RuntimeError):  # the event loop was closed anyway
            self._loop.call_soon_threadsafe(self._has_ended.set)
