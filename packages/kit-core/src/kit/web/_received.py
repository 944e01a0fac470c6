# SPDX-License-Identifier: MIT
"""The body of a served request, as ASGI messages bring it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeAlias

from msgspec import Struct

from kit._support.limits import body_too_large
from kit._support.struct import with_plain_stores

See: TypeAlias = Callable[[bytes], object]

_MOST_KEPT_BYTES = 64 * 1024
# What a chunk takes beside its content: a client that sends single bytes is held back as well.
_BYTES_PER_CHUNK = 64


class ClientDisconnectedError(Exception):
    """The client went away before its request was complete; there is nobody to answer."""


@with_plain_stores
class ReceivedBody(Struct, eq=False):
    """Reads a body from an ASGI server, in chunks or whole.

    While the response is streamed, one task may read the body as another waits for the client to
    leave. They share the server's channel: one receives at a time, and what it gets that the
    other wants is kept for it.

    SPEC: ASGI HTTP, "Request - receive event" and "Disconnect - receive event".

    Args:
        receive: The channel that gives the messages of the server.
    """

    _receive: Callable[[], Awaitable[dict[str, Any]]]
    _kept: list[bytes] = []  # a new one for each: msgspec copies an empty default
    _kept_bytes: int = 0
    _changed: Any = None
    _busy: bool = False
    _gone: bool = False
    complete: bool = False

    async def read(self, most: int | None = None, see: See | None = None) -> bytes:
        """Reads all that is left.

        Args:
            most: How many bytes there may be; None for any number.
            see: Called with each chunk; what it raises ends the reading.

        Raises:
            HTTPException: 413 if there are more.
            ClientDisconnectedError: If the client goes away before the end.
        """
        chunks: list[bytes] = []
        size = 0
        try:
            while self._kept or not self.complete:
                if self._kept or self._busy or self._gone:
                    chunk = await self._next()
                else:
                    chunk = await self._receive_chunk()
                    if not chunk:
                        continue
                chunks.append(chunk)
                size += len(chunk)
                if most is not None and size > most:
                    raise body_too_large(most)
                if see is not None:
                    see(chunk)
        except BaseException:
            for chunk in reversed(chunks):  # who was cancelled leaves them to who reads on
                self._keep(0, chunk)
            raise
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def whole(self) -> bytes | None:
        """Gives the body if the next message has all of it; else None, and what came is kept."""
        if self._kept or self._busy or self.complete or self._gone:
            return None
        self._busy = True
        try:
            message = await self._receive()
            if message["type"] == "http.request" and not message.get("more_body", False):
                self.complete = True
                body: bytes = message.get("body", b"")
                return body if body.__class__ is bytes else bytes(body)
            self._take_in(message)
        finally:
            self._busy = False
            if self._changed is not None:
                self._tell()
        return None

    async def comes_whole(self) -> bool:
        """Waits for the first message, which is kept; says whether it has the whole body."""
        while not (self._kept or self.complete or self._gone):
            await self._receive_one()
        return self.complete and len(self._kept) == 1

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        while self._kept or not self.complete:
            if self._kept or self._busy or self._gone:
                chunk = await self._next()
            else:
                chunk = await self._receive_chunk()
            if chunk:
                yield chunk

    async def wait_for_disconnect(self) -> bool:
        """Waits until the client goes away.

        Returns:
            True when it has. False where the server gives other messages after the body was
            complete, so that waiting would only take its time.
        """
        while not self._gone:
            if self._kept_bytes >= _MOST_KEPT_BYTES:
                # The reader has to go first; until then the server holds the client back.
                await self._change()
                continue
            was_complete = self.complete
            if await self._receive_one() and was_complete and not self._gone:
                return False
        return True

    async def _receive_chunk(self) -> bytes:
        """Receives a chunk for the caller, where nobody else does; an empty one when none came.

        PERF: so that what comes need not be kept for anyone.
        """
        self._busy = True
        try:
            message = await self._receive()
        finally:
            self._busy = False
            if self._changed is not None:
                self._tell()
        if message["type"] == "http.disconnect":
            self._gone = True
            return b""
        self.complete = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        return chunk if chunk.__class__ is bytes else bytes(chunk)

    async def _next(self) -> bytes:
        while not self._kept:
            if self._gone:
                raise ClientDisconnectedError("The client went away before its body was complete")
            await self._receive_one()
        chunk = self._kept.pop(0)
        self._kept_bytes -= len(chunk) + _BYTES_PER_CHUNK
        self._tell()
        return chunk

    async def _receive_one(self) -> bool:
        """Receives a message, or waits for the task that does; says whether it was this one."""
        if self._busy:
            await self._change()
            return False
        self._busy = True
        try:
            self._take_in(await self._receive())
        finally:
            self._busy = False
            self._tell()
        return True

    def _take_in(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.disconnect":
            self._gone = True
        elif not self.complete:
            self.complete = not message.get("more_body", False)
            self._keep(len(self._kept), bytes(message.get("body", b"")))

    def _keep(self, place: int, chunk: bytes) -> None:
        self._kept.insert(place, chunk)
        self._kept_bytes += len(chunk) + _BYTES_PER_CHUNK

    async def _change(self) -> None:
        """Waits until the other task has received or taken something."""
        if self._changed is None:
            from anyio import Event

            self._changed = Event()
        await self._changed.wait()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None
