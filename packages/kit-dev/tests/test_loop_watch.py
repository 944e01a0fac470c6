# SPDX-License-Identifier: MIT
"""What holds the event loop is told by its name, and nothing else is.

Most tests look at set times, from another thread while a handler waits for it: what they find does
not depend on how busy the machine is.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.dev._loop_watch import LoopWatch, names_by_code
from kit.interface import Next

HERE = Path(__file__)
LIMIT_S = 30.0


class Watched:
    """A watch that looks when it is told to, and its warnings."""

    def __init__(self, app: Kit, folder: Path = Path("/nowhere")) -> None:
        self.warnings: list[str] = []
        self.watch = LoopWatch(app.routes, folder, self.warnings.append)

    def look(self, *times: float, cpu: float = 0.0) -> None:
        """Looks from another thread, at these times in seconds, and waits for it."""

        def work() -> None:
            for now in times:
                self.watch.look(now, cpu)

        with ThreadPoolExecutor(1) as threads:
            threads.submit(work).result()


def look_at(watched: list[Watched]) -> bool:
    """Holds the loop, as it seems to the watch, for 200 ms."""
    watched[0].look(0.0, 0.1, 0.2)
    return True


@pytest.fixture
def watched() -> list[Watched]:
    """The watch of the test, once there is one: handlers are made before it."""
    return []


async def ask(app: Kit, watched: list[Watched], path: str = "/", **options: Path) -> list[str]:
    """Watches an app while it answers, and once more when it has: gives the warnings."""
    watched.append(Watched(app, **options))
    await app.request(path)
    watched[0].look(0.2)
    return watched[0].warnings


async def around(c: Context, next: Next) -> None:
    await next()


def line_of(text: str) -> int:
    return next(i for i, line in enumerate(HERE.read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize("is_async", [False, True])
async def test_handler_is_named(
    is_async: bool, watched: list[Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE.parent)

    def plain(c: Context) -> Response:
        look_at(watched)
        return c.text("x")

    async def waiting(c: Context) -> Response:
        await asyncio.sleep(0)
        look_at(watched)
        return c.text("x")

    app = Kit().use(around).get("/", waiting if is_async else plain)
    (warning,) = await ask(app, watched, folder=HERE.parent)
    where = f"test_loop_watch.py:{line_of('threads.' + 'submit')}"
    assert warning == (
        f"Warning: {'waiting' if is_async else 'plain'} held the event loop for 200 ms ({where}). "
        "Nothing else is answered meanwhile: await what takes time, or put kit.in_thread() around "
        "it"
    )


async def test_middleware_is_named(watched: list[Watched]) -> None:
    async def holding(c: Context, next: Next) -> None:
        look_at(watched)
        await next()

    (warning,) = await ask(Kit().use(around).use(holding).get("/", lambda c: c.text("")), watched)
    assert warning.startswith("Warning: holding held")


async def test_lambda_is_told_by_its_route(watched: list[Watched]) -> None:
    app = Kit().get("/x/:id", lambda c: c.text("x" * look_at(watched)))
    (warning,) = await ask(app, watched, "/x/1")
    assert warning.startswith("Warning: The handler of GET /x/:id held")


async def test_task_is_told_by_its_function() -> None:
    watched = Watched(Kit(), HERE.parent)

    async def send_mail() -> None:
        watched.look(0.0, 0.2)

    await asyncio.create_task(send_mail())
    watched.look(0.2)
    (warning,) = watched.warnings
    assert re.match(r"Warning: [\w.<>]*send_mail held the event loop for 200 ms", warning)


async def test_what_lets_others_in_is_not_told(watched: list[Watched]) -> None:
    async def in_parts(c: Context) -> Response:
        for start in (0.0, 0.04, 0.08, 0.12, 0.16):
            watched[0].look(start)
            await asyncio.sleep(0)
        return c.text("x")

    assert await ask(Kit().get("/", in_parts), watched) == []


async def test_many_short_ones_are_not_told(watched: list[Watched]) -> None:
    """Together they keep the loop busy, but each lets go of it at once."""
    times = iter(range(100))

    def short(c: Context) -> Response:
        watched[0].look(next(times) / 100)
        return c.text("x")

    app = Kit().get("/", short)
    watched.append(Watched(app))
    await asyncio.gather(*(app.request("/") for _ in range(100)))
    assert watched[0].warnings == []


@pytest.mark.parametrize(("was_at_work_s", "count"), [(0.3, 1), (0.01, 0)])
async def test_time_without_a_look_counts_if_the_process_was_at_work(
    was_at_work_s: float, count: int, watched: list[Watched]
) -> None:
    """C code can keep the watch from looking; so does a machine that is busy with others."""

    def match(c: Context) -> Response:
        watched[0].look(1.3, cpu=5 + was_at_work_s)
        return c.text("x")

    app = Kit().get("/", match)
    watched.append(Watched(app))
    watched[0].look(1.0, cpu=5)
    await app.request("/")
    watched[0].look(1.31, cpu=5.31)
    assert [each.partition(" (")[0] for each in watched[0].warnings] == [
        "Warning: match held the event loop for 310 ms"
    ] * count


async def test_imports_and_debuggers_are_excused(
    watched: list[Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_to_import.py").write_text("import builtins\nbuiltins.look_now()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("builtins.look_now", lambda: look_at(watched), raising=False)
    space: dict[str, Any] = {"look_at": look_at, "watched": watched}
    exec(compile("def interact(): look_at(watched)", "/lib/python/pdb.py", "exec"), space)

    def imports(c: Context) -> Response:
        importlib.import_module("slow_to_import")
        space["interact"]()
        return c.text("x")

    assert await ask(Kit().get("/", imports), watched) == []


async def test_no_handler_is_told_of_again_and_again(watched: list[Watched]) -> None:
    starts = iter((0.0, 1.0, 2.0, 10.0))

    def hold(c: Context) -> Response:
        start = next(starts)
        watched[0].look(start, start + 0.1)
        return c.text("x")

    app = Kit().get("/", hold)
    watched.append(Watched(app))
    for _ in range(4):
        await app.request("/")
        await asyncio.sleep(0)
    watched[0].look(10.1)
    assert len(watched[0].warnings) == 2


async def test_long_one_is_told_before_its_end(watched: list[Watched]) -> None:
    told = []

    def endless(c: Context) -> Response:
        watched[0].look(0.0, 0.9)
        told.extend(watched[0].warnings)
        watched[0].look(1.1, 1.2)
        told.extend(watched[0].warnings)
        return c.text("x")

    assert await ask(Kit().get("/", endless), watched) == told
    (warning,) = told
    assert "endless has held the event loop for a second, and still does (" in warning


# With a clock ---------------------------------------------------------------------------------


def sleeps(c: Context) -> Response:
    time.sleep(0.15)
    return c.text("x")


def matches(c: Context) -> Response:
    re.match(r"(a+)+$", "a" * 23 + "b")  # keeps the interpreter's lock all the while
    return c.text("x")


@pytest.mark.parametrize("handler", [sleeps, matches])
async def test_watch_runs_in_a_thread(handler: Callable[[Context], Response]) -> None:
    app = Kit().get("/", handler)
    warnings: list[str] = []
    watch = LoopWatch(app.routes, HERE.parent, warnings.append)
    watch.start()
    end = time.monotonic() + LIMIT_S
    while not warnings and time.monotonic() < end:
        await asyncio.sleep(0.05)
        await app.request("/")
    assert re.match(rf"Warning: {handler.__name__} held the event loop for \d+ ms", warnings[0])


def test_watch_ends_with_its_loop() -> None:
    async def start() -> LoopWatch:
        watch = Watched(Kit()).watch
        watch.start()
        return watch

    watch = asyncio.run(start())
    watch.join(LIMIT_S)
    assert not watch.is_alive()


def test_code_that_handlers_share_has_no_name() -> None:
    def wrap(handler: Any) -> Any:
        @functools.wraps(handler)
        async def wrapper(c: Context) -> Any:
            return await handler(c)

        return wrapper

    app = Kit().get("/a", wrap(sleeps)).get("/b", wrap(matches)).get("/c", sleeps)
    names = names_by_code(app.routes)
    assert sorted(names.values()) == ["matches", "sleeps"]
    assert names[sleeps.__code__] == "sleeps"
    assert wrap(sleeps).__code__ not in names
