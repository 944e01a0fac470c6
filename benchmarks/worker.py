# SPDX-License-Identifier: MIT
"""The process of one peer: answers requests in process, and times that, when it is told to.

    python -m benchmarks.worker PEER

It reads a JSON object a line from its input, `{"do": ..., ...}`, and writes one for each:
`{"ok": ...}` or `{"error": ...}`.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeAlias

from . import origins, peers, processor, rows
from .rows import SCOPE, AppKey, Message, Request, Row, WrongAnswerError

ANSWER_LIMIT_S = 30
_WARM_UP_S = 0.003
_MOST_REQUESTS = 4000
_FEWEST_REQUESTS = 3
_MEASURED_BATCH = 500


class Exchange:
    """The channels of one request: gives its events, and at the end of the response a disconnect.

    The client never leaves before.
    """

    __slots__ = ("_at", "_end", "_events", "_is_over")

    def __init__(self, events: Sequence[Message]) -> None:
        self._events = events
        self._at = 0
        self._is_over = False
        self._end: asyncio.Future[None] | None = None

    async def receive(self) -> Message:
        at = self._at
        if at < len(self._events):
            self._at = at + 1
            return self._events[at]
        if not self._is_over:
            self._end = asyncio.get_running_loop().create_future()
            await self._end
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message.get("more_body", False):
            return
        if message["type"] == "http.response.body":
            self._is_over = True
            if self._end is not None and not self._end.done():
                self._end.set_result(None)


async def drop(message: Message) -> None:
    """The channel to a server that takes everything at once."""


Prepared: TypeAlias = tuple[Message, Callable[[], Awaitable[Message]], Callable[..., Any]]


def prepared(requests: Iterator[Request], count: int, tells_end: bool = False) -> list[Prepared]:
    """Scope and channels of so many requests.

    Args:
        requests: Which ones.
        count: How many.
        tells_end: Whether an app is told when its response is complete, as it may wait for that.
    """
    made: list[Prepared] = []
    for request in itertools.islice(requests, count):
        exchange = Exchange(request.events)
        made.append((request.scope(), exchange.receive, exchange.send if tells_end else drop))
    return made


async def send_all(app: Any, requests: list[Prepared], at_once: int = 1) -> float:
    """Sends requests, and gives the seconds of processor time that all took, in all threads.

    The scope is put together within that time, as a server does it for each request. In process
    nothing waits, so it is the time on the clock, without what the machine does in between.

    Args:
        app: Answers them.
        requests: Scopes and channels.
        at_once: How many are under way at the same time; each has a task then, as on a server.
    """
    shared = SCOPE
    began = time.process_time()
    if at_once == 1:
        for scope, receive, send in requests:
            await app(shared | scope, receive, send)
    else:
        for first in range(0, len(requests), at_once):
            some = requests[first : first + at_once]
            await asyncio.gather(*[app(shared | scope, *channels) for scope, *channels in some])
    return time.process_time() - began


class Lifespan:
    """The server's side of the lifespan protocol; apps that don't know it are left alone."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._answered = asyncio.Event()
        self._messages = asyncio.Queue[Message]()
        self._failure = ""
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run())
        await self._tell("lifespan.startup")

    async def stop(self) -> None:
        await self._tell("lifespan.shutdown")
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _tell(self, what: str) -> None:
        self._answered.clear()
        self._messages.put_nowait({"type": what})
        if self._task is not None and self._task.done():
            return
        await asyncio.wait_for(self._answered.wait(), ANSWER_LIMIT_S)
        if self._failure:
            raise WrongAnswerError(f"{what} failed: {self._failure}")

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": SCOPE["asgi"], "state": {}}
        try:
            await self._app(scope, self._messages.get, self._send)
        finally:
            self._answered.set()

    async def _send(self, message: Message) -> None:
        if message["type"].endswith(".failed"):
            self._failure = message.get("message") or "no reason given"
        self._answered.set()


class PassThroughCount:
    """Counts the functions called `pass_through`, and the classes `PassThrough`, that run."""

    def __init__(self) -> None:
        self._frames: set[Any] = set()

    def __enter__(self) -> PassThroughCount:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: Any, event: str, _: Any) -> None:
        name = frame.f_code.co_qualname
        if event == "call" and ("pass_through" in name or "PassThrough" in name):
            self._frames.add(frame)

    @property
    def count(self) -> int:
        return len(self._frames)


class Worker:
    """Does what the commands say; each public method is one."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        peers.load(name)
        self._name = name
        self._waits_for_end = name in peers.WAITING_FOR_END
        self._apps: dict[AppKey, Any] = {}
        self._lifespans: list[Lifespan] = []

    def build(self, app: str, count: int) -> float:
        """Makes an app, starts it, and gives the seconds that took."""
        began = time.perf_counter()
        made = peers.make(self._name, (app, count))
        lifespan = Lifespan(made)
        self._loop.run_until_complete(lifespan.start())
        self._lifespans.append(lifespan)
        self._apps[app, count] = made
        return time.perf_counter() - began

    def verify(self, row: str) -> float:
        """Checks a few answers of a row, and gives about how many seconds one takes."""
        return self._verify(rows.ROWS[row])

    def time(self, row: str, slot_s: float, each_s: float) -> float:
        """Seconds per request of a row, over a slot of about so many seconds."""
        return self._time(rows.ROWS[row], slot_s, each_s)

    def verify_special(self, kind: str, app: str, count: int, argument: Any) -> float:
        """Does what `verify` does for a request of `growth.py`."""
        return self._verify(special_row(kind, (app, count), argument))

    def time_special(
        self, kind: str, app: str, count: int, argument: Any, slot_s: float, each_s: float
    ) -> float:
        """Does what `time` does for a request of `growth.py`."""
        return self._time(special_row(kind, (app, count), argument), slot_s, each_s)

    def send(self, name: str, count: int) -> None:
        """Sends so many requests of a row, a batch at a time."""
        row = rows.ROWS[name]
        requests = row.requests()
        while count > 0:
            self._send(row, self._prepared(row, requests, min(count, _MEASURED_BATCH)))
            count -= _MEASURED_BATCH

    def check_origins(self, folder: str) -> int:
        """Checks where Kit was loaded from, see `origins.py`."""
        return origins.check_origins(folder)

    def resident_bytes(self) -> int:
        """Resident memory of this process, after a collection."""
        gc.collect()
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self) -> None:
        """Sends the apps the shutdown message of the lifespan."""
        for lifespan in self._lifespans:
            self._loop.run_until_complete(lifespan.stop())
        self._loop.close()

    def _app(self, key: AppKey) -> Any:
        if key not in self._apps:
            self.build(*key)
        return self._apps[key]

    def _verify(self, row: Row) -> float:
        app = self._app(row.app)
        for request in itertools.islice(row.requests(), 3):
            self._loop.run_until_complete(self._verify_answer(app, request))
        if row.app[0] == "middleware_app":
            with PassThroughCount() as passed:
                self._loop.run_until_complete(self._verify_answer(app, row.make(1)))
            if passed.count < row.app[1]:
                raise WrongAnswerError(f"{passed.count} middleware ran, not {row.app[1]}")
        # Quick ones get faster by and by; the second half tells.
        requests = row.requests()
        taken = [self._send(row, self._prepared(row, requests, 1)) for _ in range(6)]
        if max(taken) > _WARM_UP_S:
            return min(taken)
        self._send(row, self._prepared(row, requests, 50))
        return self._send(row, self._prepared(row, requests, 50)) / 50

    def _prepared(self, row: Row, requests: Iterator[Request], count: int) -> list[Prepared]:
        return prepared(requests, count, row.is_streamed or self._waits_for_end)

    def _send(self, row: Row, requests: list[Prepared]) -> float:
        return self._loop.run_until_complete(send_all(self._app(row.app), requests, row.at_once))

    async def _verify_answer(self, app: Any, request: Request) -> None:
        exchange = Exchange(request.events)
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)
            await exchange.send(message)

        answering = app(SCOPE | request.scope(), exchange.receive, send)
        await asyncio.wait_for(answering, ANSWER_LIMIT_S)
        rows.check(request, sent)

    def _time(self, row: Row, slot_s: float, each_s: float) -> float:
        requests = row.requests()
        count = max(_FEWEST_REQUESTS, min(_MOST_REQUESTS, int(slot_s / each_s)))
        count = -(-count // row.at_once) * row.at_once
        # Another process has had the processor since, and its caches.
        warming = self._prepared(row, requests, max(1, min(count, int(_WARM_UP_S / each_s))))
        timed = self._prepared(row, requests, count)
        gc.collect()
        gc.freeze()
        self._send(row, warming)
        return self._send(row, timed) / count


def special_row(kind: str, app: AppKey, argument: Any) -> Row:
    """A row that only `growth.py` has."""
    if kind == "path":
        return Row(kind, lambda value: rows.in_table(argument, value), ":id" in argument, app=app)
    if kind == "text":
        return Row(kind, rows.text, app=app)
    request = {"body": rows.body_of, "multipart": rows.upload_of}[kind](argument)
    return Row(kind, lambda _: request, app=app)


def main() -> None:
    """Answers commands until the input ends."""
    # What a framework prints must not get between the answers.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    peers.settle_allocator()
    processor.stay_on_one()
    worker: Worker | None = None
    for line in sys.stdin:
        command = json.loads(line)
        do = command.pop("do")
        try:
            if worker is None:
                worker = Worker(sys.argv[1])
            answer = {"ok": getattr(worker, do)(**command)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
            if not isinstance(error, WrongAnswerError):
                import traceback

                traceback.print_exc()
        replies.write(json.dumps(answer) + "\n")
    if worker is not None:
        worker.stop()


if __name__ == "__main__":
    main()
