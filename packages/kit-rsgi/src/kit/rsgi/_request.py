# SPDX-License-Identifier: MIT
"""Receives the body of an HTTP request as ASGI messages."""

from __future__ import annotations

import asyncio
from typing import Any

from kit.concurrency import ResumableRead

from ._types import Message, RsgiHttp, RsgiScope

_UNREAD = -1
_DISCONNECT: Message = {"type": "http.disconnect"}


class RequestBody:
    """Receives the body of a request, and waits for its client to disconnect.

    Args:
        scope: The RSGI scope.
        protocol: The RSGI protocol.
    """

    __slots__ = (
        "_body",
        "_finish_waiter",
        "_is_finished",
        "_missing",
        "_protocol",
        "_scope",
        "_watcher",
    )

    def __init__(self, scope: RsgiScope, protocol: RsgiHttp) -> None:
        self._scope = scope
        self._protocol = protocol
        self._body: ResumableRead[bytes] | None = None
        self._missing: int | None = _UNREAD  # bytes of the body to come; None if unknown
        self._is_finished = False
        self._watcher: asyncio.Task[None] | None = None
        self._finish_waiter: asyncio.Future[None] | None = None

    async def receive(self) -> Message:
        """Returns a message with a part of the body, or that the client has disconnected.

        SPEC: ASGI HTTP, "Request - receive event" and "Disconnect - receive event".
        """
        if self._missing == _UNREAD:
            self._missing = self._find_size()
            if self._missing == 0:
                return {"type": "http.request", "body": b"", "more_body": False}
            self._body = ResumableRead(aiter(self._protocol).__anext__)
            if not self._is_http_1:
                # Started at once, since granian no longer reports it after a stream was reset.
                self._watcher = asyncio.get_running_loop().create_task(self._wait_for_client())
        if self._missing == 0:
            return await self._wait_for_disconnect()
        return await self._read_chunk(self._body)

    def _find_size(self) -> int | None:
        headers = self._scope.headers
        size = headers.get("content-length")
        if size is not None and size.isdecimal():
            return int(size)
        # SPEC: RFC 9112 section 6.3: a request without either header has no body.
        is_bare = self._is_http_1 and "transfer-encoding" not in headers
        return 0 if is_bare else None

    async def _read_chunk(self, body: Any) -> Message:
        """Returns the next chunk of the body.

        Over HTTP/1, a server ends the body in the same way if the client disconnects before its
        end. Then bytes are missing, or several empty chunks precede the end: granian's sign of an
        error, and of trailers.

        Over HTTP/2, an empty frame may end the body (RFC 9113 section 6.1), as from clients that
        stream. If the client disconnects, granian yields empty chunks forever.
        """
        empty_chunks = 0
        try:
            while self._watcher is None or not self._watcher.done():
                chunk = await body.next()
                if chunk:
                    if self._missing is not None:
                        self._missing -= len(chunk)
                    return {"type": "http.request", "body": chunk, "more_body": self._missing != 0}
                empty_chunks += 1
            is_cut = True
        except EOFError:  # the response was sent while reading
            return _DISCONNECT.copy()
        except StopAsyncIteration:
            ends_oddly = self._is_http_1 and empty_chunks > 1
            ends_oddly = ends_oddly and "trailer" not in self._scope.headers
            is_cut = ends_oddly if self._missing is None else True
        self._missing = 0
        if is_cut:
            return _DISCONNECT.copy()
        return {"type": "http.request", "body": b"", "more_body": False}

    @property
    def _is_http_1(self) -> bool:
        return self._scope.http_version[0] == "1"

    async def _wait_for_disconnect(self) -> Message:
        """Waits until the client has disconnected, or the response was sent."""
        if not self._is_finished:
            loop = asyncio.get_running_loop()
            if self._finish_waiter is None:
                self._finish_waiter = loop.create_future()
            watch = self._watcher or loop.create_task(self._wait_for_client())
            try:
                await asyncio.wait(
                    {watch, self._finish_waiter}, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                if watch is not self._watcher:
                    watch.cancel()
        return _DISCONNECT.copy()

    async def _wait_for_client(self) -> None:
        await self._protocol.client_disconnect()

    def finish(self) -> None:
        """Ends reading and waiting for the client, since the response was sent."""
        self._is_finished = True
        if self._watcher is not None:
            self._watcher.cancel()
        if self._body is not None:
            self._body.end()
        if self._finish_waiter is not None and not self._finish_waiter.done():
            self._finish_waiter.set_result(None)
