# SPDX-License-Identifier: MIT
"""Handles requests while the store fails."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Literal, TypeAlias

from kit.interface import HTTPException

from ._limits import Limit
from ._memory import MemoryStore
from ._stores import Count, RateLimitState, RateLimitStoreError, Strategy

__all__ = ("OnStoreError", "guarded")

OnStoreError: TypeAlias = Literal["refuse", "allow", "memory"]

_logger = logging.getLogger("kit")
_QUIET_S = 60.0


def guarded(
    count: Count, on_store_error: OnStoreError, limits: tuple[Limit, ...], strategy: Strategy
) -> Callable[[str, int], Awaitable[RateLimitState | None]]:
    """Returns a function that counts a request, and handles failures of the store.

    Its result is None if the request is allowed without being counted. If the request is refused,
    it raises an HTTPException.

    Args:
        count: The function of the store.
        on_store_error: What to do with a request that the store can't count.
        limits: The limits.
        strategy: How their windows move.
    """
    fallback = MemoryStore().counter("", limits, strategy)
    is_failing = False
    quiet_until = 0.0

    async def guarded(key: str, cost: int) -> RateLimitState | None:
        nonlocal is_failing, quiet_until
        try:
            state = count(key, cost)
            if not isinstance(state, RateLimitState):
                state = await state
        except RateLimitStoreError as error:
            # Once per outage, not for each failure of an overloaded store.
            if not is_failing and monotonic() >= quiet_until:
                is_failing = True
                quiet_until = monotonic() + _QUIET_S
                _logger.error(
                    "Rate limit: %s; until the store recovers, %s",
                    error,
                    _CONSEQUENCES[on_store_error],
                )
            if on_store_error == "refuse":
                raise HTTPException(503, "Service Unavailable") from error
            return fallback(key, cost) if on_store_error == "memory" else None
        if is_failing:
            is_failing = False
            _logger.info("Rate limit: the store has recovered")
        return state

    return guarded


_CONSEQUENCES = {
    "refuse": "requests are refused with 503",
    "allow": "requests are not limited",
    "memory": "each process counts on its own",
}
