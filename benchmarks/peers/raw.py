# SPDX-License-Identifier: MIT
"""No framework: an ASGI callable written by hand, with the libraries that Kit uses.

What it leaves out is what a framework is for: errors, limits, other methods, encoded slashes; it
takes the path as the server decoded it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

import msgspec
from multipart import MultipartSegment, PushMultipartParser, parse_options_header

from ..rows import CHUNK, CHUNKS, PAUSES

App: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_TEXT = (b"content-type", b"text/plain; charset=UTF-8")
_JSON = (b"content-type", b"application/json")


class Item(msgspec.Struct):
    id: int
    name: str
    tags: list[str]
    price: float
    active: bool


_decode_item = msgspec.json.Decoder(Item).decode


async def answer(send: Any, body: bytes, *headers: tuple[bytes, bytes], status: int = 200) -> None:
    lines = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})


async def read(receive: Any) -> bytes:
    message = await receive()
    body: bytes = message["body"]
    if message["more_body"]:
        parts = [body]
        while message["more_body"]:
            message = await receive()
            parts.append(message["body"])
        body = b"".join(parts)
    return body


def header(scope: Any, name: bytes) -> bytes:
    for key, value in scope["headers"]:
        if key == name:
            return value  # type: ignore[no-any-return]
    return b""


async def text(scope: Any, receive: Any, send: Any) -> None:
    # Written out, since all else is measured against it: no call but those to the server.
    body = b"Hello, World!"
    lines = [_TEXT, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": lines})
    await send({"type": "http.response.body", "body": body})


async def as_json(scope: Any, receive: Any, send: Any) -> None:
    body = _encode({"id": 1, "name": "kit"})
    lines = [_JSON, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": lines})
    await send({"type": "http.response.body", "body": body})


async def search(scope: Any, receive: Any, send: Any) -> None:
    query = dict(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
    await answer(send, f"{query['q']} {query['page']}".encode(), _TEXT)


async def headers(scope: Any, receive: Any, send: Any) -> None:
    value = header(scope, b"x-request-id")
    await answer(send, b"ok", _TEXT, (b"x-request-id", value), (b"cache-control", b"no-store"))


async def echo(scope: Any, receive: Any, send: Any) -> None:
    await answer(send, _encode(_decode(await read(receive))), _JSON)


async def form(scope: Any, receive: Any, send: Any) -> None:
    fields = dict(parse_qsl((await read(receive)).decode(), keep_blank_values=True))
    await answer(send, f"{fields['name']} {fields['email']}".encode(), _TEXT)


async def upload(scope: Any, receive: Any, send: Any) -> None:
    _, options = parse_options_header(header(scope, b"content-type").decode())
    parts: dict[str, tuple[str | None, bytes]] = {}
    segment: MultipartSegment | None = None
    pieces: list[bytes] = []
    more = True
    with PushMultipartParser(options["boundary"]) as parser:
        while more:
            message = await receive()
            more = message["more_body"]
            for event in parser.parse(message["body"]):
                if event is None:
                    assert segment is not None
                    parts[segment.name] = segment.filename, b"".join(pieces)
                elif isinstance(event, MultipartSegment):
                    segment, pieces = event, []
                else:
                    pieces.append(bytes(event))
    title = parts["title"][1].decode()
    name, data = parts["file"]
    await answer(send, f"{title} {name} {len(data)}".encode(), _TEXT)


async def read_bytes(scope: Any, receive: Any, send: Any) -> None:
    await answer(send, b"%d" % len(await read(receive)), _TEXT)


async def stream(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [_TEXT]})
    for _ in range(CHUNKS):
        await send({"type": "http.response.body", "body": CHUNK, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def not_found(scope: Any, receive: Any, send: Any) -> None:
    await answer(send, b"404 Not Found", _TEXT, status=404)


def rows_app(_: int = 0) -> App:
    apps = {
        "/": text,
        "/json": as_json,
        "/search": search,
        "/headers": headers,
        "/echo": echo,
        "/form": form,
        "/upload": upload,
        "/bytes": read_bytes,
        "/stream": stream,
    }

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        handler = apps.get(path)
        if handler is not None:
            await handler(scope, receive, send)
        elif path.startswith("/users/"):
            await answer(send, path[7:].encode(), _TEXT)
        else:
            await not_found(scope, receive, send)

    return app


async def cookies(scope: Any, receive: Any, send: Any) -> None:
    pairs = [pair.strip().split(b"=", 1) for pair in header(scope, b"cookie").split(b";")]
    session = dict(pairs)[b"session"]
    visited = (b"set-cookie", b"visited=%b; Path=/; HttpOnly" % session)
    await answer(send, session, _TEXT, visited)


async def validated(scope: Any, receive: Any, send: Any) -> None:
    await answer(send, _encode(_decode_item(await read(receive))), _JSON)


async def slow(scope: Any, receive: Any, send: Any) -> None:
    for _ in range(PAUSES):
        await asyncio.sleep(0)
    await answer(send, b"Hello, World!", _TEXT)


def blocking() -> bytes:
    return b"Hello, World!"


async def threaded(scope: Any, receive: Any, send: Any) -> None:
    body = await asyncio.get_running_loop().run_in_executor(None, blocking)
    await answer(send, body, _TEXT)


def more_app(_: int = 0) -> App:
    apps = {"/cookies": cookies, "/slow": slow, "/thread": threaded}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        handler = apps.get(path)
        if handler is not None:
            await handler(scope, receive, send)
        elif not path.startswith("/users/"):
            await not_found(scope, receive, send)
        elif scope["method"] != "GET":
            await answer(send, b"405 Method Not Allowed", _TEXT, (b"allow", b"GET"), status=405)
        else:
            await answer(send, path[7:].encode(), _TEXT)

    return app


def validated_app(_: int = 0) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            handler = validated if scope["path"] == "/validated" else not_found
            await handler(scope, receive, send)

    return app


def nested_app(_: int = 0) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path.startswith("/api/v1/users/"):
            await answer(send, path[14:].encode(), _TEXT)
        else:
            await not_found(scope, receive, send)

    return app


def middleware_app(count: int) -> App:
    def wrap(inner: App) -> App:
        async def pass_through(scope: Any, receive: Any, send: Any) -> None:
            await inner(scope, receive, send)

        return pass_through

    app = rows_app()
    for _ in range(count):
        app = wrap(app)
    return app


def table_app(paths: list[str]) -> App:
    static = {path for path in paths if ":id" not in path}
    dynamic = {path for path in paths if ":id" in path}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path in static:
            await answer(send, b"list", _TEXT)
            return
        first, value, *rest = path[1:].split("/")
        if "/".join(["", first, ":id", *rest]) in dynamic:
            await answer(send, value.encode(), _TEXT)
        else:
            await not_found(scope, receive, send)

    return app
