# SPDX-License-Identifier: MIT
"""The options of a server, as they were given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ("Identify", "Settings")

# Any, not Context, so that it may be typed on the context of kit-core as well.
Identify: TypeAlias = Callable[[Any], Awaitable[str | None] | str | None]
"""Returns who is calling: `def identify(c)`, plain or async; None for anonymous callers."""


@dataclass(frozen=True)
class Settings:
    """The options of `mcp`, checked; see there."""

    name: str
    version: str
    instructions: str | None
    operations: frozenset[str]
    tags: frozenset[str]
    forward_cookies: bool
    timeout: float
    max_result_size: int
    stateless: bool
    json_response: bool
    identify: Identify | None
    max_sessions: int
    session_idle_timeout: float
