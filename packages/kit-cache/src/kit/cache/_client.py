# SPDX-License-Identifier: MIT
"""Cache directives in requests (RFC 9111, section 5.2.1)."""

from __future__ import annotations

from collections.abc import Mapping

from ._control import seconds
from ._entries import Entry


def satisfies(
    headers: Mapping[str, str], entry: Entry, left: float, directives: Mapping[str, str | None]
) -> bool:
    """Returns whether a stored response is fresh enough for a client."""
    if "no-cache" in directives:
        return False
    if not directives and "no-cache" in headers.get("pragma", "").lower():
        return False
    max_age = seconds(directives, "max-age")
    if max_age is not None and entry.lifetime - left >= max_age:
        return False
    min_fresh = seconds(directives, "min-fresh")
    return min_fresh is None or left >= min_fresh


def accepts_stale(entry: Entry, staleness: float, directives: Mapping[str, str | None]) -> bool:
    """Returns whether a client accepts a response that is stale by `staleness` seconds."""
    if entry.must_revalidate or "max-stale" not in directives:
        return False
    if directives["max-stale"] is None:
        return True
    return staleness <= (seconds(directives, "max-stale") or 0)
