# SPDX-License-Identifier: MIT
"""`kit dev` as a process: it reloads, shows what is wrong, recovers, warns, and ends at once."""

from __future__ import annotations

import contextlib
import http.client
import re
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

# Processes, which behave alike on each interpreter.
pytestmark = pytest.mark.once

APP = """
from kit import Kit

app = Kit()
app.get("/*", lambda c: c.text("first"))

@app.get("/shadowed")
def shadowed(c):
    return c.text("never")
"""


@pytest.fixture(autouse=True)
def app_file(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(APP)
    return tmp_path / "app.py"


def wait_for_answer(process: Any, expected: str, **options: int) -> tuple[int, str]:
    """What the app answers, once it answers that."""
    answer = (0, "")

    def is_there() -> bool:
        nonlocal answer
        # One that is accepted in the moment when the server ends gets no answer.
        with contextlib.suppress(http.client.HTTPException, ConnectionError):
            answer = process.ask(**options)
        return expected in answer[1]

    process.wait_until(is_there)
    return answer


def test_routes_and_address_are_shown(kit: Callable[..., Any]) -> None:
    process = kit("dev", "--port", "0")
    assert process.get() == "first"
    assert process.lines[:5] == [  # a line for the request may follow
        "METHOD  PATH       HANDLER\n",
        "GET     /*         [handler]\n",
        "GET     /shadowed  shadowed   never runs: GET /* ([handler]) answers before it\n",
        "\n",
        f"Serving app.py at {process.address()} (Ctrl-C ends it)\n",
    ]
    process.interrupt()
    assert process.end() == 0
    assert re.fullmatch(r"GET / 200 [\d.]+ ms\n", "".join(process.lines[5:]))


@pytest.mark.parametrize(
    ("target", "shown"), [("site", "site/main.py"), ("part/web.py:app", "part/web.py:app")]
)
def test_app_is_called_as_it_was_asked_for(
    target: str, shown: str, kit: Callable[..., Any], tmp_path: Path
) -> None:
    for file in ("site/main.py", "part/__init__.py", "part/web.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(APP)
    process = kit("dev", target, "--port", "0")
    process.wait_for(rf"^Serving {re.escape(shown)} at http://127\.0\.0\.1:\d+ \(Ctrl-C ends it\)$")
    process.interrupt()
    assert process.end() == 0


def test_reload_on_change(kit: Callable[..., Any], app_file: Path, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "words.py").write_text("word = 'one'\n")
    pages = tmp_path.parent / f"{tmp_path.name}-pages"
    pages.mkdir()
    (pages / "page.html").write_text("old")
    source = (
        "from pathlib import Path\nfrom kit import Kit\nfrom parts.words import word\n"
        f"page = Path({str(pages / 'page.html')!r}).read_text()\n"
        "app = Kit().get('/', lambda c: c.text('first ' + word + page))\n"
    )
    app_file.write_text(source)
    process = kit("dev", "--port", "0", "--watch", str(pages))
    assert process.get() == "first oneold"
    app_file.write_text(source.replace("first", "other"))  # of the same size
    wait_for_answer(process, "other oneold")
    (tmp_path / "notes.txt").write_text("x")  # neither Python nor named
    (tmp_path / "parts" / "words.py").write_text("word = 'two'\n")
    wait_for_answer(process, "other twoold")
    (pages / "page.html").write_text("new")
    wait_for_answer(process, "other twonew")
    assert process.said.count("METHOD") == 1  # the routes are those that were shown
    app_file.write_text(source + "app.get('/more', lambda c: c.text('more'))\n")
    process.wait_for(r"^GET     /more  \[handler\]$")
    process.wait_for(r"^Reloaded in \d+\.\d\d s$")
    assert [line for line in process.lines if line.startswith("Reloading")] == [
        "Reloading: app.py changed\n",
        "Reloading: parts/words.py changed\n",
        f"Reloading: {Path('..', pages.name, 'page.html')} changed\n",
        "Reloading: app.py changed\n",
    ]


def test_what_is_broken_is_shown_until_it_is_mended(
    kit: Callable[..., Any], app_file: Path
) -> None:
    app_file.write_text("1 / 0\n")
    process = kit("dev", "--port", str(port := free_port()))
    process.wait_for("^ZeroDivisionError: division by zero\nWaiting for a change$")
    before = len(process.lines)
    app_file.write_text("def broken(:\n")
    process.wait_for("^SyntaxError", before)
    process.wait_for("^Waiting for a change$", before)
    reason = (
        "app.py can't be loaded\n"
        f'  File "{app_file}", line 1\n'
        "    def broken(:\n"
        "               ^\n"
        "SyntaxError: invalid syntax\n"
    )
    assert process.lines[before:] == [
        "Reloading: app.py changed\n",
        *f"Error: {reason}".splitlines(keepends=True),
        "Waiting for a change\n",
    ]
    for method in ("GET", "POST"):  # clients are told as well
        status, text = process.ask("/", method, port=port)
        assert status == 500
        assert (
            text == f"{reason}Kit waits for a change of the code, and then loads the app again.\n"
        )
    app_file.write_text("from kit import Kit\nother = 1\n")
    wait_for_answer(process, "app.py has no app: expected a Kit called 'app'", port=port)
    app_file.write_text(APP)
    wait_for_answer(process, "first", port=port)
    process.wait_for("^METHOD")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_at_once(number: int, kit: Callable[..., Any], app_file: Path) -> None:
    app_file.write_text(
        "import asyncio\nfrom contextlib import asynccontextmanager\nfrom pathlib import Path\n"
        "from kit import Kit\n"
        "@asynccontextmanager\nasync def life(app):\n    yield\n"
        "    Path('down').write_text('down')\n"
        "app = Kit(lifespan=life)\n"
        "@app.get('/')\nasync def wait(c):\n"
        "    Path('begun').touch()\n    await asyncio.sleep(600)\n"
    )
    process = kit("dev", "--port", "0")
    with process.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        process.wait_until((app_file.parent / "begun").exists)
        process.interrupt() if number == signal.SIGINT else process.process.send_signal(number)
        assert process.end() == 0
    assert (app_file.parent / "down").read_text() == "down"
    assert "Traceback" not in process.said


def test_handler_that_never_ends_is_told_and_ended(kit: Callable[..., Any], app_file: Path) -> None:
    app_file.write_text(
        "import time\nfrom kit import Kit\napp = Kit()\n"
        "@app.get('/')\ndef spin(c):\n    while True:\n        time.sleep(0.01)\n"
    )
    process = kit("dev", "--port", "0")
    with process.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        process.wait_for(
            r"^Warning: spin has held the event loop for a second, and still does \(app.py:\d\)\. "
            r"Nothing else is answered meanwhile"
        )
        process.interrupt()
        assert process.end() == 0


def test_handlers_that_raise_or_hold_the_loop_are_shown(
    kit: Callable[..., Any], app_file: Path
) -> None:
    app_file.write_text(
        "import time\nfrom kit import Kit\napp = Kit()\n"
        "@app.use()\nasync def around(c, next):\n    await next()\n"
        "@app.get('/fails')\nasync def fails(c):\n    raise ValueError('no luck')\n"
        "@app.get('/slow')\nasync def slow(c):\n    time.sleep(0.2)\n    return c.text('x')\n"
    )
    process = kit("dev", "app:app", "--port", "0")
    assert process.ask("/fails")[0] == 500
    process.wait_for(
        r"^Exception in GET /fails\nTraceback \(most recent call last\):\n"
        rf'  File "{app_file}", line 9, in fails\n.*\n(?: +[~^]+\n)?ValueError: no luck$'
    )
    process.wait_until(lambda: process.get("/slow") and "Warning" in process.said)
    process.wait_for(
        r"^Warning: slow held the event loop for \d+ ms \(app.py:12\)\. Nothing else is answered "
        r"meanwhile: await what takes time, or put kit.in_thread\(\) around it$"
    )


def test_ctrl_c_while_a_worker_starts_is_not_for_the_worker(
    kit: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(tmp_path, "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "if '--multiprocessing-fork' in sys.orig_argv:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    process = kit("dev", "--port", "0")
    assert process.ask()[0] == 200
    assert "KeyboardInterrupt" not in process.said


def test_no_worker_outlives_a_killed_command(kit: Callable[..., Any]) -> None:
    process = kit("dev", "--port", "0")
    process.address()
    assert process.end(signal.SIGKILL) == -signal.SIGKILL

    def is_gone() -> bool:
        try:
            process.connect().close()
        except ConnectionRefusedError:
            return True
        return False

    process.wait_until(is_gone)


def test_what_is_wrong_from_the_start(kit: Callable[..., Any], folder: Path) -> None:
    process = kit("dev", "app:ap", "--port", "0")
    assert process.end() == 1
    assert process.said == "Error: app has no attribute 'ap'. Did you mean 'app'?\n"
    result = CliRunner().invoke(main, ["dev", "nothing.py"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: There is no app at 'nothing.py': looked for nothing.py")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = CliRunner().invoke(main, ["dev", "--port", str(port)])
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: Port {port} on 127.0.0.1 is taken")


@pytest.mark.parametrize("missing", ["uvicorn", "watchfiles"])
def test_without_the_extra_the_pip_command_is_named(
    missing: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    result = CliRunner().invoke(main, ["dev"])
    assert (result.exit_code, result.output) == (
        1,
        f"Error: kit dev needs {missing}, which is not installed: pip install 'kit-dev[serve]'\n",
    )


def test_debugger_can_read_what_is_typed(kit: Callable[..., Any], app_file: Path) -> None:
    app_file.write_text(
        "import sys\nfrom kit import Kit\n"
        "app = Kit().get('/', lambda c: c.text(sys.stdin.readline()))\n"
    )
    process = kit("dev", "--port", "0")
    process.process.stdin.write("continue\n")
    process.process.stdin.flush()
    assert process.get() == "continue\n"
