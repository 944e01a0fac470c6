# SPDX-License-Identifier: MIT
"""Times apps of several frameworks in one process, in turn, round by round.

That is for work of which a framework is a small part: in processes of their own, two copies of the
same app differ by more than frameworks do here. The time is processor time of the process, so that
what a database takes, and the wait for it, is left out.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import math
import statistics
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .in_process import ratios
from .peers import KIT
from .rows import SCOPE, Message, Request, Row, WrongAnswerError
from .tables import Table
from .worker import ANSWER_LIMIT_S, Exchange, Lifespan, prepared, send_all

WARM_UP_REQUESTS = 40
WARM_UP_SHARE = 5
"""Before each turn there are so many times fewer requests that are not timed."""


@dataclass(frozen=True)
class Answered:
    """What an app sent.

    Attributes:
        request: What it was asked.
        status: The status.
        headers: The header lines, with names in lower case.
        body: The body.
    """

    request: Request
    status: int
    headers: dict[bytes, bytes]
    body: bytes


@dataclass(frozen=True)
class Case:
    """A line of the table, and how its answers are verified.

    Attributes:
        row: Makes the requests; of their answers, only the status counts here.
        verify: Gets a function that asks the app. Raises WrongAnswerError, or another error,
            unless the answers are right.
    """

    row: Row
    verify: Callable[[Callable[[], Awaitable[Answered]]], Awaitable[None]]


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


@dataclass
class _Turn:
    """An app with a row: how many requests it gets, and what they took."""

    app: Any
    row: Row
    taken: list[float]
    count: int = 1


def event_loop() -> asyncio.AbstractEventLoop:
    """A loop of uvloop, as uvicorn has it; asyncio's own where uvloop is not installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def measure(
    apps: Mapping[str, Any], cases: Sequence[Case], rounds: int, slot_s: float
) -> Figures:
    """Starts the apps, verifies every answer, then times round by round.

    Args:
        apps: By framework.
        cases: The rows.
        rounds: How many turns each app has in each row.
        slot_s: About how long a turn is, in seconds of processor time.
    """
    figures = Figures(rounds, {case.row.name: {} for case in cases})
    lifespans: list[Lifespan] = []
    started: dict[str, Any] = {}
    for name, app in apps.items():
        lifespan = Lifespan(app)
        try:
            await lifespan.start()
        except Exception as error:
            figures.left_out.append(f"{name}: {error!r}")
        else:
            started[name] = app
            lifespans.append(lifespan)
    try:
        turns = await _verified(started, cases, figures)
        if rounds:
            await _set_counts(turns, slot_s)
        gc.collect()
        gc.freeze()
        for number in range(rounds):
            for of_row in turns:
                # Each round begins with another app, and each second one goes the other way round.
                first = number // 2 % max(1, len(of_row))
                order = of_row[first:] + of_row[:first]
                for turn in order if number % 2 else reversed(order):
                    turn.taken.append(await _timed(turn))
    finally:
        gc.unfreeze()
        for lifespan in lifespans:
            await lifespan.stop()
    return figures


async def _verified(
    apps: Mapping[str, Any], cases: Sequence[Case], figures: Figures
) -> list[list[_Turn]]:
    """The turns of each row, of the apps that answer it right."""
    turns = []
    for case in cases:
        row, of_row = case.row, []
        for name, app in apps.items():
            requests = row.requests()
            try:
                await case.verify(partial(_ask_next, app, requests))
            except Exception as error:
                figures.left_out.append(f"{row.name}, {name}: {error!r}")
            else:
                taken = figures.seconds[row.name].setdefault(name, [])
                of_row.append(_Turn(app, row, taken))
        turns.append(of_row)
    return turns


async def _set_counts(turns: list[list[_Turn]], slot_s: float) -> None:
    """Warms the apps up, and says how many requests make a turn.

    It is the same number for all apps of a row, so that each has as much of the work that is not
    the framework's.
    """
    for of_row in turns:
        for turn in of_row:
            await _each_s(turn, WARM_UP_REQUESTS)
        each_s = [await _each_s(turn, WARM_UP_REQUESTS) for turn in of_row]
        for turn in of_row:
            turn.count = max(1, round(slot_s / max(statistics.median(each_s), 1e-9)))


async def _ask_next(app: Any, requests: Iterator[Request]) -> Answered:
    answered = await asyncio.wait_for(_ask(app, next(requests)), ANSWER_LIMIT_S)
    if int(answered.headers.get(b"content-length", len(answered.body))) != len(answered.body):
        raise WrongAnswerError("content-length is not that of the body")
    return answered


async def _ask(app: Any, request: Request) -> Answered:
    exchange = Exchange(request.events)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)
        await exchange.send(message)

    await app(SCOPE | request.scope(), exchange.receive, send)
    if not sent or sent[-1].get("more_body", False):
        raise WrongAnswerError(f"the response has no end: {sent!r:.200}")
    headers = {bytes(name).lower(): bytes(value) for name, value in sent[0]["headers"]}
    body = b"".join([message.get("body", b"") for message in sent[1:]])
    status = sent[0]["status"]
    if status != request.answer.status:
        raise WrongAnswerError(f"{status} {body!r:.300}, expected {request.answer.status}")
    return Answered(request, status, headers, body)


async def _timed(turn: _Turn) -> float:
    # What isn't timed is looked at: an app that has begun to fail would be a fast one.
    warming = math.ceil(turn.count / WARM_UP_SHARE)
    for request in itertools.islice(turn.row.requests(), warming):
        await _ask(turn.app, request)
    return await _each_s(turn, turn.count)


async def _each_s(turn: _Turn, count: int) -> float:
    requests = prepared(turn.row, turn.row.requests(), count)
    gc.collect(0)
    return await send_all(turn.app, requests) / count


@dataclass(frozen=True)
class Lead:
    """A row of Kit and the fastest peer, which is the one with the lowest median ratio.

    Attributes:
        ratio: The peer's time as a multiple of Kit's, median of the rounds.
        low: The lower end of the 95 % interval of that median.
        high: Its upper end.
        won: The share of rounds in which Kit was faster.
    """

    row: str
    peer: str
    ratio: float
    low: float
    high: float
    won: float

    @property
    def is_met(self) -> bool:
        """Whether Kit is ahead, by more than chance."""
        return self.low > 1


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a median, by ranks, so the values may be spread in any way.

    Of fewer than 6 values it is the lowest and the highest, which say less.
    """
    ordered = sorted(values)
    reach = 1.96 * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + reach))
    return ordered[low], ordered[high]


def leads(figures: Figures) -> list[Lead]:
    """Kit beside the fastest peer of each row."""
    found = []
    for row, by_name in figures.seconds.items():
        kit = by_name.get(KIT)
        each = {
            name: ratios(taken, kit)
            for name, taken in by_name.items()
            if kit and taken and name != KIT
        }
        if each:
            peer = min(each, key=lambda name: statistics.median(each[name]))
            values = each[peer]
            won = sum(ratio > 1 for ratio in values) / len(values)
            found.append(Lead(row, peer, statistics.median(values), *interval(values), won))
    return found


def tables(figures: Figures) -> list[Table]:
    """Medians, and Kit beside the fastest peer."""
    names = list(dict.fromkeys(name for row in figures.seconds.values() for name in row))
    others = [name for name in names if name != KIT]
    rounds = f"median of {figures.rounds} rounds"
    medians = Table(f"processor time as a multiple of Kit's, {rounds}", ["kit, µs", *others])
    for row, by_name in figures.seconds.items():
        kit = by_name.get(KIT)
        if kit:
            cells = [
                f"{statistics.median(ratios(by_name[name], kit)):.3f}" if by_name.get(name) else "-"
                for name in others
            ]
            medians.add(row, f"{statistics.median(kit) * 1e6:,.1f}", *cells)
    fastest = Table(
        "Kit and the fastest peer: its time as a multiple of Kit's",
        ["peer", "median", "95 % interval", "rounds won", "ahead"],
    )
    for lead in leads(figures):
        span = f"{lead.low:.3f} to {lead.high:.3f}"
        cells = [f"{lead.ratio:.3f}", span, f"{lead.won:.0%}", "yes" if lead.is_met else "no"]
        fastest.add(lead.row, lead.peer, *cells)
    return [medians, fastest]
