# SPDX-License-Identifier: MIT
"""Sends an app one request in process, as a server would: through ASGI, without a port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from kit.interface import App

from ._errors import AppError
from ._explaining import is_absolute
from ._lifespan import run_lifespan

# What may stand in a path or query as it is; the rest is percent-encoded, as a browser does it.
_IN_PATH = "%/:@!$&'()*+,;=~-._[]"
_IN_QUERY = _IN_PATH + "?"
_DEFAULT_PORTS = {"http": 80, "https": 443}
Header = tuple[str, str]


class NoResponseError(AppError, RuntimeError):
    """The app ended without an answer; a server would have to answer for it."""

    def __str__(self) -> str:
        return "The app gave no response"


def call(
    app: App,
    scope: dict[str, Any],
    body: bytes,
    on_head: Callable[[int, list[Header]], object],
    on_chunk: Callable[[bytes], object],
) -> None:
    """Runs the lifespan of an app and, meanwhile, answers a request.

    Args:
        app: The app, or ASGI middleware around it.
        scope: What `build_scope` made of the request.
        body: The body of the request.
        on_head: Given status and headers, once there is a response.
        on_chunk: Given each part of its body, as soon as it is there.

    Raises:
        NoResponseError: If there is none.
        Exception: What the lifespan raises, and what a response raises after it has begun.
    """
    asyncio.run(_call(app, scope, body, on_head, on_chunk))


async def _call(
    app: App,
    scope: dict[str, Any],
    body: bytes,
    on_head: Callable[[int, list[Header]], object],
    on_chunk: Callable[[bytes], object],
) -> None:
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    is_over = asyncio.Event()
    has_begun = False

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await is_over.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal has_begun
        if message["type"] == "http.response.start":
            has_begun = True
            pairs = message.get("headers", ())
            on_head(
                message["status"], [(n.decode("latin-1"), v.decode("latin-1")) for n, v in pairs]
            )
        elif message["type"] == "http.response.body":
            if message.get("body"):
                on_chunk(message["body"])
            if not message.get("more_body"):
                is_over.set()

    async with run_lifespan(app) as added:
        await app({**scope, **added}, receive, send)
    if not has_begun:
        raise NoResponseError


def build_scope(
    method: str, url: str, headers: Sequence[Header], length: int | None
) -> dict[str, Any]:
    """Makes the scope of a request.

    SPEC: ASGI HTTP, "HTTP Connection Scope".

    Args:
        method: HTTP method.
        url: A path, which is taken on http://localhost, or a URL.
        headers: Names and values.
        length: Length of the body in bytes; None if there is none.

    Raises:
        ValueError: If the URL or a header can't be sent.
    """
    if not is_absolute(url):
        url = "http://localhost" + (url if url.startswith("/") else f"/{url}")
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS:
        raise ValueError(f"Can't send a request to {url!r}: expected a path, http:// or https://")
    raw_path = quote(parts.path or "/", safe=_IN_PATH)
    lines = [(n.lower().encode("latin-1"), v.encode("latin-1")) for n, v in headers]
    names = {name for name, _ in lines}
    if b"host" not in names:
        lines.insert(0, (b"host", parts.netloc.rpartition("@")[2].encode("idna")))
    if length is not None and b"content-length" not in names:
        lines.append((b"content-length", b"%d" % length))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": parts.scheme,
        "path": unquote(raw_path),
        "raw_path": raw_path.encode(),
        "query_string": quote(parts.query, safe=_IN_QUERY).encode(),
        "root_path": "",
        "headers": lines,
        "client": ("127.0.0.1", 0),
        "server": (parts.hostname or "localhost", parts.port or _DEFAULT_PORTS[parts.scheme]),
    }
