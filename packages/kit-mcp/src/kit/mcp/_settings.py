# SPDX-License-Identifier: MIT
"""The options of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from kit.interface import AnyContext

__all__ = ("Identify", "Settings")

Identify: TypeAlias = Callable[[AnyContext], Awaitable[str | None] | str | None]
"""Returns the caller: `def identify(c)`, plain or async; None for anonymous callers."""


@dataclass(frozen=True)
class Settings:
    """The checked options of `mcp`, where they are documented."""

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
