# SPDX-License-Identifier: MIT
"""`kit serve` as a process: it answers, it ends cleanly, and it says what is wrong."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from kit.dev.cli import main

LIMIT_S = 20.0
APP = """
from contextlib import asynccontextmanager
from pathlib import Path
from kit import Kit

notes = Path(__file__).parent / "notes"

def note(text):
    with notes.open("a") as file:
        file.write(text + "\\n")

@asynccontextmanager
async def lifespan(app):
    note("up")
    yield {"word": "hello"}
    note("down")

app = Kit(lifespan=lifespan)
app.get("/", lambda c: c.text(c.env["word"]))
"""


class Command:
    """A running `kit serve`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kit.dev.cli", "serve", *arguments],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            cwd=folder,
        )

    def address(self) -> str:
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.fullmatch(r"Serving (.+) at (http://\S+:\d+) \(Ctrl-C ends it\)\n", line)
        assert found, line + self.process.stderr.read()
        return found[2]

    def end(self, number: int | None = None) -> tuple[int, str]:
        """The exit code and what else was printed, after a signal if one is given."""
        if number is not None:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, said


@pytest.fixture
def kit_serve(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    (tmp_path / "app.py").write_text(APP)
    started: list[Command] = []

    def start(*arguments: str) -> Command:
        started.append(Command(tmp_path, *arguments))
        return started[-1]

    yield start
    for command in started:
        if command.process.poll() is None:
            command.process.kill()
        command.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("target", ["app:app", "app.py", "."])
def test_serves_and_ends(
    target: str, number: int, kit_serve: Callable[..., Command], tmp_path: Path
) -> None:
    command = kit_serve(target, "--port", "0")
    with httpx.Client(base_url=command.address()) as client:  # a connection is open at the end
        assert client.get("/").text == "hello"
        assert command.end(number) == (0, "")
    assert (tmp_path / "notes").read_text() == "up\ndown\n"


def test_request_in_flight_is_finished(kit_serve: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import asyncio\nfrom kit import Kit\napp = Kit()\n"
        "@app.get('/')\nasync def slow(c):\n"
        "    (__import__('pathlib').Path(__file__).parent / 'begun').touch()\n"
        "    await asyncio.sleep(1)\n    return c.text('done')\n"
    )
    command = kit_serve("slow.py", "--port", "0")
    host, port = command.address().removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=LIMIT_S) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        end = time.monotonic() + LIMIT_S
        while not (tmp_path / "begun").exists() and time.monotonic() < end:
            time.sleep(0.01)
        command.process.send_signal(signal.SIGINT)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    assert received.endswith(b"done")
    assert command.end() == (0, "")


def test_port_that_is_taken(kit_serve: Callable[..., Command], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, said = kit_serve("app:app", "--port", str(port)).end()
    assert code == 1
    assert said == (
        f"Error: Port {port} on 127.0.0.1 is taken: another program listens there. "
        f"Pick another with --port, e.g. --port {port + 1}, or --port 0 for any free one\n"
    )
    assert not (tmp_path / "notes").exists()  # the app was never started


def test_startup_that_fails(kit_serve: Callable[..., Command], tmp_path: Path) -> None:
    text = APP.replace('note("up")', 'raise RuntimeError("no database")')
    (tmp_path / "app.py").write_text(text)
    code, said = kit_serve("app:app", "--port", "0").end()
    assert code == 3
    assert said.count("RuntimeError: no database") == 1
    assert "Serving" not in said


def test_address_that_is_not_of_this_machine(kit_serve: Callable[..., Command]) -> None:
    code, said = kit_serve("app:app", "--host", "no.such.host.invalid", "--port", "0").end()
    assert code == 1
    assert said.startswith("Error: Can't listen on no.such.host.invalid:0: ")
    assert "Traceback" not in said


def test_mistakes_are_told_without_a_traceback_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["serve", "nothing:app"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: There is no app at 'nothing:app': looked for the module 'nothing' and nothing.py\n",
    )
    assert CliRunner().invoke(main, ["serve", "x", "--port", "70000"]).exit_code == 2
    assert CliRunner().invoke(main, ["serve"]).exit_code == 2


def test_without_uvicorn_the_pip_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "without.py").write_text("from kit import Kit\napp = Kit()\n")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    result = CliRunner().invoke(main, ["serve", str(tmp_path / "without.py")])
    assert (result.exit_code, result.output) == (
        1,
        "Error: kit serve needs uvicorn, which is not installed: pip install 'kit-dev[serve]'\n",
    )


def test_version_and_help() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == "kit, version 0.1.0\n"
    assert "serve  Serves an app with uvicorn." in CliRunner().invoke(main, ["--help"]).output
