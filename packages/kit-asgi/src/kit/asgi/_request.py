# SPDX-License-Identifier: MIT
"""The messages that a mounted ASGI application receives: the request body, then a disconnect."""

from __future__ import annotations

from collections.abc import AsyncIterable
from contextlib import aclosing
from functools import partial
from typing import Any

from kit.concurrency import DetachedTask, Signal
from kit.web import ClientDisconnectedError, Request

from ._types import Message


class RequestMessages:
    """The messages of one request, for an application's `receive`.

    SPEC: ASGI HTTP, "Request - receive event" and "Disconnect - receive event".

    Args:
        request: The request. Its body is consumed, and read only as fast as the application asks.

    Attributes:
        closed: Whether only the disconnect is left to receive: the client has disconnected, or the
            response is complete.
        told_closed: Whether the application has received the disconnect.
        changed: Notified of a new message, of a received one, and of `closed`.

    Raises:
        TypeError: If the body was already read.
    """

    def __init__(self, request: Request) -> None:
        self.closed = False
        self.told_closed = False
        self.changed = Signal()
        if request.body_used:
            raise TypeError("The body was already read; it can be read once")
        self._request = request
        self._asked = False
        self._task: DetachedTask | None = None
        self._message: Message | None = None

    def close(self) -> None:
        """Makes `receive` return the disconnect from now on."""
        self.closed = True
        self.changed.tell()

    def stop(self) -> None:
        """Stops reading the body; called when the application has ended."""
        if self._task is not None:
            self._task.cancel()

    async def receive(self) -> Message:
        """Returns the next message. May be cancelled, and may be called by several tasks.

        Raises:
            Exception: The exception that the body of an in-process request raised.
        """
        while not self.closed:
            if self._message is not None:
                message, self._message = self._message, None
                self.changed.tell()
                return message
            if self._task is not None and self._task.failure is not None:
                failure, self._task.failure = self._task.failure, None
                raise failure
            if self._asked:
                await self.changed.wait()
            else:
                self._asked = True
                self._begin()
        self.told_closed = True
        return {"type": "http.disconnect"}

    def _begin(self) -> None:
        """Starts reading; for an application that never asks, the body stays unread."""
        body = self._request.body
        if body is None or isinstance(body, bytes):
            self._message = _message(body or b"", more=False)
            body = None
        self._task = DetachedTask(partial(self._read, body), changed=self.changed)

    async def _read(self, body: Any) -> None:
        """Reads the body, then waits for the client to disconnect.

        Runs in a separate task, since an application may cancel `receive` and call it again.
        """
        try:
            if body is not None:
                async with aclosing(body) as chunks:
                    await self._put_all(chunks)
            if await self._request.wait_for_disconnect():
                self.close()
        except ClientDisconnectedError:
            self.close()

    async def _put_all(self, chunks: AsyncIterable[bytes]) -> None:
        async for chunk in chunks:
            if chunk:
                await self._put(_message(chunk, more=True))
        await self._put(_message(b"", more=False))

    async def _put(self, message: Message) -> None:
        while self._message is not None:
            await self.changed.wait()
        self._message = message
        self.changed.tell()


def _message(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}
