# SPDX-License-Identifier: MIT
"""`kit serve` in several processes, at Unix domain sockets, and with other servers."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

# Processes, which behave alike on each interpreter.
pytestmark = pytest.mark.once

APP = """
import asyncio, os
from contextlib import asynccontextmanager
from pathlib import Path
from kit import Kit

@asynccontextmanager
async def life(app):
    yield {"up": True}
    Path(f"down-{os.getpid()}").touch()

app = Kit(lifespan=life)
app.get("/", lambda c: c.text(str(os.getpid())))

@app.get("/slow/:n")
async def slow(c):
    Path(f"begun-{c.req.param('n')}").touch()
    await asyncio.sleep(0.8)
    return c.text("done")
"""


@pytest.fixture(autouse=True)
def app_file(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(APP)
    return tmp_path / "app.py"


def pids(process: Any, wanted: int) -> set[int]:
    """The processes that answer, once there are so many."""
    found: set[int] = set()

    def ask(_: int) -> int:
        return int(process.get())

    def are_there() -> bool:
        found.update(threads.map(ask, range(16)))
        return len(found) >= wanted

    with ThreadPoolExecutor(8) as threads:
        process.wait_until(are_there)
    return found


def assert_finishes_what_it_began(process: Any, folder: Path) -> None:
    """Ends a server by SIGTERM while it answers."""
    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(process.get, f"/slow/{n}") for n in range(8)]
        process.wait_until(lambda: len(list(folder.glob("begun-*"))) == 8)
        process.process.send_signal(signal.SIGTERM)
        assert [answer.result() for answer in answers] == ["done"] * 8
    assert process.end() == 0


def test_four_processes_answer_and_finish_what_they_began(
    kit: Callable[..., Any], tmp_path: Path
) -> None:
    process = kit("serve", "app.py", "--workers", "4", "--port", "0")
    address = process.address()
    assert process.said == f"Serving app.py at {address} in 4 processes (Ctrl-C ends it)\n"
    found = pids(process, 4)
    assert len(found) == 4
    assert process.process.pid not in found
    assert_finishes_what_it_began(process, tmp_path)
    assert {int(path.name[5:]) for path in tmp_path.glob("down-*")} == found
    assert process.said.count("\n") == 1


def test_killed_process_is_replaced_and_no_request_lost(
    kit: Callable[..., Any], app_file: Path, tmp_path: Path
) -> None:
    broken = '    if Path("broken").exists(): os._exit(9)\n    yield {"up"'
    app_file.write_text(APP.replace('    yield {"up"', broken))
    process = kit("serve", "app.py", "--workers", "2", "--port", "0")
    victim, survivor = pids(process, 2)
    answers: set[int] = set()
    failures: list[Exception] = []

    def ask() -> None:
        while not answers - {victim, survivor} and len(failures) < 9:
            try:  # each on a connection of its own: none is open with the victim when it dies
                answers.add(int(process.get()))
            except (HTTPException, OSError) as error:
                failures.append(error)
            time.sleep(0.01)

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    (tmp_path / "broken").touch()
    os.kill(victim, signal.SIGKILL)
    process.wait_for(
        rf"^Process {victim} ended unexpectedly, another one takes its place \(SIGKILL\)$"
    )
    # As long as others run, it is tried again and again.
    process.wait_for(r"^Process \d+ could not start, another one will be tried \(exit code 9\)$")
    (tmp_path / "broken").unlink()
    for thread in asking:
        thread.join()  # until the one in its place has answered
    assert len(failures) <= 2, failures  # what was in flight there, at most one by each thread
    assert survivor in answers
    process.interrupt()
    assert process.end() == 0


def is_refused(port: int) -> bool:
    """Whether nobody listens at a port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize("workers", ["1", "2"])
def test_connections_are_refused_until_the_app_has_started(
    workers: str, kit: Callable[..., Any], app_file: Path, tmp_path: Path
) -> None:
    """So that a proxy sends requests elsewhere, and none waits for the start."""
    waiting = """    Path("starting").touch()
    while not Path("go").exists(): await asyncio.sleep(0.01)
    yield {"up\""""
    app_file.write_text(APP.replace('    yield {"up"', waiting))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = kit("serve", "app.py", "--workers", workers, "--port", str(port))
    process.wait_until((tmp_path / "starting").exists)
    assert is_refused(port)
    (tmp_path / "go").touch()
    process.address()
    assert process.get().isdigit()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_connections_are_refused_while_it_finishes_what_it_began(
    workers: str, kit: Callable[..., Any], app_file: Path, tmp_path: Path
) -> None:
    """So that a proxy sends requests elsewhere, and none waits for what nobody accepts."""
    waiting = 'while not Path("go").exists(): await asyncio.sleep(0.01)'
    app_file.write_text(APP.replace("await asyncio.sleep(0.8)", waiting))
    process = kit("serve", "app.py", "--workers", workers, "--port", "0")
    port = int(process.address().rpartition(":")[2])
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(process.get, "/slow/0")
        process.wait_until((tmp_path / "begun-0").exists)
        process.process.send_signal(signal.SIGTERM)
        process.wait_until(lambda: is_refused(port))
        assert not answer.done()
        (tmp_path / "go").touch()
        assert answer.result() == "done"
    assert process.end() == 0


@pytest.mark.parametrize(
    ("source", "code", "text"),
    [
        ("1 / 0\n", 1, "ZeroDivisionError: division by zero\n"),
        (
            APP.replace('yield {"up": True}', "raise OSError('no disk'); yield"),
            3,
            "OSError: no disk\n",
        ),
    ],
)
def test_what_is_wrong_is_told_once(
    source: str, code: int, text: str, kit: Callable[..., Any], app_file: Path
) -> None:
    app_file.write_text(source)
    process = kit("serve", "app.py", "--workers", "3", "--port", "0")
    assert process.end() == code
    assert process.said.count(text) == 1
    assert "Serving" not in process.said


def test_second_signal_ends_a_shutdown_that_hangs(
    kit: Callable[..., Any], app_file: Path, tmp_path: Path
) -> None:
    hanging = '    Path(f"down-{os.getpid()}").touch(); await asyncio.sleep(600)\n'
    app_file.write_text(APP.replace('    Path(f"down-{os.getpid()}").touch()\n', hanging))
    process = kit("serve", "app.py", "--workers", "2", "--port", "0")
    process.address()
    process.process.send_signal(signal.SIGTERM)
    process.wait_until(lambda: len(list(tmp_path.glob("down-*"))) == 2)
    assert process.end(signal.SIGTERM) == 128 + signal.SIGTERM


# Unix domain sockets --------------------------------------------------------------------------


def get_from(path: Path) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        http = HTTPConnection("kit")
        http.sock = connection
        http.request("GET", "/")
        return int(http.getresponse().read())


@pytest.mark.parametrize("workers", ["1", "2"])
def test_unix_domain_socket(workers: str, kit: Callable[..., Any], folder: Path) -> None:
    path = folder / "kit.sock"
    with socket.socket(socket.AF_UNIX) as left_by_a_killed_server:
        left_by_a_killed_server.bind(str(path))
    process = kit("serve", "app.py", "--uds", "kit.sock", "--workers", workers)
    process.wait_for(r"^Serving app.py at unix:kit.sock ")
    assert get_from(path) > 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o666
    result = CliRunner().invoke(main, ["serve", "app.py", "--uds", "kit.sock"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: Can't listen at kit.sock: another program listens there\n",
    )
    assert get_from(path) > 0
    assert process.end(signal.SIGTERM) == 0
    assert not path.exists()


@pytest.mark.parametrize(
    ("path", "why"),
    [("notes", "there is a file that is no socket"), ("no/x.sock", "No such file or directory")],
)
def test_path_that_will_not_do(path: str, why: str, folder: Path) -> None:
    (folder / "notes").write_text("mine")
    result = CliRunner().invoke(main, ["serve", "app.py", "--uds", path])
    assert (result.exit_code, result.output) == (1, f"Error: Can't listen at {path}: {why}\n")
    assert (folder / "notes").read_text() == "mine"


def test_path_of_a_socket_of_another_kind(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as logger:
        logger.bind("log.sock")
        result = CliRunner().invoke(main, ["serve", "app.py", "--uds", "log.sock"])
        assert result.exit_code == 1
        assert result.output.startswith(
            "Error: Can't listen at log.sock: a socket is there, and can't be asked: "
        )
        assert (folder / "log.sock").exists()


# Other servers --------------------------------------------------------------------------------


def test_granian(kit: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("granian")
    process = kit("serve", "app.py", "--server", "granian", "--port", "0", "--workers", "2")
    assert len(pids(process, 2)) == 2
    assert f"Serving app.py at {process.address()} by granian in 2 processes" in process.said
    assert_finishes_what_it_began(process, tmp_path)
    assert len(list(tmp_path.glob("down-*"))) == 2


def test_granian_at_a_unix_domain_socket(kit: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("granian")
    process = kit("serve", "app.py", "--server", "granian", "--uds", "kit.sock")
    process.wait_for(r"^Serving app.py at unix:kit.sock by granian \(Ctrl-C ends it\)$")
    assert get_from(tmp_path / "kit.sock") > 0
    process.interrupt()
    assert process.end() == 0


def test_granian_by_its_own_interface(kit: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("granian")
    arguments = ["--server", "granian", "--interface", "rsgi", "--port", "0"]
    process = kit("serve", "app.py", *arguments)
    assert len(pids(process, 1)) == 1
    assert_finishes_what_it_began(process, tmp_path)
    assert len(list(tmp_path.glob("down-*"))) == 1


def test_interface_that_a_server_has_not(folder: Path) -> None:
    result = CliRunner().invoke(main, ["serve", "app.py", "--interface", "rsgi"])
    assert result.exit_code == 2
    assert "Error: --interface rsgi is for --server granian alone" in result.output


def test_granian_by_its_own_interface_without_its_package(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("granian")
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "kit.rsgi" else real(name)
    )
    arguments = ["serve", "app.py", "--server", "granian", "--interface", "rsgi"]
    (folder / "app.py").write_text("from kit import Kit\n\napp = Kit()\n")
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "pip install kit-rsgi" in result.output


def test_granian_shares_no_port(folder: Path) -> None:
    pytest.importorskip("granian")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        arguments = ["serve", "app.py", "--server", "granian", "--port", str(port)]
        result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: Port {port} on 127.0.0.1 is taken")


def test_granian_that_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "granian", None)
    result = CliRunner().invoke(main, ["serve", "app.py", "--server", "granian"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: kit serve --server granian needs granian, which is not installed: "
        "pip install granian\n",
    )


SERVER = """
import json
from kit.dev import load_app

def serve(target, **options):
    print(json.dumps([type(load_app(target)).__name__, {k: str(v) for k, v in options.items()}]))
    return 5
"""


def test_server_of_another_distribution(
    distribution: Callable[..., Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = distribution(
        "acme-server",
        {
            "kit.servers": {
                "acme": "acme_server:serve",
                "uvicorn": "acme_server:serve",
                "broken": "acme_server:lost",
            }
        },
        acme_server=SERVER,
    )
    monkeypatch.syspath_prepend(str(site))
    result = CliRunner().invoke(main, ["serve", "app.py", "--server", "acme", "--port", "99"])
    assert (result.exit_code, result.output) == (
        5,
        '["Kit", {"host": "127.0.0.1", "port": "99", "uds": "None", "workers": "1"}]\n',
    )
    result = CliRunner().invoke(main, ["serve", "x", "--server", "acme"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: There is no app at 'x'")
    # What is called like one of ours does not take its place.
    result = CliRunner().invoke(main, ["serve", "nothing", "--workers", "1"])
    assert result.output.startswith("Error: There is no app at 'nothing'")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(main, ["serve", "app.py"])
    assert "kit serve needs uvicorn" in result.output
    result = CliRunner().invoke(main, ["serve", "app.py", "--server", "acme-server:uvicorn"])
    assert result.exit_code == 5
    result = CliRunner().invoke(main, ["serve", "app.py", "--server", "broken"])
    assert result.exit_code == 1
    assert "'acme_server:lost' of the distribution 'acme-server' raised" in result.output


def test_wrong_use(folder: Path) -> None:
    for arguments, text in (
        (["--server", "gran"], "Invalid value for '--server': No plugin 'gran' in the group"),
        (["--uds", "x", "--port", "3"], "--uds stands in place of --port: give one of the two"),
        (["--uds", "x", "--host", "y"], "--uds stands in place of --host: give one of the two"),
        (["--workers", "0"], "Invalid value for '--workers': 0 is not in the range x>=1."),
    ):
        result = CliRunner().invoke(main, ["serve", "app.py", *arguments])
        assert result.exit_code == 2
        assert text in result.output
