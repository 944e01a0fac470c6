# SPDX-License-Identifier: MIT
"""Times typed endpoints beside a handler written by hand and those of other frameworks.

All apps are in one process and have their turns round by round; figures are processor time of a
whole request, as a server would make it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from .asking import ask, seconds_each
from .in_process import median_ratio
from .peers import KIT
from .tables import Table
from .typed_apps import FRAMEWORKS, ROWS, Row
from .worker import Lifespan

WARM_UP_REQUESTS = 200


@dataclass
class Figures:
    """What was measured.

    Attributes:
        rounds: How many.
        seconds: By row and framework: seconds per request in each round.
        left_out: What was left out, and why.
    """

    rounds: int
    seconds: dict[str, dict[str, list[float]]]
    left_out: list[str] = field(default_factory=list)

    def ratio(self, row: str, framework: str, base: str = KIT) -> float | None:
        """The time of a framework as a multiple of another's; None if one was not measured."""
        by_name = self.seconds[row]
        if not (by_name.get(framework) and by_name.get(base)):
            return None
        return median_ratio(by_name[framework], by_name[base])


def measure(rounds: int, slot_s: float) -> Figures:
    """Verifies every answer, then times round by round.

    Args:
        rounds: How many times each app has its turn in each row.
        slot_s: About how long a turn is, in seconds.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_measure(rounds, slot_s))
    finally:
        loop.close()


async def _measure(rounds: int, slot_s: float) -> Figures:
    figures = Figures(rounds, {row.name: {} for row in ROWS})
    apps, lifespans = await _started(figures)
    turns = []
    for row in ROWS:
        for name, app in apps.items():
            if row.name not in FRAMEWORKS[name].rows:
                continue
            try:
                each_s = await _verified(app, row)
            except Exception as error:
                figures.left_out.append(f"{row.name}, {name}: {error!r}")
                continue
            taken = figures.seconds[row.name].setdefault(name, [])
            turns.append((taken, app, row, max(1, round(slot_s / each_s))))
    gc.collect()
    gc.freeze()
    for number in range(rounds):
        # The order changes, so that no app always follows the same one.
        for taken, app, row, count in turns if number % 2 else reversed(turns):
            taken.append(await _timed(app, row, count))
    for lifespan in lifespans:
        await lifespan.stop()
    return figures


async def _started(figures: Figures) -> tuple[dict[str, Any], list[Lifespan]]:
    """Makes the apps and starts them."""
    apps: dict[str, Any] = {}
    lifespans: list[Lifespan] = []
    for name, framework in FRAMEWORKS.items():
        try:
            app = framework.make()
            lifespan = Lifespan(app)
            await lifespan.start()
        except Exception as error:
            figures.left_out.append(f"{name}: {error!r}")
        else:
            apps[name] = app
            lifespans.append(lifespan)
    return apps, lifespans


async def _verified(app: Any, row: Row) -> float:
    """Checks the answer, and returns about how many seconds a request takes."""
    status, body = await ask(app, row.scope, row.sent)
    if status != 200 or json.loads(body) != row.answer:
        raise AssertionError(f"answered {status} {body[:100]!r}")
    await _timed(app, row, WARM_UP_REQUESTS)
    return await _timed(app, row, WARM_UP_REQUESTS)


async def _timed(app: Any, row: Row, count: int) -> float:
    return await seconds_each(app, row.scope, row.sent, count, time.process_time)


def tables(figures: Figures) -> list[Table]:
    """Microseconds of Kit, and multiples of that."""
    others = [name for name in FRAMEWORKS if name != KIT]
    title = f"time as a multiple of kit-typed's, median of {figures.rounds} rounds"
    table = Table(title, ["kit, µs", *others])
    for row in ROWS:
        own = figures.seconds[row.name].get(KIT)
        if own:
            ratios = [figures.ratio(row.name, name) for name in others]
            cells = ["-" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
            table.add(row.name, f"{statistics.median(own) * 1e6:.2f}", *cells)
    return [table]
