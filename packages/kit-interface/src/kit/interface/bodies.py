# SPDX-License-Identifier: MIT
"""Streamed bodies of responses: those that can be sent as files, and those that aren't sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

__all__ = ("PathBody", "close_body")


class PathBody(Protocol):
    """A streamed body that consists of a whole file, which the server may open by its path.

    Servers with the ASGI extension Path Send (`http.response.pathsend`) get the path, and the body
    is closed unread. Other servers, and middleware that reads the body, iterate over it.
    """

    @property
    def send_path(self) -> str | None:
        """The absolute path of the file; None if the body has to be iterated."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None:
        """Closes the file."""


async def close_body(body: Any) -> None:
    """Closes the body of a response that isn't sent, so that it can release what it has opened.

    Args:
        body: The body: bytes, a stream or None. One that has no `aclose` stays as it is.
    """
    aclose = getattr(body, "aclose", None)
    if aclose is not None:
        await aclose()
