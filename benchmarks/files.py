# SPDX-License-Identifier: MIT
"""Content: processor time of a server for a request, by framework, and of nginx for scale.

Files of a folder, and 10 KiB of JSON that are compressed with gzip for each request.

Each is served by uvicorn from a process of its own, and asked over one connection. Processor time
is that of the server with all its threads.
"""

from __future__ import annotations

import itertools
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from . import support
from .files_apps import BOOKS, FOLDER, NGINX
from .processor import processor_seconds
from .server import Served, ServedError
from .tables import Table

KIT = "kit"
NGINX_NAME = "nginx"
FRAMEWORKS = (KIT, "starlette", "litestar", "blacksheep")
_ANSWER_LIMIT_S = 10


class Row(NamedTuple):
    """What is asked.

    Attributes:
        path: The path.
        headers: Lines of the request.
        status: The right status.
        size_bytes: The right size of the body; None for a compressed one, of at most a third.
        left_out: Frameworks that don't have it.
        apps: What the names of the apps end in.
    """

    path: str
    headers: str
    status: int
    size_bytes: int | None
    left_out: tuple[str, ...] = ()
    apps: str = ""


ROWS = {
    "1 KiB": Row("/small.txt", "", 200, 1024),
    "1 MiB": Row("/large.bin", "", 200, 1024 * 1024),
    "304": Row("/small.txt", "If-None-Match: {etag}\r\n", 304, 0, ("litestar", "blacksheep")),
    "range": Row("/large.bin", "Range: bytes=500000-500999\r\n", 206, 1000, ("litestar",)),
    "precompressed": Row(
        "/app.js",
        "Accept-Encoding: gzip, br\r\n",
        200,
        300,
        ("starlette", "litestar", "blacksheep", NGINX_NAME),
    ),
    "JSON, gzip": Row("/books.json", "Accept-Encoding: gzip\r\n", 200, None, apps="_json"),
}


@dataclass
class Figures:
    """What was measured.

    Attributes:
        rounds: How many.
        seconds: By row and server: seconds of processor time for a request, by round.
        left_out: What was left out, and why.
    """

    rounds: int
    seconds: dict[str, dict[str, list[float]]]
    left_out: list[str] = field(default_factory=list)

    def median_s(self, row: str, name: str) -> float | None:
        """The median for a row and a server; None if it was not measured."""
        found = self.seconds[row].get(name)
        return statistics.median(found) if found else None


def write_files(folder: Path) -> None:
    """Writes the files that are served."""
    (folder / "small.txt").write_bytes(b"x" * 1024)
    (folder / "large.bin").write_bytes(bytes(range(256)) * 4096)
    (folder / "app.js").write_bytes(b"let x = 1;\n" * 100)
    (folder / "app.js.br").write_bytes(b"b" * 300)
    (folder / "books.json").write_bytes(BOOKS)


def measure(rounds: int, slot_s: float) -> Figures:
    """Serves, verifies each answer, then asks one after the other, round by round.

    Args:
        rounds: How many times each has its turn.
        slot_s: About how long a turn is, in seconds.
    """
    figures = Figures(rounds, {row: {} for row in ROWS})
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "files"
        folder.mkdir()
        write_files(folder)
        clients = dict(_started(stack, folder, figures.left_out))
        counts: dict[tuple[str, str], int] = {}
        for (name, apps), (port, pid) in clients.items():
            for row, asked in ROWS.items():
                if name in asked.left_out or asked.apps != apps:
                    continue
                try:
                    counts[name, row] = _count(port, pid, asked, slot_s)
                except (ServedError, OSError) as error:
                    figures.left_out.append(f"{row}, {name}: {error}")
        for number in range(rounds):
            turns = list(counts.items())
            for (name, row), count in turns if number % 2 else reversed(turns):
                port, pid = clients[name, ROWS[row].apps]
                took = _seconds_each(port, pid, ROWS[row], count)
                figures.seconds[row].setdefault(name, []).append(took)
    return figures


def _started(
    stack: ExitStack, folder: Path, left_out: list[str]
) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    for name, apps in itertools.product(FRAMEWORKS, {each.apps for each in ROWS.values()}):
        served = Served(
            "uvicorn",
            name,
            factory=f"benchmarks.files_apps:{name}{apps}",
            environment={FOLDER: str(folder)},
        )
        stack.callback(served.end)
        try:
            served.wait_until_up()
        except ServedError as error:
            left_out.append(f"{name}: {error}")
        else:
            yield (name, apps), (served.port, served.pid)
    if shutil.which(NGINX_NAME) is None:
        left_out.append("nginx is not installed")
    else:
        found = stack.enter_context(_nginx(folder))
        for apps in {each.apps for each in ROWS.values()}:
            yield (NGINX_NAME, apps), found


@contextmanager
def _nginx(folder: Path) -> Iterator[tuple[int, int]]:
    own = Path(f"{folder}.nginx")
    own.mkdir()
    port = support.load("ports").free_port()
    config = own / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port))
    process = subprocess.Popen(["nginx", "-p", str(own), "-c", str(config)])
    try:
        until = time.monotonic() + _ANSWER_LIMIT_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if time.monotonic() > until or process.poll() is not None:
                    raise
                time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(_ANSWER_LIMIT_S)


def _count(port: int, pid: int, asked: Row, slot_s: float) -> int:
    """Verifies the answer, and returns how many requests make a turn."""
    with _Connection(port) as connection:
        status, _, size_bytes = connection.ask(connection.request(asked))
        right = (
            size_bytes <= len(BOOKS) // 3
            if asked.size_bytes is None
            else asked.size_bytes == size_bytes
        )
        if status != asked.status or not right:
            raise ServedError(f"answered {status} with {size_bytes} bytes")
    began = time.perf_counter()
    _seconds_each(port, pid, asked, 200)
    return max(50, round(200 * slot_s / (time.perf_counter() - began)))


def _seconds_each(port: int, pid: int, asked: Row, count: int) -> float:
    with _Connection(port) as connection:
        request = connection.request(asked)
        before = processor_seconds(pid)
        for _ in range(count):
            connection.ask(request)
        return (processor_seconds(pid) - before) / count


class _Connection:
    """A connection that is kept alive, with one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), _ANSWER_LIMIT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(1 << 20)

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def request(self, asked: Row) -> bytes:
        """The bytes of a request."""
        lines = asked.headers
        if "{etag}" in lines:
            _, head, _ = self.ask(f"GET {asked.path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            etag = head.lower().partition(b"\r\netag:")[2].partition(b"\r\n")[0].strip()
            lines = lines.format(etag=etag.decode())
        return f"GET {asked.path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode()

    def ask(self, request: bytes) -> tuple[int, bytes, int]:
        """Sends a request; returns the status, the head and the size of the body."""
        self._socket.sendall(request)
        received = self._socket.recv(65536)
        while b"\r\n\r\n" not in received:
            more = self._socket.recv(65536)
            if not more:
                raise ServedError("the connection was closed")
            received += more
        head, _, body = received.partition(b"\r\n\r\n")
        status = int(head[9:12])
        if b"transfer-encoding: chunked" in head.lower():
            while not body.endswith(b"\r\n0\r\n\r\n"):
                body += self._socket.recv(65536)
            return status, head, _unchunked_size(body)
        length = head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
        size_bytes = 0 if status == 304 else int(length)
        left = size_bytes - len(body)
        while left:
            count = self._socket.recv_into(self._buffer)
            if not count:
                raise ServedError("the connection was closed")
            left -= count
        return status, head, size_bytes


def _unchunked_size(body: bytes) -> int:
    total = 0
    while body:
        size, _, body = body.partition(b"\r\n")
        total += int(size, 16)
        body = body[int(size, 16) + 2 :]
    return total


def tables(figures: Figures) -> list[Table]:
    """Microseconds by row and server."""
    names = [*FRAMEWORKS, NGINX_NAME]
    table = Table("processor time of the server for a request, µs", names)
    for row in ROWS:
        medians = [figures.median_s(row, name) for name in names]
        table.add(row, *("-" if each is None else f"{each * 1e6:,.0f}" for each in medians))
    return [table]
