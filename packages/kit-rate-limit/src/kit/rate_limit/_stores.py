# SPDX-License-Identifier: MIT
"""The contract between the middleware and its stores."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple, Protocol, TypeAlias

from ._limits import Limit

__all__ = (
    "Count",
    "RateLimitState",
    "RateLimitStoreError",
    "Store",
    "Strategy",
    "WindowState",
)

Strategy: TypeAlias = Literal["fixed", "sliding"]
"""How windows move: see `rate_limit`."""


class WindowState(NamedTuple):
    """The state of one limit for a client.

    Attributes:
        limit: The limit.
        remaining: The remaining quota, at least 0.
        reset: Seconds until more quota is available; 0.0 if nothing was used.
        exceeded: Whether this limit refuses the request.
    """

    limit: Limit
    remaining: int
    reset: float
    exceeded: bool


class RateLimitState(NamedTuple):
    """The decision about a request, and the remaining quota of its client.

    Attributes:
        allowed: Whether the request is within all limits, and was therefore counted.
        windows: One state for each limit, in the order of the limits.
        retry_after: Seconds until a request of the same cost would be allowed, if no other request
            came first; 0.0 if this one is allowed.
    """

    allowed: bool
    windows: tuple[WindowState, ...]
    retry_after: float

    @property
    def remaining(self) -> int:
        """The remaining quota of the limit with the least left."""
        return min(window.remaining for window in self.windows)


class RateLimitStoreError(Exception):
    """A store failed or can't be reached, so the remaining quota is unknown."""


Count: TypeAlias = Callable[[str, int], RateLimitState | Awaitable[RateLimitState]]
"""Counts a request: `def count(key, cost)`, plain or async.

It adds the cost to all windows of the key, or to none if one of them has less left. This is atomic:
no other request comes in between. A cost of 0 only reads the state. If the store can't count, it
raises `RateLimitStoreError`.

Keys have 1 to 72 printable ASCII characters, without spaces. Address keys begin with `@`; a key
returned by a function is replaced by a hash if it is longer, or has other characters.
"""


class Store(Protocol):
    """Keeps the counters of limiters. `MemoryStore` and `RedisStore` are stores."""

    def counter(self, name: str, limits: tuple[Limit, ...], strategy: Strategy, /) -> Count:
        """Returns the function that counts requests for a limiter.

        Args:
            name: Name of the limiter. Limiters with the same name share the counters of windows
                with the same length and strategy; other limiters share none.
            limits: Its limits.
            strategy: How their windows move.

        Returns:
            The function, which is called for each request.
        """
