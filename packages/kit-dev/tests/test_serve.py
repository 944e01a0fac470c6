# SPDX-License-Identifier: MIT
"""`kit serve` as a process: it answers, it ends cleanly, and it says what is wrong."""

from __future__ import annotations

import errno
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import httpx
import pytest
from click.testing import CliRunner

from kit.dev._listening import listen
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
        # One that prints nothing and never ends would let `readline` wait for ever.
        self.limit = threading.Timer(2 * LIMIT_S, self.process.kill)
        self.limit.start()

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
        command.limit.cancel()
        if command.process.poll() is None:
            command.process.kill()
        command.process.communicate()


def wait_for(file: Path) -> None:
    """Until the app has made a file."""
    end = time.monotonic() + LIMIT_S
    while not file.exists():
        assert time.monotonic() < end, f"the app made no {file.name}"
        time.sleep(0.01)


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
        wait_for(tmp_path / "begun")
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


@pytest.mark.parametrize(
    ("port", "advice"),
    [
        (8000, "--port 8001, or --port 0"),
        pytest.param(65535, "--port 0", id="the last one"),
    ],
)
def test_port_that_is_suggested_exists(
    port: int, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bind(self: socket.socket, address: object) -> None:
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(socket.socket, "bind", bind)
    with pytest.raises(click.ClickException) as caught:
        listen("127.0.0.1", port)
    assert caught.value.message.endswith(
        f"Pick another with --port, e.g. {advice} for any free one"
    )


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        pytest.param(
            PermissionError(errno.EACCES, "Permission denied"),
            "Port 80 on x may not be used by this user: pick one from 1024 up",
            id="port of the system",
        ),
        pytest.param(
            OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"),
            "Can't listen on x: this machine has no such address. Expected one of its own, "
            "e.g. --host 127.0.0.1, or --host 0.0.0.0 for all of them",
            id="address of another machine",
        ),
        pytest.param(
            socket.gaierror(-2, "Name or service not known"),
            "Can't listen on x: the name is not known ([Errno -2] Name or service not known). "
            "Expected a name or an address of this machine, e.g. --host 127.0.0.1",
            id="name",
        ),
        pytest.param(
            OSError(errno.ENOBUFS, "No buffer space"),
            f"Can't listen on x:80: [Errno {errno.ENOBUFS}] No buffer space",
            id="anything else",
        ),
    ],
)
def test_why_an_address_can_not_be_used(
    raised: OSError, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bind(self: socket.socket, address: object) -> None:
        raise raised

    monkeypatch.setattr(socket.socket, "bind", bind)
    with pytest.raises(click.ClickException) as caught:
        listen("x", 80)
    assert caught.value.message == text


def test_address_with_colons_stands_in_brackets(kit_serve: Callable[..., Command]) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    address = kit_serve("app:app", "--host", "::1", "--port", "0").address()
    assert address.startswith("http://[::1]:")
    assert httpx.get(address).text == "hello"


@pytest.mark.parametrize("failure", ["RuntimeError('no database')", "SystemExit('no database')"])
def test_startup_that_fails(
    failure: str, kit_serve: Callable[..., Command], tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(APP.replace('note("up")', f"raise {failure}"))
    code, said = kit_serve("app:app", "--port", "0").end()
    assert code == 3
    assert said.count(f"{failure.partition('(')[0]}: no database") == 1
    assert "Serving" not in said


def test_shutdown_that_fails(kit_serve: Callable[..., Command], tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP.replace('note("down")', "raise RuntimeError('no disk')"))
    command = kit_serve("app:app", "--port", "0")
    command.address()
    code, said = command.end(signal.SIGTERM)
    assert code == 3
    assert said.count("RuntimeError: no disk") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_startup_that_hangs_is_ended(
    number: int, kit_serve: Callable[..., Command], tmp_path: Path
) -> None:
    waiting = """
    note("up")
    try:
        await __import__("asyncio").sleep(1000)
    finally:
        note("down")
"""
    (tmp_path / "app.py").write_text(APP.replace('\n    note("up")\n', waiting))
    command = kit_serve("app:app", "--port", "0")
    wait_for(tmp_path / "notes")
    assert command.end(number) == (0, "")
    assert (tmp_path / "notes").read_text() == "up\ndown\n"


@pytest.mark.parametrize(
    ("number", "code"),
    [pytest.param(signal.SIGINT, 130, id="Ctrl-C"), pytest.param(signal.SIGTERM, 143, id="TERM")],
)
def test_second_signal_ends_a_shutdown_that_hangs(
    number: int, code: int, kit_serve: Callable[..., Command], tmp_path: Path
) -> None:
    waiting = "(notes.parent / 'ending').touch(); await __import__('asyncio').sleep(1000)"
    (tmp_path / "app.py").write_text(APP.replace('note("down")', waiting))
    command = kit_serve("app:app", "--port", "0")
    command.address()
    command.process.send_signal(number)
    wait_for(tmp_path / "ending")
    assert command.end(number) == (code, "")


def test_third_signal_ends_what_blocks(kit_serve: Callable[..., Command], tmp_path: Path) -> None:
    """One that never gives the event loop its turn, so that nothing can be cancelled."""
    waiting = 'note("up")\n    while True: __import__("time").sleep(0.05)'
    (tmp_path / "app.py").write_text(APP.replace('note("up")', waiting))
    command = kit_serve("app:app", "--port", "0")
    wait_for(tmp_path / "notes")
    end = time.monotonic() + LIMIT_S
    while command.process.poll() is None and time.monotonic() < end:
        command.process.send_signal(signal.SIGINT)  # signals that come at once are delivered once
        time.sleep(0.2)
    assert command.end() == (-signal.SIGINT, "")


def test_address_that_is_not_of_this_machine(kit_serve: Callable[..., Command]) -> None:
    code, said = kit_serve("app:app", "--host", "no.such.host.invalid", "--port", "0").end()
    assert code == 1
    assert said.startswith("Error: Can't listen on no.such.host.invalid: the name is not known (")
    assert "Traceback" not in said


def test_mistakes_are_told_without_a_traceback_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["serve", "nothing:app"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: There is no app at 'nothing:app': looked for the module 'nothing' and nothing.py "
        f"in {tmp_path}\n",
    )
    assert CliRunner().invoke(main, ["serve", "x", "--port", "70000"]).exit_code == 2
    assert CliRunner().invoke(main, ["serve"]).exit_code == 2
    result = CliRunner().invoke(main, ["serve", "x", "--host", ""])
    assert result.exit_code == 2
    assert result.output.endswith(
        "Error: Invalid value for '--host': expected a name or an address, not ''\n"
    )


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


def test_the_readme_s_example(kit_serve: Callable[..., Command], tmp_path: Path) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    (tmp_path / "app.py").write_text(block)
    command = kit_serve("app.py", "--port", "0")
    assert httpx.get(f"{command.address()}/Ada").text == "Hello, Ada!"
    assert command.end(signal.SIGINT) == (0, "")
    assert "$ kit serve app.py\nServing app.py at http://127.0.0.1:8000 (Ctrl-C ends" in readme


def test_version_and_help() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == "kit, version 0.1.0\n"
    assert "serve  Serves an app with uvicorn." in CliRunner().invoke(main, ["--help"]).output
