# SPDX-License-Identifier: MIT
"""kit-serve-static on real servers: whole files, ranges, clients that leave, memory."""

from __future__ import annotations

import http.client
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import ServedApp

MIB = 1 << 20
GIB = 1 << 30
MOST_GROWTH_BYTES = 64 * MIB
SERVERS = ("uvicorn", "hypercorn", "hypercorn-trio", "granian", "granian-rsgi")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("www")
    (root / "small.txt").write_bytes(b"small")
    (root / "large.bin").write_bytes(os.urandom(3 * MIB + 7))
    return root


@pytest.fixture(scope="module")
def start(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., ServedApp]]:
    """Serves the folder: `start("uvicorn", KIT_STATIC_PATHSEND="1")`; each is started once."""
    running: dict[Any, ServedApp] = {}

    def start(server: str, **environment: str) -> ServedApp:
        key = (server, *environment)
        if key not in running:
            log = tmp_path_factory.mktemp("log") / "server.log"
            with pytest.MonkeyPatch.context() as patch:
                for name, value in {"KIT_STATIC_FOLDER": str(folder), **environment}.items():
                    patch.setenv(name, value)
                running[key] = ServedApp(server, "static_app:app", log).__enter__()
        return running[key]

    yield start
    for each in running.values():
        each.kill()


def check(served: ServedApp, folder: Path) -> None:
    content = (folder / "large.bin").read_bytes()
    with httpx.Client(
        base_url=f"http://127.0.0.1:{served.port}", timeout=30, verify=False
    ) as client:
        small = client.get("/small.txt")
        assert (small.status_code, small.content) == (200, b"small")
        whole = client.get("/large.bin")
        assert (whole.status_code, whole.content == content) == (200, True)
        assert whole.headers["content-length"] == str(len(content))
        head = client.head("/large.bin")
        assert head.headers["content-length"] == str(len(content))
        part = client.get("/large.bin", headers={"Range": "bytes=1000000-2999999"})
        assert (part.status_code, part.content == content[1_000_000:3_000_000]) == (206, True)
        several = client.get("/large.bin", headers={"Range": "bytes=0-499999,-500000"})
        assert several.status_code == 206
        assert content[:500_000] in several.content
        assert content[-500_000:] in several.content
        known = {"If-None-Match": whole.headers["etag"]}
        again = client.get("/large.bin", headers=known)
        assert (again.status_code, again.content) == (304, b"")
        assert client.get("/large.bin/").status_code == 404


@pytest.mark.parametrize("server", SERVERS)
def test_files_arrive_whole(start: Callable[..., ServedApp], folder: Path, server: str) -> None:
    check(start(server), folder)


def test_granian_sends_files_by_their_paths(start: Callable[..., ServedApp], folder: Path) -> None:
    check(start("granian", KIT_STATIC_PATHSEND="1"), folder)


@pytest.mark.parametrize("server", ["uvicorn", "granian", "granian-rsgi"])
def test_no_file_stays_open_for_clients_that_leave(
    start: Callable[..., ServedApp], folder: Path, server: str
) -> None:
    served = start(server)
    check(served, folder)
    before = open_large_files(served)
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
            connection.sendall(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.recv(1000)
    # Answered when the server has seen that they left, or soon after.
    for _ in range(200):
        check(served, folder)
        if open_large_files(served) <= before:
            return
    pytest.fail("files stayed open")


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("change", ["truncated", "replaced", "grown"])
def test_a_file_that_changes_while_it_is_sent(
    start: Callable[..., ServedApp], folder: Path, server: str, change: str
) -> None:
    """Content-Length holds, with the bytes of the file that was opened; or the body breaks off."""
    served = start(server)
    path = folder / f"{change}-{server}.bin"
    # Far more than the buffers of sockets take.
    size_bytes = 64 * MIB
    with path.open("wb") as file:
        file.truncate(size_bytes)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    with closing(connection):
        connection.request("GET", f"/{path.name}")
        response = connection.getresponse()
        assert response.headers["Content-Length"] == str(size_bytes)
        first = response.read(MIB)
        if change == "truncated":
            os.truncate(path, MIB)
            # Some servers close the connection, others reset it.
            with pytest.raises((http.client.IncompleteRead, ConnectionError)):
                response.read()
            return
        if change == "replaced":
            other = path.with_suffix(".new")
            other.write_bytes(b"another file")
            other.replace(path)
        else:
            with path.open("ab") as file:
                file.write(b"more")
        rest = response.read()
    assert len(first) + len(rest) == size_bytes
    assert not (first + rest).strip(b"\0")


def open_large_files(served: ServedApp) -> int:
    """How often the processes of a server have the large file open."""
    count = 0
    for pid in served.pids():
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            try:
                count += os.readlink(entry).endswith("large.bin")
            except OSError:  # closed meanwhile
                continue
    return count


@pytest.mark.slow
@pytest.mark.once
# Not granian by RSGI, which has no flow control: what a client hasn't read yet is kept in memory.
@pytest.mark.parametrize("server", ["uvicorn", "granian"])
def test_a_gibibyte_by_a_range_of_its_middle(
    start: Callable[..., ServedApp], folder: Path, server: str
) -> None:
    size_bytes = 2 * GIB
    with (folder / "sparse.bin").open("wb") as file:
        file.truncate(size_bytes)
        file.seek(GIB)
        file.write(b"in the middle")
    served = start(server)
    status = Path(f"/proc/{served.process.pid}/status")
    if not status.exists():
        pytest.skip("the memory of a process is read from /proc")
    check(served, folder)
    before = served.memory_bytes()
    peak = before
    first = GIB // 2
    wanted = {"Range": f"bytes={first}-{first + GIB - 1}"}
    received = 0
    has_middle = False
    with (
        httpx.Client(
            base_url=f"http://127.0.0.1:{served.port}", timeout=60, verify=False
        ) as client,
        client.stream("GET", "/sparse.bin", headers=wanted) as response,
    ):
        assert response.status_code == 206
        assert response.headers["content-range"] == (
            f"bytes {first}-{first + GIB - 1}/{size_bytes}"
        )
        for number, chunk in enumerate(response.iter_raw(MIB)):
            if b"in the middle" in chunk:
                has_middle = received <= GIB // 2 < received + len(chunk)
            received += len(chunk)
            if number % 64 == 0:
                peak = max(peak, served.memory_bytes())
    assert (received, has_middle) == (GIB, True)
    assert peak - before < MOST_GROWTH_BYTES
