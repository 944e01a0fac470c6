# SPDX-License-Identifier: MIT
"""`kit serve` as a process: it answers, it ends cleanly, and it says what is wrong."""

from __future__ import annotations

import errno
import re
import signal
import socket
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

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


@pytest.fixture(autouse=True)
def app_file(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(APP)
    return tmp_path / "app.py"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The file in which the app of a test notes what it does."""
    return tmp_path / "notes"


@pytest.mark.parametrize(
    ("target", "number"),
    [
        pytest.param("app:app", signal.SIGINT, id="Ctrl-C"),
        pytest.param(".", signal.SIGTERM, id="SIGTERM"),
    ],
)
def test_serves_and_ends(target: str, number: int, kit: Callable[..., Any], notes: Path) -> None:
    process = kit("serve", target, "--port", "0")
    assert process.get() == "hello"
    with process.connect():  # a connection is open at the end
        assert process.end(number) == 0
    assert process.said == f"Serving {target} at {process.address()} (Ctrl-C ends it)\n"
    assert notes.read_text() == "up\ndown\n"


def test_request_in_flight_is_finished(kit: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import asyncio\nfrom pathlib import Path\nfrom kit import Kit\napp = Kit()\n"
        "@app.get('/')\nasync def slow(c):\n    Path('begun').touch()\n"
        "    await asyncio.sleep(0.5)\n    return c.text('done')\n"
    )
    process = kit("serve", "slow.py", "--port", "0")
    with process.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        process.wait_until((tmp_path / "begun").exists)
        process.process.send_signal(signal.SIGINT)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    assert received.endswith(b"done")
    assert process.end() == 0
    assert process.said.count("\n") == 1


def test_port_that_is_taken(folder: Path, notes: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = CliRunner().invoke(main, ["serve", "app:app", "--port", str(port)])
    assert (result.exit_code, result.output) == (
        1,
        f"Error: Port {port} on 127.0.0.1 is taken: another program listens there. "
        f"Pick another with --port, e.g. --port {port + 1}, or --port 0 for any free one\n",
    )
    assert not notes.exists()  # the app was never started


@pytest.mark.parametrize(
    ("port", "advice"),
    [
        (8000, "--port 8001, or --port 0"),
        pytest.param(65535, "--port 0", id="the last one"),
    ],
)
def test_port_that_is_suggested_exists(
    port: int, advice: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bind(self: socket.socket, address: object) -> None:
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(socket.socket, "bind", bind)
    result = CliRunner().invoke(main, ["serve", "app:app", "--port", str(port)])
    assert (result.exit_code, result.output) == (
        1,
        f"Error: Port {port} on 127.0.0.1 is taken: another program listens there. "
        f"Pick another with --port, e.g. {advice} for any free one\n",
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
    raised: OSError, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bind(self: socket.socket, address: object) -> None:
        raise raised

    monkeypatch.setattr(socket.socket, "bind", bind)
    result = CliRunner().invoke(main, ["serve", "app:app", "--host", "x", "--port", "80"])
    assert (result.exit_code, result.output) == (1, f"Error: {text}\n")


def test_address_with_colons_stands_in_brackets(kit: Callable[..., Any]) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    process = kit("serve", "app:app", "--host", "::1", "--port", "0")
    assert process.address().startswith("http://[::1]:")
    assert process.get() == "hello"


@pytest.mark.parametrize("failure", ["RuntimeError('no database')", "SystemExit('no database')"])
def test_startup_that_fails(failure: str, kit: Callable[..., Any], app_file: Path) -> None:
    app_file.write_text(APP.replace('note("up")', f"raise {failure}"))
    process = kit("serve", "app:app", "--port", "0")
    assert process.end() == 3
    assert process.said.count(f"{failure.partition('(')[0]}: no database") == 1
    assert "Serving" not in process.said


def test_shutdown_that_fails(kit: Callable[..., Any], app_file: Path) -> None:
    app_file.write_text(APP.replace('note("down")', "raise RuntimeError('no disk')"))
    process = kit("serve", "app:app", "--port", "0")
    process.address()
    assert process.end(signal.SIGTERM) == 3
    assert process.said.count("RuntimeError: no disk") == 1


def test_startup_that_hangs_is_ended(kit: Callable[..., Any], app_file: Path, notes: Path) -> None:
    waiting = """
    note("up")
    try:
        await __import__("asyncio").sleep(1000)
    finally:
        note("down")
"""
    app_file.write_text(APP.replace('\n    note("up")\n', waiting))
    process = kit("serve", "app:app", "--port", "0")
    process.wait_until(notes.exists)
    assert process.end(signal.SIGTERM) == 0
    assert process.said == ""
    assert notes.read_text() == "up\ndown\n"


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("get_loop_factory", id="before uvicorn handles signals"),
        pytest.param("load", id="before the app starts"),
    ],
)
def test_early_signal_is_not_lost(
    step: str, kit: Callable[..., Any], app_file: Path, notes: Path
) -> None:
    """It comes in a weak reference's callback: what is raised there is printed and forgotten."""
    app_file.write_text(
        APP
        + f"""
import signal, uvicorn, weakref

class Config(uvicorn.Config):
    def {step}(self):
        gone = set()
        kept = weakref.ref(gone, self._send)  # calls back only as long as it is there itself
        del gone
        note("signal")
        return super().{step}()

    def _send(self, reference):
        signal.raise_signal(signal.SIGTERM)
        self.sent = True  # so that the signal is handled within this function

uvicorn.Config = Config
"""
    )
    process = kit("serve", "app:app", "--port", "0")
    assert process.end() == 0
    assert process.said == ""
    assert notes.read_text() == "signal\n"


def test_signals_at_once_are_one(kit: Callable[..., Any], app_file: Path, notes: Path) -> None:
    app_file.write_text(
        APP
        + """
import signal

@app.post("/end")
def end(c):
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    return c.text("ending")
"""
    )
    process = kit("serve", "app:app", "--port", "0")
    assert process.ask("/end", "POST") == (200, "ending")
    assert process.end() == 0
    assert notes.read_text() == "up\ndown\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("fails", [False, True])
def test_signal_ends_what_goes_on_after_the_server(
    fails: bool, number: signal.Signals, kit: Callable[..., Any], app_file: Path, notes: Path
) -> None:
    """A task that does not let itself be cancelled."""
    task = """
    import asyncio

    async def stay():
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            note("asked to end")
            await asyncio.sleep(1000)

    app.task = asyncio.create_task(stay())
    await asyncio.sleep(0)
"""
    failure = "    raise OSError('no database')\n" if fails else ""
    app_file.write_text(APP.replace('\n    note("up")\n', task + failure))
    process = kit("serve", "app:app", "--port", "0")
    if not fails:
        process.address()
        process.process.send_signal(number)
    process.wait_until(lambda: "asked to end" in (notes.read_text() if notes.exists() else ""))
    assert process.end(number) == -number
    assert process.said.count("OSError: no database") == fails
    assert "Exception ignored" not in process.said


@pytest.mark.parametrize(
    ("number", "code"),
    [pytest.param(signal.SIGINT, 130, id="Ctrl-C"), pytest.param(signal.SIGTERM, 143, id="TERM")],
)
def test_second_signal_ends_a_shutdown_that_hangs(
    number: int, code: int, kit: Callable[..., Any], app_file: Path, tmp_path: Path
) -> None:
    waiting = "(notes.parent / 'ending').touch(); await __import__('asyncio').sleep(1000)"
    app_file.write_text(APP.replace('note("down")', waiting))
    process = kit("serve", "app:app", "--port", "0")
    process.address()
    process.process.send_signal(number)
    process.wait_until((tmp_path / "ending").exists)
    assert process.end(number) == code
    assert process.said.count("\n") == 1


def test_third_signal_ends_what_blocks(
    kit: Callable[..., Any], app_file: Path, notes: Path
) -> None:
    """One that never gives the event loop its turn, so that nothing can be cancelled."""
    waiting = 'note("up")\n    while True: __import__("time").sleep(0.05)'
    app_file.write_text(APP.replace('note("up")', waiting))
    process = kit("serve", "app:app", "--port", "0")
    process.wait_until(notes.exists)

    def has_ended() -> bool:
        process.process.send_signal(signal.SIGINT)  # those that come at once are delivered once
        return process.process.poll() is not None

    process.wait_until(has_ended)
    assert process.end() == -signal.SIGINT
    assert process.said == ""


def test_mistakes_are_told_without_a_traceback_of_ours(folder: Path) -> None:
    result = CliRunner().invoke(main, ["serve", "nothing:app"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: There is no app at 'nothing:app': looked for the module 'nothing' and nothing.py "
        f"in {folder}\n",
    )
    arguments = ["serve", "app.py", "--host", "no.such.host.invalid", "--port", "0"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert result.output.startswith(
        "Error: Can't listen on no.such.host.invalid: the name is not known ("
    )
    assert CliRunner().invoke(main, ["serve", "x", "--port", "70000"]).exit_code == 2
    result = CliRunner().invoke(main, ["serve", "x", "--host", ""])
    assert result.exit_code == 2
    assert result.output.endswith(
        "Error: Invalid value for '--host': expected a name or an address, not ''\n"
    )


def test_without_uvicorn_the_pip_command_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(main, ["serve", "app.py"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: kit serve needs uvicorn, which is not installed: pip install 'kit-dev[serve]'\n",
    )


def test_the_readme_s_example(kit: Callable[..., Any], app_file: Path) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    app_file.write_text(re.findall(r"```python\n(.*?)```", readme, re.DOTALL)[0])
    process = kit("serve", "app.py", "--port", "0")
    assert process.get("/Ada") == "Hello, Ada!"
    assert "$ kit serve app.py\nServing app.py at http://127.0.0.1:8000 (Ctrl-C ends" in readme


def test_version_and_help() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"kit, version {version('kit-dev')}\n"
    assert "serve    Serves an app." in CliRunner().invoke(main, ["--help"]).output
