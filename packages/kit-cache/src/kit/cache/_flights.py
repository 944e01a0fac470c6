# SPDX-License-Identifier: MIT
"""Requests for one key at the same time: one runs the handlers, the others wait for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from ._entries import Entry, Key

# How many keys are remembered whose responses can't be stored.
_MOST_UNSTORED = 4096


class Flight:
    """A request that runs the handlers.

    Attributes:
        entry: What it stored.
        stored_under: The key of that, which is for the values of its headers.
        ended: Whether there was a response, rather than that it was cancelled.
    """

    __slots__ = ("_event", "_over", "ended", "entry", "stored_under")

    def __init__(self) -> None:
        self.entry: Entry | None = None
        self.stored_under: Key | None = None
        self.ended = False
        self._over = False
        self._event: Any = None

    async def wait(self) -> None:
        """Waits until it is over."""
        if self._over:
            return
        if self._event is None:  # PERF: made only when there is something to wait
            from anyio import Event

            self._event = Event()
        await self._event.wait()

    def finish(self) -> None:
        """Ends the waiting."""
        self._over = True
        if self._event is not None:
            self._event.set()


class Flights:
    """The requests under way."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, Flight] = {}
        self._unstored: OrderedDict[Hashable, None] = OrderedDict()

    def under_way(self, key: Hashable) -> Flight | None:
        """Returns the request to wait for, if there is one and it is worth it."""
        return None if key in self._unstored else self._flights.get(key)

    def begin(self, key: Hashable) -> Flight:
        """Begins a request."""
        flight = Flight()
        self._flights[key] = flight
        return flight

    def end(self, key: Hashable, flight: Flight) -> None:
        """Ends a request, and remembers whether the next ones should wait for each other."""
        if self._flights.get(key) is flight:
            del self._flights[key]
        if flight.entry is not None:
            self._unstored.pop(key, None)
        elif flight.ended:
            self._unstored[key] = None
            if len(self._unstored) > _MOST_UNSTORED:
                self._unstored.popitem(last=False)
        flight.finish()
