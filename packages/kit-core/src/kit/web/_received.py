# SPDX-License-Identifier: MIT
"""The body of a served request, as ASGI messages bring it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from kit.interface import HTTPException


class ClientDisconnectedError(Exception):
    """The client went away before its request was complete; there is nobody to answer."""


class ReceivedBody:
    """Reads a body from an ASGI server, in chunks or whole.

    SPEC: ASGI HTTP, "Request - receive event" and "Disconnect - receive event".

    Args:
        receive: The channel that gives the messages of the server.
    """

    __slots__ = ("_receive", "_waiting", "complete")

    def __init__(self, receive: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        self._receive = receive
        self._waiting: list[dict[str, Any]] = []
        self.complete = False

    async def read(self, most: int | None = None) -> bytes:
        """Reads all that is left.

        Args:
            most: How many bytes there may be; None for any number.

        Raises:
            HTTPException: 413 if there are more.
            ClientDisconnectedError: If the client goes away before the end.
        """
        chunks = []
        size = 0
        while not self.complete:
            chunk = await self._next()
            size += len(chunk)
            if most is not None and size > most:
                raise body_too_large(most)
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while not self.complete:
            chunk = await self._next()
            if chunk:
                yield chunk

    async def _next(self) -> bytes:
        message = self._waiting.pop() if self._waiting else await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError("The client went away before the body was complete")
        self.complete = not message.get("more_body", False)
        return message.get("body", b"")  # type: ignore[no-any-return]  # ASGI: bytes

    async def wait_for_disconnect(self) -> bool:
        """Waits until the client goes away.

        Returns:
            True when it has; False if that can't be told, because more of the body came, which is
            kept for who reads it.
        """
        while not self._waiting:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return True
            if message.get("body") or message.get("more_body"):
                self._waiting.append(message)
            else:
                self.complete = True
        return False


def body_too_large(most: int) -> HTTPException:
    """The answer to a body beyond `Limits.max_body_size_bytes`."""
    return HTTPException(413, f"The body is larger than {most} bytes")
