# SPDX-License-Identifier: MIT
"""What each middleware costs on a text route, beside the same one of Starlette and Litestar.

The cost is the time of a request behind the middleware, less that behind a middleware that does
nothing, both of the same framework, in interleaved turns of one process. A request that the
middleware answers alone has no such counterpart: its cost is the time of the whole request.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from .asking import ask, seconds_each
from .middleware import rows
from .middleware_content import rows as rows_of_content
from .middleware_telemetry import rows as rows_of_telemetry
from .sample_request import SampleRequest
from .tables import Table

WARM_UP_REQUESTS = 50
ROWS = (*rows(), *rows_of_content(), *rows_of_telemetry())


@dataclass
class Figures:
    """What was measured.

    Attributes:
        rounds: How many.
        cost_s: By row and framework: seconds that the middleware adds to a request, or that the
            whole request takes, by round.
        left_out: What was left out, and why.
    """

    rounds: int
    cost_s: dict[str, dict[str, list[float]]]
    left_out: list[str] = field(default_factory=list)

    def median_s(self, row: str, framework: str) -> float | None:
        """The median cost of a middleware, in seconds; None if it was not measured."""
        costs = self.cost_s[row].get(framework)
        return statistics.median(costs) if costs else None


def measure(rounds: int, slot_s: float) -> Figures:
    """Verifies every answer, then times round by round.

    Args:
        rounds: How many times each app has its turn.
        slot_s: About how long a turn is, in seconds.
    """
    loop = asyncio.new_event_loop()
    figures = Figures(rounds, {row.name: {} for row in ROWS})
    turns = []
    for row in ROWS:
        for framework, make in row.frameworks.items():
            try:
                pair = [(app, row.asked) for app in (make()[:1] if row.whole else make())]
                each_s = max(loop.run_until_complete(_verified(*each)) for each in pair)
            except Exception as error:
                figures.left_out.append(f"{row.name}, {framework}: {error!r}")
                continue
            costs = figures.cost_s[row.name].setdefault(framework, [])
            turns.append((costs, pair, max(1, round(slot_s / each_s))))
    gc.collect()
    gc.freeze()
    for number in range(rounds):
        for costs, pair, count in turns:
            # The order changes, so that neither is always the one that finds warm caches.
            taken = [0.0, 0.0]
            for each in range(len(pair)) if number % 2 else reversed(range(len(pair))):
                taken[each] = loop.run_until_complete(_timed(*pair[each], count))
            costs.append(taken[0] - taken[1])
    loop.close()
    return figures


async def _verified(app: Any, asked: SampleRequest) -> float:
    """Checks the answer, and returns about how many seconds a request takes."""
    status, body = await ask(app, asked.scope, asked.sent)
    if asked.status not in (None, status) or asked.body not in (None, body):
        raise AssertionError(f"answered {status} {body[:60]!r}")
    await _timed(app, asked, WARM_UP_REQUESTS)
    return await _timed(app, asked, WARM_UP_REQUESTS)


async def _timed(app: Any, asked: SampleRequest, count: int) -> float:
    return await seconds_each(app, asked.scope, asked.sent, count, time.perf_counter)


def tables(figures: Figures) -> list[Table]:
    """Microseconds by row and framework."""
    names = list(dict.fromkeys(name for row in ROWS for name in row.frameworks))
    adds = Table("what a middleware adds to a request, beside one that does nothing, µs", names)
    takes = Table("what a request takes that a middleware answers alone, µs", names)
    for row in ROWS:
        medians = [_microseconds(figures.median_s(row.name, name)) for name in names]
        (takes if row.whole else adds).add(row.name, *medians)
    return [adds, takes]


def _microseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:.2f}"
