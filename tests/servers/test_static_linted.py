# SPDX-License-Identifier: MIT
"""What REDbot and httplint find in a folder that kit-serve-static serves by uvicorn."""

from __future__ import annotations

import base64
import gzip
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from linting import lint_response
from serving import ServedApp

pytestmark = pytest.mark.once

BIN = Path(sys.executable).parent
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

# What they say, and why nothing is to be done about it. REDbot's notes have no levels.
EXPECTED = {
    r"The server's clock is correct\.": "good",
    r"The Content-Length header is correct\.": "good",
    r"Content negotiation for gzip compression is supported, saving \d+%\.": "good",
    r"If-None-Match conditional requests are supported\.": "good",
    r"If-Modified-Since conditional requests are supported\.": "good",
    r"A ranged request returned the correct partial content\.": "good",
    r"The resource last changed .*": "a fact",
    r"This response allows all caches to store it\.": "a fact",
    r"This response has already been cached for .*": "the date of the response, in whole seconds",
    r"In exceptional circumstances, caches can serve this response stale\.": "a fact",
    r"This response allows caches to assign their own freshness lifetimes to it\.": (
        "cache_control is the app's: without it, nothing is sent"
    ),
    r"The partial response has a Content-Length equal to the full response\.": (
        "REDbot asks for a range that is longer than a small file"
    ),
    r"This response cannot be stored by caches\.": "a precondition that failed is for one client",
    r"The resource could not be found\.": "as intended",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    folder = tmp_path_factory.mktemp("www")
    script = b"let x = 1;\n" * 400
    (folder / "app.js").write_bytes(script)
    (folder / "app.js.gz").write_bytes(gzip.compress(script))
    (folder / "index.html").write_text("<!doctype html><title>Home</title>")
    (folder / "pic.png").write_bytes(PNG)
    (folder / "docs").mkdir()
    (folder / "docs" / "index.html").write_text("<!doctype html><title>Docs</title>")
    log = tmp_path_factory.mktemp("log") / "uvicorn.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_STATIC_FOLDER", str(folder))
        with ServedApp("uvicorn", "static_app:app", log) as running:
            yield running


def unexpected(notes: list[str]) -> list[str]:
    return [note for note in notes if not any(re.fullmatch(pattern, note) for pattern in EXPECTED)]


@pytest.mark.parametrize("path", ["/", "/app.js", "/pic.png", "/gone"])
def test_redbot_finds_no_fault(served: ServedApp, path: str) -> None:
    ended = subprocess.run(
        [BIN / "redbot", "-o", "text", f"http://127.0.0.1:{served.port}{path}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    notes = re.findall(r"^  \* (.+)$", ended.stdout, re.MULTILINE)
    assert len(notes) >= 3, ended.stdout
    assert not unexpected(notes), ended.stdout
    if path == "/app.js":
        assert any(note.startswith("Content negotiation for gzip") for note in notes)
    if path != "/gone":
        assert any(note.startswith("A ranged request returned the correct") for note in notes)


def raw_response(served: ServedApp, path: str, lines: str) -> bytes:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}\r\n"
    received = b""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
        connection.sendall(request.encode())
        while data := connection.recv(65536):
            received += data
    return received


@pytest.mark.parametrize(
    ("path", "lines", "status"),
    [
        ("/app.js", "", b"200"),
        ("/app.js", "Accept-Encoding: gzip\r\n", b"200"),
        ("/app.js", "Range: bytes=5-9\r\n", b"206"),
        ("/app.js", "Range: bytes=5-9,1000-1009\r\n", b"206"),
        ("/app.js", "Range: bytes=50000-\r\n", b"416"),
        ("/app.js", "If-None-Match: *\r\n", b"304"),
        ("/app.js", 'If-Match: "other"\r\n', b"412"),
        ("/docs", "", b"301"),
    ],
)
def test_httplint_finds_no_fault(served: ServedApp, path: str, lines: str, status: bytes) -> None:
    response = raw_response(served, path, lines)
    assert response.split()[1] == status
    notes = lint_response(response)
    faults = unexpected([note for level, note in notes if level in ("BAD", "WARN")])
    if b"multipart/byteranges" in response:
        # RFC 9110, section 15.3.7.2: it must not have one; its parts have.
        faults.remove("This response is partial, but doesn't have a Content-Range header.")
    assert not faults, notes
