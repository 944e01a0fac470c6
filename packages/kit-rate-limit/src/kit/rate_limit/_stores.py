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
"""How the windows move: see `rate_limit`."""


class WindowState(NamedTuple):
    """What a client has left of one limit.

    Attributes:
        limit: The limit.
        remaining: How much is left, at least 0.
        reset: Seconds until there is more; 0.0 if nothing was used.
        exceeded: Whether this limit refuses the request.
    """

    limit: Limit
    remaining: int
    reset: float
    exceeded: bool


class RateLimitState(NamedTuple):
    """What was decided about a request, and what its client has left.

    Attributes:
        allowed: Whether the request is within all limits, and so was counted.
        windows: One state for each limit, in the order of the limits.
        retry_after: Seconds until a request of the same cost would be allowed, if no other came
            before; 0.0 if this one is allowed.
    """

    allowed: bool
    windows: tuple[WindowState, ...]
    retry_after: float

    @property
    def remaining(self) -> int:
        """How much is left of the limit that has the least left."""
        return min(window.remaining for window in self.windows)


class RateLimitStoreError(Exception):
    """A store failed or can't be reached, so that it is unknown how much a client has left."""


Count: TypeAlias = Callable[[str, int], RateLimitState | Awaitable[RateLimitState]]
"""Counts a request: `def count(key, cost)`, plain or async.

It adds the cost to all windows of the key, or to none if one of them has less left. This is atomic:
no other request comes in between. A cost of 0 only asks for the state. If the store can't count,
it raises `RateLimitStoreError`.

Keys have 1 to 72 printable ASCII characters, without blanks. Those of addresses begin with `@`; a
key that a function returned is replaced by a hash if it is longer, or has other characters.
"""


class Store(Protocol):
    """Keeps the counters of limiters. `MemoryStore` and `RedisStore` are stores."""

    def counter(self, name: str, limits: tuple[Limit, ...], strategy: Strategy, /) -> Count:
        """Returns the function that counts the requests of a limiter.

        Args:
            name: Name of the limiter. Limiters of the same name share the counters of windows that
                are equally long and move by the same strategy; other limiters share none.
            limits: Its limits.
            strategy: How their windows move.

        Returns:
            The function, which is called for each request.
        """
