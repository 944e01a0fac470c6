# SPDX-License-Identifier: MIT
"""What a mounted ASGI application receives: the body of a request, then its end."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from typing import Any

from kit._concurrency.tasks import Signal, start_task
from kit._serving.response import Message
from kit.web import ClientDisconnectedError, Request
from kit.web._body import Stream, close_stream, iterate


class RequestMessages:
    """Gives the messages of a request.

    SPEC: ASGI HTTP, "Request - receive event" and "Disconnect - receive event".

    Args:
        request: Its body is taken, and read as far as the application asks.

    Attributes:
        closed: Whether there is nothing more but the disconnect: the client is gone, or the
            response complete.
        told_closed: Whether the application has heard of that.
        changed: Tells of the body, and of `closed`.

    Raises:
        TypeError: If the body was read.
    """

    def __init__(self, request: Request) -> None:
        self.closed = False
        self.told_closed = False
        self.changed = Signal()
        self._body = request._take()
        self._received = request._received
        self._asked = False
        self._reading: Any = None
        self._task: object = None
        self._message: Message | None = None
        self._failure: Exception | None = None

    def close(self) -> None:
        """Gives the disconnect from now on."""
        self.closed = True
        self.changed.tell()

    def stop(self) -> None:
        """Ends the reading; called when the application has ended."""
        if self._reading is not None:
            self._reading.cancel()

    async def receive(self) -> Message:
        """Gives the next message; may be cancelled, and called by several tasks.

        Raises:
            Exception: What the body of a request made in process raises.
        """
        while not self.closed:
            if self._message is not None:
                message, self._message = self._message, None
                self.changed.tell()
                return message
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            if self._asked:
                await self.changed.wait()
            else:
                self._asked = True
                self._begin()
        self.told_closed = True
        return {"type": "http.disconnect"}

    def _begin(self) -> None:
        """Begins to read; an application that never asks leaves the body where it is."""
        body, self._body = self._body, None
        if body is None or isinstance(body, bytes):
            self._message = _message(body or b"", more=False)
            body = None
        if body is not None or self._received is not None:
            from anyio import CancelScope

            self._reading = CancelScope()
            self._task = start_task(partial(self._read, body))

    async def _read(self, body: Stream | None) -> None:
        """Reads the body, then waits for the client to leave.

        A task apart from `receive`, which an application may cancel to call it anew.
        """
        try:
            with self._reading:
                await self._read_all(body)
        except ClientDisconnectedError:
            self.close()
        except Exception as error:
            self._failure = error
            self.changed.tell()

    async def _read_all(self, body: Stream | None) -> None:
        if body is not None:
            try:
                async with aclosing(iterate(body)) as chunks:
                    async for chunk in chunks:
                        if chunk:
                            await self._put(_message(chunk, more=True))
            finally:
                await close_stream(body)
            await self._put(_message(b"", more=False))
        if self._received is not None and await self._received.wait_for_disconnect():
            self.close()

    async def _put(self, message: Message) -> None:
        while self._message is not None:
            await self.changed.wait()
        self._message = message
        self.changed.tell()


def _message(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}
