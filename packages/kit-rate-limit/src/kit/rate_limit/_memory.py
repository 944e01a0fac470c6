# SPDX-License-Identifier: MIT
"""Counters in the memory of one process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Any

from kit.authoring.options import OptionChecks

from ._limits import Limit
from ._stores import RateLimitState, Strategy, WindowState
from ._windows import FixedWindow, SlidingWindow, Window

__all__ = ("MemoryStore",)

_logger = logging.getLogger("kit")


class MemoryStore:
    """Keeps counters in the memory of one process, until it exits.

    Each worker and each server counts separately, so a client gets the limit from each of them.
    With several, use `RedisStore`.

    Expired counters are removed while others are used. For each limit, the store keeps at most
    `max_keys` counters. Beyond that, it forgets the least recently used ones, and logs a warning.
    Clients that choose their keys could clear a counter that way: limit them by address as well.

    Args:
        max_keys: How many clients are counted at the same time, for each limit; at least 2. A
            counter takes about 250 bytes, or up to 2 KB for a sliding window.
        clock: Function that returns the time in seconds, which must never go back. For tests.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `max_keys` is less than 2.
    """

    def __init__(self, *, max_keys: int = 200_000, clock: Callable[[], float] = monotonic) -> None:
        check = OptionChecks("MemoryStore")
        self._half = check.number("max_keys", max_keys, least=2) // 2
        self._clock: Callable[[], float] = check.clock("clock", clock)
        self._tables: dict[tuple[str, Strategy, int], _Table] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        """Returns the number of stored counters, including expired ones."""
        return sum(map(len, self._tables.values()))

    def counter(
        self, name: str, limits: tuple[Limit, ...], strategy: Strategy, /
    ) -> Callable[[str, int], RateLimitState]:
        """Returns the function that counts requests for a limiter, see `Store`."""
        clock = self._clock
        kind = FixedWindow if strategy == "fixed" else SlidingWindow
        pairs: list[tuple[Window, _Table]] = []
        for limit in limits:
            window: Window = kind(limit)
            place = (name, strategy, limit.seconds)
            table = self._tables.setdefault(place, _Table(self._half, window))
            pairs.append((window, table))

        lock = self._lock

        def count(key: str, cost: int) -> RateLimitState:
            # Event loops in several threads may share the store.
            with lock:
                return count_alone(key, cost)

        def count_alone(key: str, cost: int) -> RateLimitState:
            now = int(clock() * 1000)
            found = [(window, table.state(key, now)) for window, table in pairs]
            waits = [window.wait_ms(state, cost, now) for window, state in found]
            wait = max(waits)
            if not wait and cost:
                for window, state in found:
                    window.add(state, cost, now)
            windows = [
                WindowState(
                    window.limit,
                    # Another limiter with the same name may allow more.
                    max(window.limit.amount - window.used(state), 0),
                    window.reset_ms(state, now) / 1000,
                    each > 0,
                )
                for (window, state), each in zip(found, waits, strict=True)
            ]
            return RateLimitState(not wait, tuple(windows), wait / 1000)

        return count


class _Table:
    """The states of the keys of one window, in two generations.

    A state in use moves to the young generation. When that generation is full, or is as old as a
    state can get, it becomes the old one, and the former old one is dropped, since nothing in it
    has been used. So there is no need to search for expired states.
    """

    __slots__ = ("_fresh", "_half", "_is_short", "_life_ms", "_old", "_rotates_at", "_young")

    def __init__(self, half: int, window: Window) -> None:
        self._half = half
        self._fresh = window.fresh
        self._life_ms = window.life_ms
        self._young: dict[str, list[Any]] = {}
        self._old: dict[str, list[Any]] = {}
        self._rotates_at = 0
        self._is_short = False

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def state(self, key: str, now: int) -> list[Any]:
        """Returns the state of a key, for changes in place."""
        state = self._young.get(key)
        if state is not None:
            return state
        state = self._old.pop(key, None)
        if now >= self._rotates_at or len(self._young) >= self._half:
            if now < self._rotates_at and self._old and not self._is_short:
                self._is_short = True
                _logger.warning(
                    "Rate limit: MemoryStore(max_keys=%d) is too small: it may forget "
                    "clients before their windows end",
                    self._half * 2,
                )
            self._old, self._young = self._young, {}
            self._rotates_at = now + self._life_ms
        if state is None:
            state = self._fresh()
        self._young[key] = state
        return state
