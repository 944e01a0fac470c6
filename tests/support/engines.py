# SPDX-License-Identifier: MIT
"""Puts recorded requests to an app by the interfaces of servers, without a server."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from rsgi_peer import Http, Scope

from kit import URL
from kit.web import Headers, Response


async def ask_by_asgi(app: Any, request: Any) -> Response:
    """Returns what an app answers to a recorded request over ASGI."""
    url = url_of(request)
    content = (request.get("body") or "").encode()
    sent: list[Any] = []
    messages = [{"type": "http.request", "body": content, "more_body": False}]

    async def receive() -> Any:
        return messages.pop() if messages else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request["method"],
        "scheme": "http",
        "path": unquote(url.pathname),
        "raw_path": url.pathname.encode(),
        "query_string": url.search.removeprefix("?").encode(),
        "root_path": "",
        "headers": lines_of(url, request, content),
        "client": ("127.0.0.1", 50000),
        "server": ("localhost", 80),
    }
    await app(scope, receive, send)
    head, *rest = sent
    return answer(head["status"], head["headers"], b"".join(each["body"] for each in rest))


async def ask_by_rsgi(app: Any, request: Any) -> Response:
    """Returns what an app answers to a recorded request over RSGI."""
    url = url_of(request)
    content = (request.get("body") or "").encode()
    lines = [(n.decode(), v.decode("latin-1")) for n, v in lines_of(url, request, content)]
    protocol = Listing([content, b""] if content else [b""])
    scope = Scope(
        path=unquote(url.pathname),
        method=request["method"],
        lines=lines,
        query_string=url.search.removeprefix("?"),
    )
    await app.__rsgi__(scope, protocol)
    _, status, pairs, *body = protocol.answer
    sent = [(name.encode(), value.encode("latin-1")) for name, value in pairs]
    return answer(status, sent, b"".join(body) or b"".join(protocol.sent))


class Listing(Http):
    """An exchange that keeps all header lines, not one of each name."""

    def _respond(self, kind: str, status: int, headers: Any, *rest: Any) -> None:
        self.answer = (kind, status, list(headers), *rest)


def url_of(request: Any) -> URL:
    """Returns the URL of a recorded request, normalised as any client does."""
    given = request["url"]
    return URL(given if "://" in given else "http://localhost/" + given.removeprefix("/"))


def lines_of(url: URL, request: Any, content: bytes) -> list[tuple[bytes, bytes]]:
    """Returns the header lines of a recorded request as a client sends them."""
    lines = list(Headers([tuple(each) for each in request["headers"]]).raw)
    names = {name for name, _ in lines}
    if b"host" not in names:
        lines.insert(0, (b"host", url.host.encode()))
    if request.get("body") is not None:
        lines.append((b"content-length", b"%d" % len(content)))
        if b"content-type" not in names:
            lines.append((b"content-type", b"text/plain;charset=UTF-8"))
    return lines


def answer(status: int, lines: Any, content: bytes) -> Response:
    """Returns what a client has got, without the Content-Length that only a server adds."""
    kept = [(n.decode(), v.decode("latin-1")) for n, v in lines if n != b"content-length"]
    return Response(content or None, status=status, headers=kept)
