# SPDX-License-Identifier: MIT
"""`kit shell`: the names it has, code that awaits, and how it ends."""

from __future__ import annotations

import asyncio
import copy
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

LIMIT_S = 30.0
APP = """
import asyncio
from contextlib import asynccontextmanager

from kit import Kit

loops = []


@asynccontextmanager
async def lifespan(app):
    loops.append(asyncio.get_running_loop())
    print("started")
    yield {"books": ["Dune"]}
    print("stopped")


app = Kit(lifespan=lifespan)
app.get("/books", lambda c: c.json(c.env["books"]))
app.post("/books", lambda c: c.text("made", 201))
app.get("/nothing", lambda c: c.body(None, 204))


@app.get("/loop")
async def same_loop(c):
    return c.json(asyncio.get_running_loop() is loops[-1])
"""


@pytest.fixture(autouse=True)
def shop(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("KIT_APP", raising=False)
    (folder / "app.py").write_text(APP)
    return folder


@pytest.fixture(params=[True, False], ids=["with kit-testing", "without"])
def has_testing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:
        monkeypatch.setitem(sys.modules, "kit.testing", None)
    return bool(request.param)


def shell(*arguments: str, typed: str = "") -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["shell", *arguments], input=typed)
    return result.exit_code, result.stdout, result.stderr


def test_code_has_the_app_and_the_names_of_its_module(has_testing: bool) -> None:
    code, said, noted = shell(
        "-c",
        "response = request('/books')\n"
        "print(response.status, response.json(), response)\n"
        "print(request('/books', method='POST', json={}).text(), request('/nothing'))\n"
        "print(lifespan.__name__, len(app.routes), 'client' in globals())\n"
        "print(request('/absent').status, response.headers.get('content-type'))\n",
    )
    assert (code, noted) == (0, "")
    assert said == (
        "started\n"
        "200 ['Dune'] <200 application/json: '[\"Dune\"]'>\n"
        "made <204>\n"
        f"lifespan 4 {has_testing}\n"
        "404 application/json\n"
        "stopped\n"
    )


def test_what_awaits_runs_in_the_event_loop_of_the_lifespan(has_testing: bool) -> None:
    code, said, noted = shell(
        typed=(
            "print(asyncio.get_running_loop() is loops[-1], await asyncio.sleep(0, 7))\n"
            "async def double(x):\n"
            "    return x * 2\n"
            "for each in range(2):\n"
            "    print(await double(each))\n"
            "print(request('/loop').json(), (await app.request('/loop')).status)\n"
        )
    )
    assert code == 1
    assert said == "started\nTrue 7\n0\n2\nstopped\n"
    assert noted.splitlines()[:2] == [
        "Traceback (most recent call last):",
        '  File "<stdin>", line 6, in <module>',
    ]
    assert noted.splitlines()[-1] == (
        "RuntimeError: request() can't be called in a statement that awaits: use `await "
        "app.request(...)`"
    )
    assert shell("-c", "print(request('/loop').json())")[1] == "started\nTrue\nstopped\n"


def test_client_is_that_of_kit_testing() -> None:
    code, said, _ = shell("-c", "print(client.books.get().json(), client.loop.get().json())")
    assert (code, said) == (0, "started\n['Dune'] True\nstopped\n")


@pytest.mark.parametrize(
    ("source", "code", "last"),
    [
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("await asyncio.sleep(0, 1 / 0)", 1, "ZeroDivisionError: division by zero"),
        ("a = (", 1, "SyntaxError: '(' was never closed"),
        ("raise SystemExit(7)", 7, ""),
    ],
)
def test_exit_code(source: str, code: int, last: str, has_testing: bool) -> None:
    got, said, noted = shell("-c", source)
    assert (got, said) == (code, "started\nstopped\n")
    assert (noted.splitlines() or [""])[-1] == last
    assert "kit/dev" not in noted


@pytest.mark.parametrize(
    ("before", "after", "last"),
    [
        ("1 / 0", "", "ZeroDivisionError: division by zero"),
        ("", "raise OSError('x')", "OSError: x"),
    ],
)
def test_lifespan_that_fails(
    before: str, after: str, last: str, has_testing: bool, shop: Path
) -> None:
    text = APP.replace('    print("started")', f"    {before}").replace(
        '    print("stopped")', f"    {after}"
    )
    (shop / "app.py").write_text(text)
    code, _, noted = shell("-c", "pass")
    assert (code, noted.splitlines()[-1]) == (1, last)
    assert "app.py" in noted.splitlines()[1]


def test_app_that_is_not_there() -> None:
    code, _, noted = shell("nope.py", "-c", "1")
    assert code == 1
    assert noted.startswith("Error: There is no app at 'nope.py'")


def test_ipython_is_used_if_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    class Config:
        def __init__(self) -> None:
            self.InteractiveShell = SimpleNamespace()
            self.TerminalInteractiveShell = SimpleNamespace()

    def start_ipython(*, argv: list[str], user_ns: dict[str, Any], config: Any) -> None:
        async def typed() -> bool:
            return asyncio.get_running_loop() is user_ns["loops"][-1]

        copied = copy.deepcopy(config.InteractiveShell)  # as IPython does it
        seen.update(argv=argv, awaited=copied.loop_runner(typed()))
        seen["banner"] = config.TerminalInteractiveShell.banner1

    module: Any = ModuleType("IPython")
    module.start_ipython = start_ipython
    traitlets: Any = ModuleType("traitlets.config")
    traitlets.Config = Config
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "traitlets.config", traitlets)
    monkeypatch.setattr("kit.dev._commands.shell._is_interactive", lambda: True)
    assert shell()[0] == 0
    assert (seen["argv"], seen["awaited"]) == ([], True)
    assert re.fullmatch(
        r'Python \S+ with app\.py: app, client, request\("/path"\), and await\. Ctrl-D ends it\.'
        "\n\n",
        seen["banner"],
    )


@pytest.mark.parametrize("has_readline", [True, False])
def test_console(has_readline: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kit.dev._commands.shell._is_interactive", lambda: True)
    monkeypatch.setitem(sys.modules, "IPython", None)
    if not has_readline:
        monkeypatch.setitem(sys.modules, "readline", None)
    code, said, noted = shell(
        typed=(
            "request('/books').json()\n"
            "x = await asyncio.sleep(0, 7)\n"
            "def double(x):\n    return 2 * x\n\n"
            "double(x)\n"
            "raise KeyboardInterrupt\n"
            "await asyncio.sleep(0, xyzzyx)\n"
            "exit(3)\n"
        )
    )
    assert code == 3
    shown = said.replace(">>> ", "").replace("... ", "").split("\n")
    assert [line for line in shown if line] == ["started", "['Dune']", "14", "stopped"]
    assert "\nKeyboardInterrupt\n" in noted
    assert noted.endswith(
        "Traceback (most recent call last):\n"
        '  File "<console>", line 1, in <module>\n'
        "NameError: name 'xyzzyx' is not defined\n"
    )


class Terminal:
    """`kit shell` on a terminal of its own."""

    def __init__(self, folder: Path) -> None:
        self._own, other = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            # Without the IPython of this environment, if there is one.
            [
                sys.executable,
                "-c",
                "import sys; sys.modules['IPython'] = None; from kit.dev.cli import main; main()",
                "shell",
            ],
            stdin=other,
            stdout=other,
            stderr=other,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        os.close(other)

    def read_until(self, end: str) -> str:
        said = ""
        limit = time.monotonic() + LIMIT_S
        while not said.endswith(end):
            ready, _, _ = select.select([self._own], [], [], max(0.0, limit - time.monotonic()))
            if not ready:
                pytest.fail(f"no {end!r} in {said!r}")
            said += os.read(self._own, 4096).decode().replace("\r\n", "\n")
        return said.removesuffix(end)

    def type(self, line: str) -> str:
        """Types a line; returns what is printed before the next prompt."""
        os.write(self._own, f"{line}\n".encode())
        return self.read_until(">>> ").partition("\n")[2]

    def write(self, text: str) -> None:
        os.write(self._own, text.encode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._own)


@pytest.mark.once
def test_on_a_terminal(shop: Path, request: pytest.FixtureRequest) -> None:
    terminal = Terminal(shop)
    request.addfinalizer(terminal.close)
    banner = terminal.read_until(">>> ")
    assert 'app.py: app, client, request("/path"), and await. Ctrl-D ends it.' in banner
    assert terminal.type("request('/books')") == "<200 application/json: '[\"Dune\"]'>\n"
    assert terminal.type("x = await asyncio.sleep(0, 7)") == ""
    assert terminal.type("x, client.loop.get().json()") == "(7, True)\n"
    assert terminal.type("1 / 0").splitlines()[-1] == "ZeroDivisionError: division by zero"
    said = terminal.type("await asyncio.sleep(0, nope)").splitlines()
    assert said[1:] == ['  File "<console>", line 1, in <module>', said[-1]]
    terminal.write("print('waiting') or await asyncio.sleep(1000)\n")
    terminal.read_until("waiting\n")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert "KeyboardInterrupt" in terminal.read_until(">>> ")
    terminal.write("\x04")
    terminal.read_until("stopped\n")
    assert terminal.process.wait(LIMIT_S) == 0
