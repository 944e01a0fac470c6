# SPDX-License-Identifier: MIT
"""WSGI applications as ASGI applications: a2wsgi, and what it leaves open."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from threading import Lock, Semaphore
from typing import Any
from urllib.parse import quote

from kit.concurrency import running_trio

from ._types import Message, Receive, Scope, Send

# How many chunks may wait to be sent, and how often the thread that waits looks for the client.
_CHUNKS_AHEAD = 4
_LOOK_S = 0.5
_ASCII = bytes(range(128))


def asgi_of(wsgi_app: Callable[..., Iterable[bytes]], workers: int) -> Callable[..., Any]:
    """Makes an ASGI application of a WSGI application.

    It expects `kit.is_gone` in the scope, which tells whether nobody reads the response any more.

    Args:
        wsgi_app: The WSGI application.
        workers: In how many threads it runs.

    Raises:
        ImportError: If a2wsgi is not installed.
    """
    try:
        from a2wsgi import WSGIMiddleware
    except ImportError as error:
        raise ImportError(
            'from_wsgi() needs the package a2wsgi: pip install "kit-core[wsgi]"'
        ) from error

    def begin(environ: Any, start_response: Any) -> Iterable[bytes]:
        call: _Call = environ["asgi.scope"]["kit.call"]
        return call.begin(environ, start_response)

    # Its queue has no bound: a thread that waits for room in it could not be stopped. That it is
    # not filled is seen to by _Call.
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
            await middleware(scope, call.receive, call.send)
        finally:
            await call.end()

    return app


def _headers(lines: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Gives the header lines that can be variables.

    `x_user` would be the same variable as `x-user`, which a proxy may have checked.

    SPEC: RFC 9113 section 8.2.3: the lines of Cookie are to be joined by a semicolon; a2wsgi joins
    all by commas.
    """
    kept = [line for line in lines if b"_" not in line[0] and line[0] != b"cookie"]
    cookies = [value for name, value in lines if name == b"cookie"]
    return [*kept, (b"cookie", b"; ".join(cookies))] if cookies else kept


class _Call:
    """One call of a WSGI application, in a thread, and what goes between that and the event loop.

    The thread waits for the event loop with everything that it sends or reads. An event loop that
    ended before would leave it waiting for ever, and Python waits for it in the end. So the request
    ends when the thread does, even if it is cancelled.

    Args:
        wsgi_app: The application.
        receive: Gives the body of the request.
        send: Takes the response.
        is_gone: Whether nobody reads the response any more.
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
        self._slots = Semaphore(_CHUNKS_AHEAD)
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._has_begun = False
        self._is_given_up = False
        self._has_ended = asyncio.Event()

    # In the event loop:

    async def receive(self) -> Message:
        """Gives a part of the body of the request.

        Raises:
            ConnectionResetError: If the client goes away before its end; a2wsgi would take what
                there is for the whole.
        """
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("The client went away before its body was complete")
        return message

    async def send(self, message: Message) -> None:
        """Sends a part of the response."""
        await self._send(message)
        if message["type"] == "http.response.body":
            self._slots.release()

    async def end(self) -> None:
        """Waits for the end of the thread, which is soon if nobody waits for what it makes."""
        from anyio import CancelScope

        with self._lock:
            self._is_given_up = True
        with CancelScope(shield=True):
            while self._has_begun and not self._has_ended.is_set():
                # An event loop that ends cancels each task once; that is raised behind this.
                with suppress(asyncio.CancelledError):
                    await self._has_ended.wait()

    # In the thread:

    def begin(self, environ: dict[str, Any], start_response: Any) -> _Call:
        """Calls the application; gives what a2wsgi iterates, and closes as the last thing."""
        with self._lock:
            if self._is_given_up:  # while it waited for a thread
                raise ConnectionResetError("The request was cancelled")
            self._has_begun = True
        # Werkzeug takes a body without a length for none, unless it is told that it ends.
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
        """Closes what the application gave."""
        try:
            close = getattr(self._body, "close", None)
            if close is not None:
                close()
        finally:
            self._tell_end()

    def _is_over(self) -> bool:
        return self._is_given_up or self._is_gone()

    def _tell_end(self) -> None:
        with suppress(RuntimeError):  # the event loop has been closed all the same
            self._loop.call_soon_threadsafe(self._has_ended.set)
