# SPDX-License-Identifier: MIT
"""`kit dev` names what holds the event loop, and nothing else.

All tests ask one app, by paths of their own, so that each handler is told of as if it were alone.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Processes, which behave alike on each interpreter.
pytestmark = pytest.mark.once

APP = """
import asyncio, functools, importlib, re, time
from pathlib import Path
from kit import Kit

HERE = Path(__file__).parent
app = Kit()

@app.use()
async def around(c, next):
    await next()

@app.get("/plain")
def plain(c):
    return time.sleep(0.2) or c.text("x")  # plain: whenever it is looked at

@app.get("/waiting")
async def waiting(c):
    await asyncio.sleep(0)
    return time.sleep(0.2) or c.text("x")  # waiting

@app.use("/middleware")
async def holding(c, next):
    time.sleep(0.2)
    await next()

app.get("/middleware", lambda c: c.text("x"))
app.get("/lambda/:id", lambda c: c.text(str(time.sleep(0.2))))

async def send_mail():
    time.sleep(0.2)

@app.get("/task")
async def starts_a_task(c):
    await asyncio.create_task(send_mail())
    return c.text("x")

@app.get("/matches")
def matches(c):
    re.match(r"(a+)+$", "a" * 23 + "b")  # keeps the interpreter's lock all the while
    return c.text("x")

@app.get("/in-parts")
async def in_parts(c):
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        await asyncio.sleep(0.001)
    return c.text("x")

@app.get("/imports")
def imports(c):
    importlib.import_module("slow_to_import")
    return c.text("x")

@app.get("/debugs")
def debugs(c):
    space = {"time": time}
    exec(compile("def interact(): time.sleep(0.2)", "/lib/python/pdb.py", "exec"), space)
    space["interact"]()
    return c.text("x")

@app.get("/again")
def again(c):
    time.sleep(0.2)
    return c.text("x")

@app.get("/endless")
def endless(c):
    while not (HERE / "free").exists():
        time.sleep(0.01)
    return c.text("x")

def wrap(handler):
    @functools.wraps(handler)
    async def wrapper(c):
        return handler(c)
    return wrapper

def wrapped(c):
    time.sleep(0.2)
    return c.text("x")

app.get("/wrapped", wrap(wrapped)).get("/other", wrap(lambda c: c.text("x")))
"""
# What is told of after a test's own handler: nothing more comes of that then.
MARKERS = 20
APP += "".join(
    f"""
@app.get("/marker/{number}")
def marker_{number}(c):
    time.sleep(0.2)
    return c.text("x")
"""
    for number in range(MARKERS)
)
ADVICE = (
    "Nothing else is answered meanwhile: await what takes time, or put kit.in_thread() around it"
)


@pytest.fixture(scope="module")
def app(kit_in: Callable[..., Any]) -> Any:
    """`kit dev`, which serves the app."""
    files = {"app.py": APP, "slow_to_import.py": "import time\ntime.sleep(0.2)\n"}
    process = kit_in(files, "dev", "--port", "0")
    process.address()
    return process


@pytest.fixture(scope="module")
def markers() -> list[int]:
    """Those that no test has asked for."""
    return list(range(MARKERS))


@pytest.fixture
def warnings_of(app: Any, markers: list[int]) -> Callable[..., list[str]]:
    """Asks for paths, and returns all warnings that come of it.

    A watch that gets no turn on a busy machine misses a handler. So those that have to be told of
    are asked again until they are; they are told of once all the same.
    """

    def ask_until_told(path: str, name: str, start: int) -> None:
        def is_told() -> bool:
            assert app.ask(path)[0] == 200
            return any(line.startswith(f"Warning: {name} ") for line in app.lines[start:])

        app.wait_until(is_told)

    def warnings_of(*paths: str, of: str | None = None) -> list[str]:
        start = len(app.lines)
        for path in paths:
            assert app.ask(path)[0] == 200
        if of is not None:
            ask_until_told(paths[0], of, start)
        number = markers.pop()
        ask_until_told(f"/marker/{number}", f"marker_{number}", start)
        lines = [line for line in app.lines[start:] if line.startswith("Warning: ")]
        return [line for line in lines if "marker" not in line]

    return warnings_of


def line_of(text: str) -> int:
    return next(i for i, line in enumerate(APP.splitlines(), 1) if text in line)


@pytest.mark.parametrize("name", ["plain", "waiting"])
def test_handler_is_named_with_the_line_that_holds(warnings_of: Any, name: str) -> None:
    (warning,) = warnings_of(f"/{name}", of=name)
    where = f"app.py:{line_of(f'# {name}')}"
    took = re.search(r"\d+", warning)
    assert took is not None
    assert warning == (
        f"Warning: {name} held the event loop for {took[0]} ms ({where}). {ADVICE}\n"
    )


def test_middleware_is_named(warnings_of: Any) -> None:
    (warning,) = warnings_of("/middleware", of="holding")
    assert warning.startswith("Warning: holding held the event loop for ")


def test_lambda_is_told_by_its_route(warnings_of: Any) -> None:
    (warning,) = warnings_of("/lambda/1", of="The handler of GET /lambda/:id")
    assert warning.startswith("Warning: The handler of GET /lambda/:id held the event loop for ")


def test_task_is_told_by_its_function(warnings_of: Any) -> None:
    (warning,) = warnings_of("/task", of="send_mail")
    assert warning.startswith("Warning: send_mail held the event loop for ")


def test_code_that_keeps_the_interpreter_from_looking_is_told(warnings_of: Any) -> None:
    (warning,) = warnings_of("/matches", of="matches")
    assert warning.startswith("Warning: matches held the event loop for ")


def test_code_that_handlers_share_is_told_by_the_handler(warnings_of: Any) -> None:
    (warning,) = warnings_of("/wrapped", of="wrapped")
    assert warning.startswith("Warning: wrapped held the event loop for ")


@pytest.mark.parametrize("path", ["/in-parts", "/imports", "/debugs"])
def test_what_lets_others_in_and_imports_and_debuggers_are_excused(
    warnings_of: Any, path: str
) -> None:
    assert warnings_of(path) == []


def test_no_handler_is_told_of_again_and_again(warnings_of: Any) -> None:
    (warning,) = warnings_of("/again", "/again", "/again", of="again")
    assert warning.startswith("Warning: again held the event loop for ")


def test_long_one_is_told_before_its_end(app: Any) -> None:
    asking = threading.Thread(target=app.ask, args=("/endless",))
    asking.start()
    try:
        told = app.wait_for(r"^Warning: endless (.*) \((.*)\)\. ")
        assert told[1] == "has held the event loop for a second, and still does"
        assert asking.is_alive()
    finally:
        Path(app.folder, "free").touch()
        asking.join(30)
    assert app.get("/in-parts") == "x"
    assert app.said.count("Warning: endless") == 1
