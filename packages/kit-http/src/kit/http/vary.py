# SPDX-License-Identifier: MIT
"""Vary: the request headers that a response depends on (RFC 9110, section 12.5.5)."""

from __future__ import annotations

from typing import Protocol

from .fields import list_members

__all__ = ("ResponseHeaders", "add_vary")


class ResponseHeaders(Protocol):
    """Headers that `add_vary` can change; names are case-insensitive."""

    def get(self, name: str, /) -> str | None:
        """Returns the values of a header joined with commas, or None."""

    def append(self, name: str, value: str, /) -> None:
        """Adds a header line."""

    def set(self, name: str, value: str, /) -> None:
        """Replaces all values of a header."""


def add_vary(headers: ResponseHeaders, *names: str) -> None:
    """Adds names to Vary, which lists the request headers that the response depends on.

    Args:
        headers: The headers of the response.
        *names: Names of request headers. Names that are already in Vary aren't repeated, and an
            existing `*` covers all of them.
    """
    value = headers.get("vary")
    if value is None:  # PERF: there are no names to compare with
        if names:
            headers.append("Vary", ", ".join(dict.fromkeys(names)))
        return
    present = {member.lower() for member in list_members(value)}
    if "*" in present:
        return
    new = [name for name in dict.fromkeys(names) if name.lower() not in present]
    if new:
        headers.set("Vary", ", ".join([value, *new] if value else new))
