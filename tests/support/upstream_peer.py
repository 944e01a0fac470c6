# SPDX-License-Identifier: MIT
"""An upstream server in process, which records what it receives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import unquote_to_bytes

import anyio
import httpx


class Upstream(httpx.AsyncBaseTransport):
    """Responds to every request, by default with an empty 200.

    Args:
        respond: Returns the response to a request, whose body it may read.

    Attributes:
        requests: The requests.
        closed: How many responses were closed.
    """

    def __init__(
        self, respond: Callable[[httpx.Request], Awaitable[httpx.Response]] | None = None
    ) -> None:
        self._respond = respond
        self.requests: list[httpx.Request] = []
        self.closed = 0

    @property
    def client(self) -> httpx.AsyncClient:
        """A client for it. It has fields and cookies that no request should get."""
        return httpx.AsyncClient(
            transport=self, headers={"x-of-client": "1"}, cookies={"of": "client"}
        )

    @property
    def last(self) -> httpx.Request:
        """The last request."""
        return self.requests[-1]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self._respond is not None:
            return await self._respond(request)
        await request.aread()
        return httpx.Response(200)

    async def aclose(self) -> None:
        self.closed += 1


class Chunks(httpx.AsyncByteStream):
    """A body in chunks.

    Args:
        chunks: An async iterator of them.
    """

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self.is_closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks

    async def aclose(self) -> None:
        self.is_closed = True
        await self._chunks.aclose()  # type: ignore[attr-defined]


def http_scope(target: bytes = b"/", **more: Any) -> dict[str, Any]:
    """Returns the ASGI scope of a request with a target as a client sends it."""
    raw_path, _, query = target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote_to_bytes(raw_path).decode("utf-8", "replace"),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(b"host", b"public.example")],
        "client": ("192.0.2.7", 1234),
        "server": ("127.0.0.1", 80),
        **more,
    }


async def serve(app: Any, scope: dict[str, Any], body: bytes = b"") -> tuple[int, dict[str, str]]:
    """Runs an ASGI app for one request; returns the status and the header lines."""
    sent: list[dict[str, Any]] = []
    received = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if received:
            return received.pop()
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await app(scope, receive, send)
    headers = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers
