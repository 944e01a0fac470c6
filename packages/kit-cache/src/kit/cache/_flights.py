# SPDX-License-Identifier: MIT
"""Concurrent requests for one key: one runs the handlers, the others wait for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

from ._entries import Entry, Key

# How many keys of unstorable responses are remembered.
_MOST_UNSTORED = 1024


# Whether others may be waiting for the current request. In that case it doesn't wait itself: if a
# handler calls its own app, or a cache is used twice, they would deadlock.
_leads: ContextVar[bool] = ContextVar("kit.cache.leads", default=False)


class Flight:
    """A request that runs the handlers.

    Args:
        key: The key for its response, as far as it is known.

    Attributes:
        key: The same.
        entry: The response that it stored.
        stored_under: The key of that response, for the values of its headers.
        is_outdated: Whether the key was purged since it started, so nothing may be stored.
        ended: Whether there was a response. False if the request was cancelled.
        is_unstorable: Whether that response, and so probably the next ones, can't be shared: it
            must not be stored, or is a stream.
    """

    __slots__ = (
        "__weakref__",
        "_event",
        "ended",
        "entry",
        "is_outdated",
        "is_unstorable",
        "key",
        "stored_under",
    )

    def __init__(self, key: Key) -> None:
        self.key = key
        self.entry: Entry | None = None
        self.stored_under: Key | None = None
        self.ended = False
        self.is_unstorable = False
        self.is_outdated = False
        self._event: Any = None

    async def wait(self) -> None:
        """Waits until the request has finished."""
        if self._event is None:  # PERF: created only when a request waits
            from anyio import Event

            self._event = Event()
        await self._event.wait()

    def finish(self) -> None:
        """Wakes the waiting requests."""
        if self._event is not None:
            self._event.set()


class Flights:
    """The requests in progress."""

    def __init__(self) -> None:
        self._flights: dict[Key, Flight] = {}
        # Includes those of streams, which finish before they are stored.
        self._all: WeakSet[Flight] = WeakSet()
        self._unstored: OrderedDict[Key, None] = OrderedDict()

    def under_way(self, key: Key) -> Flight | None:
        """Returns the request to wait for, if there is one and waiting is worthwhile."""
        return None if key in self._unstored or _leads.get() else self._flights.get(key)

    def is_unstored(self, key: Key) -> bool:
        """Returns whether the last response that is known for a key couldn't be shared."""
        return key in self._unstored

    @contextmanager
    def leading(self, key: Key) -> Iterator[Flight]:
        """Starts a request that others can wait for, and ends it on exit."""
        flight = self.begin(key)
        token = _leads.set(True)
        try:
            yield flight
        finally:
            _leads.reset(token)
            self.end(key, flight)

    def begin(self, key: Key, *, alone: bool = False) -> Flight:
        """Starts a request; unless it is `alone`, others can wait for it."""
        flight = Flight(key)
        self._all.add(flight)
        if not alone:
            self._flights[key] = flight
        return flight

    def outdate(self, cache: str, group: str | None = None) -> None:
        """Prevents requests in progress for a cache, or one of its groups, from being stored."""
        for flight in [*self._all]:
            key = flight.key
            if key.cache == cache and group in (None, key.group):
                flight.is_outdated = True
                if self._flights.get(key) is flight:
                    del self._flights[key]

    def end(self, key: Key, flight: Flight) -> None:
        """Ends a request, and records whether later requests should wait for each other."""
        if self._flights.get(key) is flight:
            del self._flights[key]
        if flight.entry is not None:
            self._unstored.pop(key, None)
        elif flight.is_unstorable:
            self._unstored[key] = None
            if len(self._unstored) > _MOST_UNSTORED:
                self._unstored.popitem(last=False)
        flight.finish()
