# SPDX-License-Identifier: MIT
"""The same request to an app in process, by ASGI, and by RSGI."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

from rsgi_peer import Http, Scope

Lines: TypeAlias = list[tuple[str, str]]
Answer: TypeAlias = tuple[int, Lines, bytes]


async def by_request(app: Any, path: str) -> Answer:
    """Returns status, header lines and body of a GET request in process."""
    response = await app.request(path)
    lines = [(name.decode(), value.decode("latin-1")) for name, value in response.headers.raw]
    body = response.body  # one in memory isn't used up: the app may keep the response
    content = bytes(body) if isinstance(body, bytes) else await response.bytes()
    return response.status, lines, content


async def by_asgi(app: Any, path: str) -> Answer:
    """The same, by ASGI."""
    sent: list[Any] = []
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 50000),
        "server": ("localhost", 80),
    }
    await app(scope, receive, send)
    head, *rest = sent
    assert not rest[-1].get("more_body", False)
    lines = [(name.decode(), value.decode("latin-1")) for name, value in head["headers"]]
    return head["status"], lines, b"".join(message["body"] for message in rest)


class _Exchange(Http):
    def _respond(self, kind: str, status: int, headers: Any, *rest: Any) -> None:
        assert self.answer is None
        self.answer = (kind, status, list(headers), *rest)


async def by_rsgi(app: Any, path: str) -> Answer:
    """The same, by RSGI."""
    protocol = _Exchange()
    await app.__rsgi__(Scope(path=path), protocol)
    _, status, lines, *content = protocol.answer
    return status, lines, b"".join(content) or b"".join(protocol.sent)
