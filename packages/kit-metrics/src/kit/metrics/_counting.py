# SPDX-License-Identifier: MIT
"""Counts requests that are streamed or cancelled, or have labels or exemplars of the app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

from kit.authoring.instrumentation import Observation, Outcome
from kit.interface import Context

from ._instruments import Exemplar, Place
from ._labels import ExtraLabels, build_exemplar

__all__ = ("Counting", "count")

# The status of a request cancelled before it had a response, as in nginx logs.
_CANCELLED = 499


class Counting:
    """A request that can't be counted on the fast path.

    Args:
        c: Its context.
        place: The group of requests that it belongs to.
        start: When it started.
        extra: The labels of the app.

    Attributes:
        c: The same.
        exemplar: Its exemplar, or None.
    """

    __slots__ = ("_extra", "_place", "_start", "c", "exemplar")

    def __init__(
        self, c: Context[Any, Any], place: Place, start: float, extra: ExtraLabels
    ) -> None:
        self.c = c
        self._place = place
        self._start = start
        self._extra = extra
        self.exemplar: Exemplar = None

    def end(self, status: int, size: int) -> Awaitable[None] | None:
        """Counts the request; with labels of the app, only when the result is awaited."""
        duration = perf_counter() - self._start
        if self._extra.names:
            return self._labelled(status, duration, size)
        self._place.end(self.c, status, duration, size, (), self.exemplar)
        return None

    async def _labelled(self, status: int, duration_s: float, size: int) -> None:
        labels = await self._extra.values(self.c)
        self._place.end(self.c, status, duration_s, size, labels, self.exemplar)

    def ended(self, outcome: Outcome) -> Awaitable[None] | None:
        """Counts a request that ended this way, like `end`."""
        return self.end(outcome.status or _CANCELLED, outcome.size_bytes)

    def cancelled(self, error: BaseException | None) -> Awaitable[None] | None:
        """Counts a cancelled request, like `end`."""
        return self.end(_CANCELLED, 0)


async def count(counting: Counting, find_exemplar: Callable[[Any], Any] | None) -> None:
    """Counts a request now if its body is in memory, otherwise after the body has been sent."""
    c = counting.c
    if find_exemplar is not None:
        # Now, since a streamed body is sent outside the span of the request.
        counting.exemplar = await build_exemplar(find_exemplar, c)
    labelling = None
    if c.finalized and not c.res.body_used and (progress := c.res.track_body()).is_complete:
        labelling = counting.end(c.res.status, 0 if c.req.method == "HEAD" else progress.size_bytes)
    else:
        Observation(c, counting.ended).responded()
    if labelling is not None:
        await labelling
