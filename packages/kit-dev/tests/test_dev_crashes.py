# SPDX-License-Identifier: MIT
"""`kit dev` answers whatever happened to the app: a crash, or a start that failed."""

from __future__ import annotations

import http.client
import json
import re
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

# Processes, which behave alike on each interpreter.
pytestmark = pytest.mark.once

APP = """
import ctypes, os, signal
from kit import Kit

app = Kit()
app.get("/", lambda c: c.text("fine"))

@app.get("/exit")
async def leave(c):
    os._exit(7)

def read_nothing():
    ctypes.string_at(0)

@app.get("/read")
def read(c):
    read_nothing()

@app.get("/kill")
async def kill(c):
    os.kill(os.getpid(), signal.SIGKILL)

@app.get("/fork")
async def fork(c):
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(told, b"!")
        signal.pause()
        os._exit(1)
    os.read(ready, 1)
    os.kill(child, signal.SIGTERM)
    return c.text(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))

@app.get("/raise")
async def leave_by_exception(c):
    raise SystemExit(5)
"""
LIFESPAN = """
from contextlib import asynccontextmanager
from kit import Kit

def connect():
    raise OSError("no <database>")

@asynccontextmanager
async def life(app):
    connect()
    yield

app = Kit(lifespan=life)
"""
AGAIN = "The app was started again: the next request gets its response.\n"


@pytest.fixture(scope="module")
def process(kit_in: Callable[..., Any]) -> Any:
    return kit_in({"app.py": APP}, "dev", "--port", "0")


def change(process: Any, text: str) -> None:
    """Changes the app, and waits until that is noticed."""
    before = len(process.lines)
    Path(process.folder, "app.py").write_text(text)
    process.wait_for(r"^Reloading: app.py changed$", before)
    process.wait_for(r"^(Reloaded in|Waiting for a change)", before)


def ask(process: Any, accept: str) -> tuple[str, str]:
    """The media type and body of an answer with status 500."""
    with closing(http.client.HTTPConnection("")) as connection:
        connection.sock = process.connect()
        connection.request("GET", "/", headers={"accept": accept})
        response = connection.getresponse()
        assert response.status == 500
        return response.headers["content-type"], response.read().decode()


@pytest.mark.parametrize(
    ("path", "ending"), [("/exit", "exit code 7"), ("/kill", "SIGKILL"), ("/read", "SIGSEGV")]
)
def test_a_crash_is_told_once_and_the_app_started_again(
    path: str, ending: str, process: Any
) -> None:
    assert process.get() == "fine"
    before = len(process.lines)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        process.ask(path)
    # A browser asks for its icon by itself.
    assert process.ask("/favicon.ico")[0] == 404
    status, text = process.ask("/")
    assert status == 500
    assert text.startswith(f"The app crashed: {ending}, while it answered GET {path}\n")
    assert text.endswith(AGAIN)
    if path == "/read":
        file = process.folder / "app.py"
        assert re.search(
            "\nFatal Python error: Segmentation fault\nMost recent call first:\n(  File .*\n)*"
            rf'  File "{file}", line 13 in read_nothing\n  File "{file}", line 17 in read\n',
            text,
        )
    assert process.ask("/") == (200, "fine")
    process.wait_for(rf"^Error: The app crashed: {ending}, while it answered GET {path}$", before)
    process.wait_for(r"^Started again in \d+\.\d\d s$", before)


def test_an_exception_that_ends_programs_ends_no_server(process: Any) -> None:
    before = len(process.lines)
    assert process.ask("/raise")[0] == 500
    process.wait_for(r"^SystemExit: 5$", before)
    shown = "".join(process.lines[before:])
    assert re.findall(r'^  File ".*/([^/]+)", line', shown, re.MULTILINE) == ["app.py"]
    assert process.get() == "fine"


def test_sigterm_ends_what_the_app_forks(process: Any) -> None:
    assert process.ask("/fork") == (200, str(-signal.SIGTERM))


def test_a_crash_at_the_start_is_told_until_a_change(process: Any) -> None:
    change(process, "import os\nos._exit(9)\n")
    reason = "The app crashed: exit code 9, while it started"
    waits = "Kit waits for a change of the code, and then starts the app again."
    for _ in range(2):
        assert process.ask("/") == (500, f"{reason}\n{waits}\n")
    change(process, APP)
    assert process.get() == "fine"


def test_a_lifespan_that_fails_is_told_from_the_user_s_code_on(process: Any) -> None:
    before = len(process.lines)
    change(process, LIFESPAN)
    file = process.folder / "app.py"
    kind, text = ask(process, "*/*")
    assert kind == "text/plain; charset=utf-8"
    assert text.startswith(
        f'The app did not start\nTraceback (most recent call last):\n  File "{file}", line 10, in '
    )
    assert text.endswith(
        "OSError: no <database>\n"
        "Kit waits for a change of the code, and then loads the app again.\n"
    )
    kind, text = ask(process, "application/json")
    assert kind == "application/problem+json"
    told = json.loads(text)
    assert (told["title"], told["status"]) == ("The app did not start", 500)
    assert told["traceback"][-1] == "OSError: no <database>"
    kind, text = ask(process, "text/html,*/*;q=0.8")
    assert kind == "text/html; charset=utf-8"
    assert "<h1>The app did not start</h1>" in text
    assert "OSError: no &lt;database&gt;</pre>" in text
    assert "__kit_dev/reload.js" in text
    shown = "".join(process.lines[before:])
    assert shown.count("OSError: no <database>") == 1
    files = re.findall(r'^  File ".*/([^/]+)", line', shown, re.MULTILINE)
    assert files == ["app.py", "app.py"]
    change(process, LIFESPAN.replace("OSError(", "SystemExit("))
    assert "SystemExit: no <database>" in ask(process, "text/plain")[1]
    change(process, APP)
    assert process.get() == "fine"
