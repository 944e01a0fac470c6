# SPDX-License-Identifier: MIT
"""Bodies of responses that can be sent in another way than chunk by chunk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

__all__ = ("PathBody",)


class PathBody(Protocol):
    """A streamed body that is a whole file, which the server may open and send by its path.

    A server that offers the ASGI extension Path Send (`http.response.pathsend`) is given the path,
    and the body is closed unread. By all others, and by middleware that reads it, it is iterated.
    """

    @property
    def send_path(self) -> str | None:
        """The absolute path of the file; None if the body has to be iterated."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None:
        """Closes the file."""
