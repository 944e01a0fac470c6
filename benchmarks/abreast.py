# SPDX-License-Identifier: MIT
"""Times apps of several frameworks in one process, in turn, round by round.

Use it where the framework takes a small part of the time: in separate processes, two copies of the
same app differ by more than the frameworks. It measures processor time, which excludes the time of
the database server and the wait for it.
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
"""Each turn starts with untimed requests, this many times fewer than the timed ones."""


@dataclass(frozen=True)
class Answered:
    """The response of an app.

    Attributes:
        request: The request.
        status: The status.
        headers: The headers, with names in lower case.
        body: The body.
    """

    request: Request
    status: int
    headers: dict[bytes, bytes]
    body: bytes


@dataclass(frozen=True)
class Case:
    """A row of the table, with the check of its answers.

    Attributes:
        row: Creates the requests; only the statuses of its answers are used here.
        verify: Takes a function that sends a request to the app. Raises an exception, such as
            WrongAnswerError, if an answer is wrong.
    """

    row: Row
    verify: Callable[[Callable[[], Awaitable[Answered]]], Awaitable[None]]


@dataclass
class Figures:
    """The measured times.

    Attributes:
        rounds: The number of rounds.
        seconds: Seconds per request in each round, by row and framework.
        left_out: The rows and apps that were left out, with the reasons.
    """

    rounds: int
    seconds: dict[str, dict[str, list[float]]]
    left_out: list[str] = field(default_factory=list)


@dataclass
class _Turn:
    """An app and a row: the number of requests per turn, and their times."""

    app: Any
    row: Row
    taken: list[float]
    count: int = 1


def event_loop() -> asyncio.AbstractEventLoop:
    """Returns uvloop's event loop, which uvicorn uses, or asyncio's if it isn't installed."""
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
        apps: The apps by framework.
        cases: The rows.
        rounds: The number of turns of each app in each row.
        slot_s: The approximate length of a turn, in seconds of processor time.
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
                # Each round starts with another app, and every second round reverses the order.
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
    """Returns the turns of each row, for the apps that answer it correctly."""
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
    """Warms the apps up, and sets the number of requests per turn.

    The number is the same for all apps of a row, so that they share the work of the database driver
    equally.
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
    # Checks the untimed answers: an app that starts to fail would seem fast.
    warming = math.ceil(turn.count / WARM_UP_SHARE)
    for request in itertools.islice(turn.row.requests(), warming):
        await _ask(turn.app, request)
    return await _each_s(turn, turn.count)


async def _each_s(turn: _Turn, count: int) -> float:
    requests = prepared(turn.row.requests(), count, turn.row.is_streamed)
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
        """Whether Kit is significantly ahead."""
        return self.low > 1


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Returns the 95 % interval of a median, by ranks, for values of any distribution.

    For fewer than 6 values it returns the lowest and the highest, which is less than 95 %.
    """
    ordered = sorted(values)
    reach = 1.96 * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + reach))
    return ordered[low], ordered[high]


def leads(figures: Figures) -> list[Lead]:
    """Compares Kit with the fastest peer of each row."""
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
    """Returns the tables of medians, and of Kit and the fastest peers."""
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
