# SPDX-License-Identifier: MIT
"""Requests to the app of `everything` whose answers are known: what `scripts/soak.py` sends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

Check = Callable[[httpx.AsyncClient], Awaitable[str | None]]

# What the log may hold: faults on purpose, and what servers say of a connection that was cut.
PLANNED = (
    "PlannedError",
    "StreamAbortedError",
    "HTTPException: ",
    "HandlerError",
    "Can't encode object",
    "Invalid value 'a\\r\\nset-cookie",
    "A response with status 204 has no body",
    "ExceptionGroup",
)
FILE = b"0123456789" * 400


class Left(Exception):  # noqa: N818 - no fault
    """The client disconnected, so there is no answer to check."""


@dataclass(frozen=True)
class Plan:
    """One request.

    Attributes:
        name: What it is called in the report.
        check: Sends it; gives what is wrong with the answer, or None.
    """

    name: str
    check: Check

    async def __call__(self, client: httpx.AsyncClient) -> str | None:
        return await self.check(client)


def plan(
    method: str, path: str, status: int, body: Any = None, /, *, location: str = "", **options: Any
) -> Plan:
    """A request with a known answer.

    Args:
        method: The method.
        path: The path.
        status: The status of the answer.
        body: The body of the answer: bytes, what is in its JSON, or None for any.
        location: What the answer has as Location.
        **options: As for `httpx.AsyncClient.request`.
    """

    async def check(client: httpx.AsyncClient) -> str | None:
        made = {key: each() if callable(each) else each for key, each in options.items()}
        answer = await client.request(method, path, **made)
        if answer.status_code != status:
            return f"{answer.status_code} {answer.text:.100}, expected {status}"
        if isinstance(body, bytes):
            return None if answer.content == body else f"{answer.content[:100]!r}"
        if body is not None and not _holds(answer.json(), body):
            return answer.text
        return None if answer.headers.get("location", "").endswith(location) else "Location"

    return Plan(f"{method} {path}", check)


def _holds(found: Any, expected: Any) -> bool:
    """Whether JSON is what it should be; of an object, as far as it is said."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return all(key in found and _holds(found[key], each) for key, each in expected.items())
    return bool(found == expected)


async def chunks() -> AsyncIterator[bytes]:
    """A body without a length."""
    for number in range(20):
        yield b"chunk %d;" % number


SENT = b"".join(b"chunk %d;" % number for number in range(20))
STREAMED = b"n0;n1;n2;n3;n4;"
PLAINLY = b"a" * sum(number % 3 for number in range(40))
EVENTS = b'event: last\ndata: 7\n\ndata: {"a":[1]}\nid: 1\nretry: 1000\n\n'
BEARER = {"authorization": "Bearer s3cret"}
BOOK = {"title": "T", "year": 1, "authors": ["a"]}

PLAIN = (
    plan("GET", "/", 200, b"hello"),
    plan(
        "GET", "/users/12?a=1&a=2&b=%20", 200, {"param": {"id": "12"}, "queries": {"a": ["1", "2"]}}
    ),
    plan("GET", "/users/a%2Fb", 200, {"param": {"name": "a/b"}}),
    plan("HEAD", "/users/me", 200, b""),
    plan("GET", "/nowhere", 404, b"nothing at /nowhere"),
    plan("POST", "/users/me", 405, b"405 Method Not Allowed"),
    plan("OPTIONS", "/rendered", 204, b""),
    plan("GET", "/rendered/", 301, b"", location="/rendered"),
    plan("GET", "/rendered", 200, b"<title>everything</title><p>page</p>"),
    plan("GET", "/misuse/redirect?to=/x", 302, b"", location="/x"),
    plan("GET", "/cookies?a=1", 200, {"b": "2"}, headers={"cookie": "b=2"}),
    plan("GET", "/unchanged", 304, b""),
    plan("GET", "/large", 200, b"x" * 300_000),
    plan("GET", "/in-thread/1", 200, {"param": {"x": "1"}}),
    plan("GET", "/validated/7?n=3&tags=a&tags=b", 200),
    plan("GET", "/validated/x?n=y", 400, {"status": 400}),
    plan("GET", "/api/secret/1", 401, b"Unauthorized"),
    plan("GET", "/api/secret/1", 200, {"param": {"what": "1"}}, headers=BEARER),
    plan("POST", "/json", 201, BOOK, json=BOOK),
    plan("POST", "/json", 400, content=b"{"),
    plan("POST", "/checked/json", 200, [BOOK, None], json=BOOK),
    plan("POST", "/read/bytes", 200, [SENT.hex()], content=chunks),
    plan("POST", "/read/bytes", 413, b"The body is larger than 20000 bytes", content=b"x" * 30_000),
    plan("POST", "/read/form+bytes", 200, data={"a": "1"}),
    plan(
        "POST",
        "/read/form",
        200,
        [[["f", ["n", "text/x", 4000]]]],
        files={"f": ("n", FILE, "text/x")},
    ),
    plan("POST", "/stream/both-ways", 200, SENT.upper() + b"!", content=chunks),
    plan("POST", "/loud/stream/both-ways", 200, SENT.upper() + b"!!", content=chunks),
    plan("GET", "/stream/counted", 200, STREAMED),
    plan("GET", "/stream/plainly", 200, PLAINLY),
    plan("GET", "/loud/stream/counted", 200, STREAMED.upper() + b"!"),
    plan("GET", "/stream/closed-early", 200, b"some, then the rest"),
    plan("GET", "/loud/stream/closed-early", 200, b"SOME, THEN THE REST!"),
    plan("GET", "/stream/events", 200, EVENTS, headers={"last-event-id": "7"}),
    plan("POST", "/later", 200, b"now"),
    plan("PUT", "/fetch/x?y", 200, content=b"body"),
    plan("POST", "/asgi/x", 200, SENT + b"/asgi", content=chunks),
    plan("GET", "/asgi/later", 200, b"/asgi"),
    plan("GET", "/asgi/empty", 204, b""),
    plan("POST", "/wsgi/x", 200, b"POST body", content=b"body"),
    plan("POST", "/kit/1/json", 201, BOOK, json=BOOK),
    plan("GET", "/lenient/about/", 200, {"path": "/lenient/about"}),
    plan("GET", "/raise/refused", 403, b"refused"),
    plan("GET", "/raise/response", 400, b"shared"),
    plan("GET", "/raise/group", 409, b"from a group"),
)


def cut(path: str, begins: bytes) -> Plan:
    """A request whose answer is cut by a fault of the handler."""

    async def check(client: httpx.AsyncClient) -> str | None:
        received = b""
        try:
            async with client.stream("GET", path) as answer:
                async for chunk in answer.aiter_bytes():
                    received += chunk
        except httpx.RemoteProtocolError:
            return None if begins.startswith(received) else f"{received!r}, then the end"
        return f"{received!r} as a complete answer"

    return Plan(f"GET {path}", check)


FAULTS = (
    plan("GET", "/raise/fault", 500, b"PlannedError"),
    plan("GET", "/raise/on-error", 500, b"Internal Server Error"),
    plan("GET", "/raise/two", 500, b"ExceptionGroup"),
    plan("GET", "/api/boom", 500, {"api": "PlannedError"}),
    plan("GET", "/misuse/nothing", 500, b"HandlerError"),
    plan("GET", "/misuse/next-twice", 500, b"HandlerError"),
    plan("GET", "/misuse/newline", 500, b"ValueError"),
    plan("GET", "/misuse/json", 500, b"TypeError"),
    plan("GET", "/fetch/boom", 500, b"PlannedError"),
    plan("GET", "/asgi/boom", 500, b"PlannedError"),
    plan("GET", "/kit/1/boom", 500, b"PlannedError"),
    plan("GET", "/broken/later", 200, b"now"),
    cut("/broken/generator", b"some"),
    cut("/broken/callback", b"some"),
    cut("/broken/aborted", b"some"),
    cut("/asgi/broken", b"some"),
)


def download(path: str, size: int) -> Plan:
    """A client that leaves when it has received some of the answer."""

    async def check(client: httpx.AsyncClient) -> str | None:
        received = 0
        async with client.stream("GET", path) as answer:
            if answer.status_code != 200:
                return f"status {answer.status_code}"
            async for chunk in answer.aiter_raw():
                received += len(chunk)
                if received >= size:
                    raise Left
        return "the answer ended before the client left"

    return Plan(f"download of {path}", check)


def upload(path: str, content_type: str, begin: bytes) -> Plan:
    """A client that leaves in the middle of its request."""

    async def content() -> AsyncIterator[bytes]:
        yield begin
        raise Left

    async def check(client: httpx.AsyncClient) -> str | None:
        headers = {"content-type": content_type, "content-length": "100000"}
        await client.post(path, headers=headers, content=content())
        return "the client did not leave"

    return Plan(f"upload to {path}", check)


_PART = b'--B\r\ncontent-disposition: form-data; name="f"; filename="f"\r\n\r\n' + FILE

BROKEN_OFF = (
    download("/large", 1),
    download("/stream/endless", 10),
    download("/stream/endlessly-written", 10),
    download("/loud/stream/endless", 10),
    download("/loud/stream/endlessly-written", 10),
    download("/asgi/endless", 10),
    upload("/json", "application/json", json.dumps(BOOK).encode()[:5]),
    upload("/read/bytes", "text/plain", b"x" * 5000),
    upload("/checked/form", "multipart/form-data; boundary=B", _PART),
    upload("/stream/both-ways", "text/plain", b"some"),
    upload("/asgi/x", "text/plain", b"some"),
    upload("/fetch/x", "text/plain", b"some"),
    upload("/ignored", "text/plain", b"some"),
)
