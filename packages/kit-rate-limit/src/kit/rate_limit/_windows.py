# SPDX-License-Identifier: MIT
"""The arithmetic of the two strategies, for counters in memory. Times are whole milliseconds."""

from __future__ import annotations

from typing import Any, Protocol

from ._limits import Limit

__all__ = ("SLICES", "FixedWindow", "SlidingWindow", "Window")

SLICES = 10
"""The number of slices in a sliding window."""


class Window(Protocol):
    """One limit of a strategy; the state of a key is a list that only the window interprets.

    Attributes:
        limit: The limit.
        life_ms: How long a state is valid after its last change.
    """

    limit: Limit
    life_ms: int

    def fresh(self) -> list[Any]:
        """Returns the initial state of a key."""

    def wait_ms(self, state: list[Any], cost: int, now: int) -> int:
        """Updates a state, and returns the time until the cost fits: 0 if it fits now."""

    def add(self, state: list[Any], cost: int, now: int) -> None:
        """Adds the cost to an up-to-date state."""

    def used(self, state: list[Any]) -> int:
        """Returns the amount used in an up-to-date state."""

    def reset_ms(self, state: list[Any], now: int) -> int:
        """Returns the time until more quota is available, for an up-to-date state."""


class FixedWindow:
    """A window that starts with a client's first request, or the first after the last window.

    The state is its end and the amount used.
    """

    __slots__ = ("_amount", "life_ms", "limit")

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._amount = limit.amount
        self.life_ms = limit.seconds * 1000

    def fresh(self) -> list[int]:
        return [0, 0]

    def wait_ms(self, state: list[int], cost: int, now: int) -> int:
        end, used = state
        if now >= end:
            state[1] = used = 0
            end = now + self.life_ms
        return 0 if used + cost <= self._amount else end - now

    def add(self, state: list[int], cost: int, now: int) -> None:
        if now >= state[0]:
            state[0] = now + self.life_ms
        state[1] += cost

    def used(self, state: list[int]) -> int:
        return state[1]

    def reset_ms(self, state: list[int], now: int) -> int:
        return state[0] - now if state[1] else 0


class SlidingWindow:
    """A window that ends now, and moves in slices of a tenth of its length.

    A slice counts until it has passed completely, so no period of the window's length ever exceeds
    the limit. Quota is available again after the length of the window, or up to a slice later.

    The state is the amount used, followed by a pair for each slice that counts, oldest first: its
    number and the amount used in it.
    """

    __slots__ = ("_amount", "_slice_ms", "life_ms", "limit")

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._amount = limit.amount
        self._slice_ms = limit.seconds * 1000 // SLICES
        self.life_ms = self._slice_ms * (SLICES + 1)

    def fresh(self) -> list[Any]:
        return [0]

    def wait_ms(self, state: list[Any], cost: int, now: int) -> int:
        oldest = now // self._slice_ms - SLICES
        while len(state) > 1 and state[1][0] < oldest:
            state[0] -= state.pop(1)[1]
        left = state[0] + cost
        if left <= self._amount:
            return 0
        for number, used in state[1:]:
            left -= used
            if left <= self._amount:
                return self._gone_ms(number) - now
        return self.limit.seconds * 1000  # it costs more than the limit

    def add(self, state: list[Any], cost: int, now: int) -> None:
        number = now // self._slice_ms
        state[0] += cost
        if len(state) > 1 and state[-1][0] == number:
            state[-1][1] += cost
        else:
            state.append([number, cost])

    def used(self, state: list[Any]) -> int:
        return int(state[0])

    def reset_ms(self, state: list[Any], now: int) -> int:
        return self._gone_ms(state[1][0]) - now if len(state) > 1 else 0

    def _gone_ms(self, number: int) -> int:
        """Returns when a slice stops counting."""
        return int((number + SLICES + 1) * self._slice_ms)
