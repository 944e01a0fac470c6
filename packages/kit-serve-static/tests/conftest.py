# SPDX-License-Identifier: MIT
"""Runs async tests on asyncio and on trio; a folder to serve."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from kit import Kit, Response
from kit.serve_static import serve_static

# Far more than any test takes: it only turns a hang into a failure.
LIMIT_S = 30.0
MODIFIED_S = 1_700_000_000
"""When the files of the folder were modified: Tue, 14 Nov 2023 22:13:20 GMT."""

FILES = {
    "index.html": "<h1>Home</h1>",
    "a.txt": "text of a",
    "digits.txt": "0123456789",
    "empty.txt": "",
    "noext": "no extension",
    "css/site.css": "body{color:red}",
    "docs/index.html": "<h1>Docs</h1>",
    "docs/deep/er/page.html": "deep",
    "bare/file.txt": "a folder without an index",
    ".env": "SECRET=1",
    ".git/config": "SECRET",
    ".well-known/security.txt": "Contact: mailto:a@example.com",
    "docs/.hidden.txt": "SECRET",
    "sp ace.txt": "space",
    "café.txt": "café",
    "100%.txt": "percent",
    "what?.txt": "question",
    "a#b.txt": "hash",
    "UPPER.TXT": "upper",
    "a..b.txt": "two dots",
}


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function; a test that takes it runs once on each event loop."""

    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                return await function(*args)

        return anyio.run(bounded, backend=request.param)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files, and a secret beside it."""
    root = tmp_path / "www"
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        os.utime(path, (MODIFIED_S, MODIFIED_S))
    (tmp_path / "secret.txt").write_text("TOP SECRET")
    (tmp_path / "www-private").mkdir()
    (tmp_path / "www-private" / "secret.txt").write_text("TOP SECRET")
    return root


class Asked:
    """What came of a request.

    Attributes:
        status: The status.
        headers: The headers, by name.
        body: The body.
    """

    def __init__(self, response: Response, body: bytes) -> None:
        self.status = response.status
        self.headers = dict(response.headers.items())
        self.body = body


async def asked(app: Kit, path: str, method: str = "GET", **headers: str) -> Asked:
    """Sends a request in process; `if_none_match="x"` is the header If-None-Match."""
    lines = {name.replace("_", "-"): value for name, value in headers.items()}
    response = await app.request(path, method=method, headers=lines)
    return Asked(response, await response.bytes())


@pytest.fixture
def ask(run: Callable[..., Any]) -> Callable[..., Asked]:
    """Sends a request to an app: `ask(app, "/a.txt", "HEAD", range="bytes=0-")`."""

    def ask(app: Kit, path: str, method: str = "GET", **headers: str) -> Asked:
        async def once() -> Asked:
            return await asked(app, path, method, **headers)

        found: Asked = run(once)
        return found

    return ask


@pytest.fixture
def site(folder: Path) -> Callable[..., Kit]:
    """Makes an app that serves the folder: `site(precompressed=True)`."""

    def site(**options: Any) -> Kit:
        app = Kit()
        app.use("/*", serve_static(folder, **options))
        return app

    return site
