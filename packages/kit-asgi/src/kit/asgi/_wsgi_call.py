# SPDX-License-Identifier: MIT
"""One call of an ASGI application by a WSGI server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from queue import SimpleQueue
from typing import Any

from kit.interface import HandlerError

from ._environ import body_length, scope_of_environ
from ._types import Message

_READ_BYTES = 65536
# SPEC: PEP 3333, "Other HTTP Features": the connection belongs to the server.
_HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)


class WsgiCall:
    """One request, and the iterable of its response's body.

    The application runs in the event loop. Its messages and its requests for more of the body reach
    the server's thread through a queue; the body is read in that thread, as servers expect.

    Args:
        app: The ASGI application.
        name: Its name in error messages.
        environ: The WSGI environ.
        loop: The event loop of the application.
        state: The state that the application set in its lifespan.
    """

    def __init__(
        self,
        app: Callable[..., Any],
        name: str,
        environ: dict[str, Any],
        loop: asyncio.AbstractEventLoop,
        state: Mapping[str, Any],
    ) -> None:
        self._app = app
        self._name = name
        self._scope = scope_of_environ(environ, state)
        self._input = environ["wsgi.input"]
        self._left = body_length(environ)
        self._loop = loop
        self._events: SimpleQueue[Message] = SimpleQueue()
        self._has_begun = False
        self._is_complete = False
        # Of the event loop:
        self._pending: asyncio.Future[Message] | None = None
        self._is_read = False
        self._taken = asyncio.Event()
        self._gone = asyncio.Event()

    # These run in the thread of the server:

    def respond(self, start_response: Any) -> Iterable[bytes]:
        """Waits for the head of the response, starts the response, and returns its body.

        Raises:
            Exception: The exception that the application raised.
            HandlerError: If the application ended without a response.
        """
        try:
            head = self._next()
            headers = [
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in head.get("headers", ())
                if name.lower() not in _HOP_BY_HOP
            ]
            start_response(_status_line(head["status"]), headers)
        except BaseException:
            self.close()
            raise
        return self

    def __iter__(self) -> WsgiCall:
        return self

    def __next__(self) -> bytes:
        """Returns the next chunk.

        The first chunk is empty: servers send the head with it, and the next one may take a while.
        """
        if not self._has_begun:
            self._has_begun = True
            return b""
        if self._is_complete:
            raise StopIteration
        message = self._next()
        self._is_complete = not message.get("more_body", False)
        self._tell(self._taken.set)
        return bytes(message.get("body", b""))

    def close(self) -> None:
        """Notifies the application that the response was sent, or is no longer being read."""
        self._tell(self._leave)

    def _next(self) -> Message:
        """Returns the application's next message; reads the body for it in the meantime."""
        while (message := self._events.get())["type"] == "read":
            self._tell(self._give, message["into"], *self._read())
        if message["type"] == "end":
            raise message["error"] or HandlerError(self._name, "ended without a complete response")
        return message

    def _read(self) -> tuple[bytes, bool]:
        """Returns a part of the body, and whether there may be more.

        Raises:
            ConnectionResetError: If the body ends before its length.
        """
        if self._left is None:
            chunk: bytes = self._input.read(_READ_BYTES)
            return chunk, bool(chunk)
        chunk = self._input.read(min(self._left, _READ_BYTES)) if self._left else b""
        if self._left and not chunk:
            raise ConnectionResetError("The client disconnected before its body was complete")
        self._left -= len(chunk)
        return chunk, self._left > 0

    def _tell(self, function: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # the event loop has ended, and the application with it
            self._loop.call_soon_threadsafe(function, *args)

    # These run in the event loop:

    async def run(self) -> None:
        """Runs the application."""
        failure: BaseException | None = None
        try:
            await self._app(self._scope, self._receive, self._send)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            is_stopped = task is not None and task.cancelling()
            why = (
                "was cancelled because the server shut down" if is_stopped else f"raised {error!r}"
            )
            failure = HandlerError(self._name, why)
            raise
        except GeneratorExit:
            failure = HandlerError(self._name, "was cancelled because the server shut down")
            raise
        except BaseException as error:  # here, a SystemExit would end the event loop
            failure = error
        finally:
            self._events.put({"type": "end", "error": failure})

    async def _receive(self) -> Message:
        if self._is_read:
            await self._gone.wait()
        if self._gone.is_set():
            return {"type": "http.disconnect"}
        if self._pending is None:
            self._pending = self._loop.create_future()
            self._events.put({"type": "read", "into": self._pending})
        # If a reader is cancelled, the next one gets what was read.
        message = await asyncio.shield(self._pending)
        self._pending = None
        return message

    def _give(self, into: asyncio.Future[Message], chunk: bytes, more: bool) -> None:
        self._is_read = not more
        into.set_result({"type": "http.request", "body": chunk, "more_body": more})

    async def _send(self, message: Message) -> None:
        """Sends a message, and waits until the server takes it.

        Raises:
            OSError: If the response is no longer being read.
        """
        if self._gone.is_set():
            raise OSError("The client disconnected before its response was complete")
        self._taken.clear()
        self._events.put(message)
        if message.get("more_body", False):
            await self._taken.wait()
            if self._gone.is_set():
                raise OSError("The client disconnected before its response was complete")

    def _leave(self) -> None:
        self._gone.set()
        self._taken.set()
        if self._pending is not None and not self._pending.done():
            self._pending.set_result({"type": "http.disconnect"})


def _status_line(status: int) -> str:
    """Returns status and reason; SPEC: PEP 3333, "The start_response() Callable"."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Unknown"
