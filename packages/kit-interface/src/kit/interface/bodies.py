# SPDX-License-Identifier: MIT
"""Response bodies that can be sent in other ways than chunk by chunk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

__all__ = ("PathBody",)


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
