# SPDX-License-Identifier: MIT
"""The Web-standard objects as far as middleware needs them.

Members are methods and read-only properties, never plain attributes: a plain attribute would make
a protocol invariant, and the core's own classes could not be passed where these are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeAlias

Bytes: TypeAlias = bytes
"""The type, where a method of the same name hides it."""


class Headers(Protocol):
    """Header names and values (WHATWG Fetch, section 2.2.2). Names compare without case."""

    def get(self, name: str) -> str | None:
        """Gives the values of `name` joined by `", "`, or None."""

    def get_all(self, name: str) -> list[str]:
        """Gives the values of `name`, one per header line."""

    def get_set_cookie(self) -> list[str]:
        """Gives the values of Set-Cookie, which are never joined."""

    def set(self, name: str, value: str) -> None:
        """Replaces all values of `name` with `value`."""

    def append(self, name: str, value: str) -> None:
        """Adds a header line."""

    def delete(self, name: str) -> None:
        """Removes all header lines of `name`."""

    def has(self, name: str) -> bool:
        """Whether there is a header `name`."""

    def items(self) -> Iterator[tuple[str, str]]:
        """Gives names and joined values, sorted by name; each Set-Cookie line apart."""

    def __contains__(self, name: object) -> bool: ...

    def __getitem__(self, name: str) -> str: ...

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...


class Request(Protocol):
    """The request as it came (WHATWG Fetch, section 5.3)."""

    @property
    def method(self) -> str:
        """HTTP method, upper case for the standard ones."""

    @property
    def url(self) -> str:
        """Absolute URL."""

    @property
    def headers(self) -> Headers:
        """The header lines."""

    @property
    def scope(self) -> Mapping[str, Any] | None:
        """The ASGI scope, or None for a request made in process."""


class Response(Protocol):
    """An answer (WHATWG Fetch, section 5.5)."""

    @property
    def status(self) -> int:
        """HTTP status code."""

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""

    @property
    def headers(self) -> Headers:
        """The header lines; changing them changes the response."""

    @property
    def body_used(self) -> bool:
        """Whether the body was read; it can be read once."""

    async def text(self) -> str:
        """Reads the body as text."""

    async def bytes(self) -> Bytes:
        """Reads the body."""
