# SPDX-License-Identifier: MIT
"""A client that leaves in the middle of an upload or a download leaves nothing behind."""

from __future__ import annotations

import gc
import json
import logging
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from asgi_peer import Course, Peer, http_scope
from leaving_app import DOWNLOADS, SPOOL_BYTES, UPLOADS, make_app, state
from serving import ServedApp
from wire import exchange, request, responses

PATIENCE_S = 20  # how long anything may take before the test gives up
SERVERS = ("uvicorn", "uvicorn-h11", "hypercorn", "hypercorn-trio")

MULTIPART = b"content-type: multipart/form-data; boundary=XX"
URLENCODED = b"content-type: application/x-www-form-urlencoded"
# In the middle of a file that is in a temporary file already, or of a field in memory.
HALF_A_FILE = (
    b'--XX\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' + b"x" * 1_300_000
)
HALF_FORMS = {
    "file": (MULTIPART, HALF_A_FILE),
    "field": (MULTIPART, b'--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\nvalue'),
    "urlencoded": (URLENCODED, b"a=1&b=2"),
}
HALVES = pytest.mark.parametrize(
    ("path", "half"),
    [(path, half) for path in UPLOADS for half in HALF_FORMS],
)
LEFT_UPLOAD = "The client disconnected before its body was complete"
LEFT_DOWNLOAD = "The client disconnected during a streamed response"


@pytest.fixture(scope="module", params=SERVERS)
def served(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp(request.param) / "log"
    target, options = "leaving_app:served_app", ("--factory", "--log-level=warning")
    if request.param.startswith("hypercorn"):
        target, options = "leaving_app:served_app()", ("--log-level=warning",)
    with ServedApp(request.param, target, log, *options) as running:
        yield running


def asked(served: ServedApp) -> dict[str, Any]:
    """What the server says of its state."""
    with served.connect(PATIENCE_S) as connection:
        [response] = responses(exchange(connection, request(b"/state")))
    found: dict[str, Any] = json.loads(response.body)
    return found


def until(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    """Waits for something.

    Raises:
        AssertionError: If it takes too long.
    """
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.02)


def leave(connection: socket.socket, how: str) -> None:
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def check_left(served: ServedApp, before: dict[str, Any], printed: str, message: str) -> None:
    """Waits until nothing is left of a request, and looks at the log."""
    until(lambda: asked(served) == before, lambda: f"{asked(served)} became of {before}")
    lines = served.printed().removeprefix(printed).splitlines()
    assert len(lines) <= 1, lines
    assert [line.partition(": ")[0] for line in lines] in ([], ["DEBUG kit"])
    assert all(message in line for line in lines)


MIDDLE_BYTES = 1_000_000

HOW = pytest.mark.parametrize("how", ["closed", "reset"])


@HOW
@HALVES
def test_served_upload(served: ServedApp, path: str, half: str, how: str) -> None:
    before, printed = asked(served), served.printed()
    content_type, body = HALF_FORMS[half]
    lines = (content_type, b"content-length: 10000000")
    spools = half == "file" and path not in ("raw", "bytes")
    # Of two tasks, either may be the one that reads.
    files = (0, 1) if path == "two_tasks" and spools else (int(spools),)

    def has_begun() -> bool:
        now = asked(served)
        return bool(now["running"] == ["handler"] and now["temporary_files"] in files)

    with served.connect(PATIENCE_S) as connection:
        connection.sendall(request(b"/" + path.encode(), *lines, method=b"POST") + body)
        until(has_begun, lambda: f"{asked(served)}: the upload did not begin")
        leave(connection, how)
    check_left(served, before, printed, LEFT_UPLOAD)


@HOW
@pytest.mark.parametrize("path", DOWNLOADS)
def test_served_download(served: ServedApp, path: str, how: str) -> None:
    before, printed = asked(served), served.printed()
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(request(b"/" + path.encode()))
        received = connection.recv(4096)
        assert received.startswith(b"HTTP/1.1 200 ")
        enough = 1 if path == "waiting" else MIDDLE_BYTES
        while len(received) < enough:
            received += connection.recv(65536)
        leave(connection, how)
    check_left(served, before, printed, LEFT_DOWNLOAD)


@pytest.mark.once
def test_served_download_beside_a_body_that_nobody_reads(served: ServedApp) -> None:
    with served.connect(PATIENCE_S) as connection:
        body = b"x" * 130_000
        connection.sendall(request(b"/waiting", b"content-length: 130000") + body)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert asked(served)["running"] == ["body"]
    until(lambda: asked(served)["running"] == [], lambda: f"{asked(served)} is left")


def played(backend: str, scope: dict[str, Any], body: bytes, course: Course) -> Peer:
    """Serves a request whose client leaves, and checks that nothing is left of it."""

    async def main() -> Peer:
        peer = Peer(scope, body, course)
        app = make_app()
        before = state()
        await peer.play(app)
        with anyio.fail_after(PATIENCE_S):
            while state() != before:
                await anyio.sleep(0.001)
        gc.collect()
        assert state() == before
        return peer

    peer = anyio.run(main, backend=backend)
    assert peer.answer.raised is None
    assert peer.violations == []
    return peer


def scope_of(method: str, path: str, content_type: bytes = b"") -> dict[str, Any]:
    headers = [tuple(content_type.split(b": "))] if content_type else []
    return http_scope(f"/{path}", method, headers=headers)


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [
        (record.levelno, record.getMessage())
        for record in caplog.records
        if record.name == "kit" or record.levelno > logging.DEBUG
    ]


@HALVES
def test_upload(backend: str, path: str, half: str, caplog: pytest.LogCaptureFixture) -> None:
    content_type, body = HALF_FORMS[half]
    sizes = (3, len(body) // 2, SPOOL_BYTES)
    for after in range(len(sizes) + 1):
        caplog.clear()
        with caplog.at_level(logging.DEBUG):
            course = Course(sizes, leaves_after_receives=after)
            peer = played(backend, scope_of("POST", path, content_type), body, course)
        assert peer.answer.status in (0, 400)
        assert logged(caplog) == [(logging.DEBUG, LEFT_UPLOAD)]


@pytest.mark.parametrize("send_raises", [False, True], ids=["send ignores", "send raises"])
@pytest.mark.parametrize("path", DOWNLOADS)
def test_download(
    backend: str, path: str, send_raises: bool, caplog: pytest.LogCaptureFixture
) -> None:
    for after in (1, 2, 20):
        if path == "waiting" and after > 2:
            continue  # there is no more to be sent
        caplog.clear()
        with caplog.at_level(logging.DEBUG):
            course = Course(leaves_after_sends=after, send_raises_when_gone=send_raises)
            peer = played(backend, scope_of("GET", path), b"", course)
        assert not peer.answer.complete
        found = logged(caplog)
        assert len(found) <= 1
        assert all(level == logging.DEBUG and LEFT_DOWNLOAD in text for level, text in found)
