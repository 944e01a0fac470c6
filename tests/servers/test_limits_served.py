# SPDX-License-Identifier: MIT
"""kit-timeout and kit-body-limit under real servers."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from limited_app import MAX_SIZE
from serving import ServedApp
from wire import exchange, request, responses

pytestmark = pytest.mark.slow

PATIENCE_S = 20  # how long anything may take before the test gives up
SERVERS = ("uvicorn", "uvicorn-h11", "hypercorn", "hypercorn-trio", "granian", "granian-rsgi")
# Which of them let an app answer before they ask a client for the body that it announces.
ASKS_LATE = ("uvicorn", "uvicorn-h11", "granian")


@pytest.fixture(scope="module", params=SERVERS)
def served(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp(request.param) / "log"
    is_hypercorn = request.param.startswith("hypercorn")
    target = "limited_app:make_app()" if is_hypercorn else "limited_app:make_app"
    options = () if is_hypercorn else ("--factory",)
    with ServedApp(request.param, target, log, *options) as running:
        yield running


def events(served: ServedApp) -> list[str]:
    """What has become of the requests so far."""
    with served.connect(PATIENCE_S) as connection:
        [response] = responses(exchange(connection, request(b"/events")))
    found: list[str] = json.loads(response.body)
    return found


def until(condition: Callable[[], bool], what: Callable[[], object]) -> None:
    """Waits for something.

    Raises:
        AssertionError: If it takes too long.
    """
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.02)


def until_events(served: ServedApp, before: list[str], *expected: str) -> None:
    until(
        lambda: events(served) == [*before, *expected],
        lambda: f"{events(served)} came of {before}, expected {expected} more",
    )


@pytest.mark.parametrize("how", ["closed", "reset"])
def test_a_handler_ends_when_its_client_leaves(served: ServedApp, how: str) -> None:
    before, printed = events(served), served.printed()
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(request(b"/leave"))
        until_events(served, before, "begun")
        if how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    until_events(served, before, "begun", "cancelled", "later")
    assert "Traceback" not in served.printed().removeprefix(printed)


def test_a_handler_ends_when_its_time_is_up(served: ServedApp) -> None:
    before = events(served)
    with served.connect(PATIENCE_S) as connection:
        [response] = responses(exchange(connection, request(b"/late")))
    assert (response.status, response.body) == (504, b"Gateway Timeout")
    until_events(served, before, "begun", "cancelled", "later")


@pytest.mark.parametrize("size", [0, 5, 60_000, 1_000_000])
def test_whoever_watches_the_client_takes_nothing_of_the_body(served: ServedApp, size: int) -> None:
    before = events(served)
    length = b"content-length: %d" % size
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(request(b"/body", length, method=b"POST"))
        if size:
            connection.sendall(b"x" * (size // 2))
            until_events(served, before, "begun")
        [response] = responses(exchange(connection, b"x" * (size - size // 2)))
    assert (response.status, response.body) == (200, b"%d" % size)


def chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


@pytest.mark.parametrize("path", [b"/small/bytes", b"/small/stream"])
def test_bodies_that_fit(served: ServedApp, path: bytes) -> None:
    body = b"x" * MAX_SIZE
    for lines, sent in (
        ([b"content-length: %d" % MAX_SIZE], body),
        ([b"transfer-encoding: chunked"], chunked(body[:10], body[10:])),
    ):
        with served.connect(PATIENCE_S) as connection:
            data = request(path, *lines, method=b"POST", body=sent)
            [response] = responses(exchange(connection, data))
        assert (response.status, response.body) == (200, b"%d" % MAX_SIZE)


@pytest.mark.parametrize("path", [b"/small/bytes", b"/small/stream"])
def test_a_chunked_body_that_is_too_large(served: ServedApp, path: bytes) -> None:
    head = request(path, b"transfer-encoding: chunked", method=b"POST")
    with served.connect(PATIENCE_S) as connection:
        # Not to its end: the answer comes before that.
        connection.sendall(head + chunked(b"x" * MAX_SIZE, b"x")[:-5])
        received = read_until(connection, b"Payload Too Large")
    assert received.startswith(b"HTTP/1.1 413 ")


def test_a_declared_length_that_is_too_large(served: ServedApp) -> None:
    before = events(served)
    for path in (b"/small/bytes", b"/small/unread"):
        lines = (b"content-length: %d" % (MAX_SIZE + 1), b"expect: 100-continue")
        with served.connect(PATIENCE_S) as connection:
            connection.sendall(request(path, *lines, method=b"POST"))
            received = read_until(connection, b"Payload Too Large")
        assert b"HTTP/1.1 413 " in received
        if served.server in ASKS_LATE:
            assert b" 100 " not in received
    assert events(served) == before


def test_a_client_that_asks_first(served: ServedApp) -> None:
    lines = (b"content-length: 5", b"expect: 100-continue")
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(request(b"/small/bytes", *lines, method=b"POST"))
        received = read_until(connection, b"\r\n\r\n")
        assert received.startswith(b"HTTP/1.1 100 ")
        [response] = responses(exchange(connection, b"x" * 5))
    assert (response.status, response.body) == (200, b"5")


def read_until(connection: socket.socket, end: bytes) -> bytes:
    received = b""
    with contextlib.suppress(ConnectionError):
        while end not in received and (data := connection.recv(65536)):
            received += data
    assert end in received, received
    return received
