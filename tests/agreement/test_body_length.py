# SPDX-License-Identifier: MIT
"""A body that is shorter than its Content-Length is refused by every reader."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Limits, Response
from kit.asgi import from_asgi
from kit.body_limit import body_limit

FORM = b"application/x-www-form-urlencoded"
MULTIPART = b"multipart/form-data; boundary=XX"


async def mounted(scope: Any, receive: Any, send: Any) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return
        body += message["body"]
        more = message["more_body"]
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def stream(c: Context) -> bytes:
    assert c.req.raw.body is not None
    return b"".join([chunk async for chunk in c.req.raw.body])


async def clone(c: Context) -> bytes:
    twin = c.req.raw.clone()
    first, second = await twin.bytes(), await c.req.bytes()
    assert first == second
    return first


async def limited(c: Context) -> bytes:
    c.req.limit_body(10**6, lambda: HTTPException(413))
    return await c.req.bytes()


async def form(c: Context) -> bytes:
    return "&".join(f"{name}={value}" for name, value in await c.req.form_data()).encode()


async def parsed(c: Context) -> bytes:
    found = await c.req.parse_body()
    return "&".join(f"{name}={value}" for name, value in found.items()).encode()


async def raw_form(c: Context) -> bytes:
    return "&".join(f"{name}={value}" for name, value in await c.req.raw.form_data()).encode()


async def as_json(c: Context) -> bytes:
    return str(await c.req.json()).encode()


READERS: dict[str, Callable[[Context], Awaitable[bytes]]] = {
    "bytes": lambda c: c.req.bytes(),
    "text": lambda c: c.req.text(),  # type: ignore[dict-item,return-value]
    "raw-bytes": lambda c: c.req.raw.bytes(),
    "stream": stream,
    "clone": clone,
    "limited": limited,
    "form": form,
    "parsed": parsed,
    "parsed-all": lambda c: parsed_all(c),
    "raw-form": raw_form,
    "json": as_json,
}


async def parsed_all(c: Context) -> bytes:
    found = await c.req.parse_body(all=True, max_fields=100)
    return "&".join(f"{name}={value}" for name, value in found.items()).encode()


def app() -> Kit:
    app = Kit(limits=Limits(spool_size_bytes=20))
    for name, reader in READERS.items():

        async def handler(c: Context, reader: Any = reader) -> Response:
            return c.body(await reader(c))

        app.post(f"/{name}", handler)
        app.post(f"/below/{name}", handler, use=[body_limit(max_size=10**6)])
    app.mount("/mounted", from_asgi(mounted))
    return app


APP = app()
PATHS = [f"/{name}" for name in READERS] + [f"/below/{name}" for name in READERS] + ["/mounted"]


async def ask(
    path: str, chunks: list[bytes], length: bytes | None, kind: bytes, version: str = "1.1"
) -> tuple[int, bytes]:
    """Sends a request to the app as a server does; the status and the body of the response."""
    headers = [(b"host", b"x"), (b"content-type", kind)]
    if length is not None:
        headers.append((b"content-length", length))
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    messages = messages or [{"type": "http.request", "body": b"", "more_body": True}]
    messages[-1]["more_body"] = False
    sent: list[Any] = []

    async def receive() -> Any:
        if not messages:
            await asyncio.Event().wait()  # the client stays
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": version,
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    await APP(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


CHUNKS = st.lists(st.sampled_from([b"", b"a=1", b"&", b"b=2&c=3", b"x" * 30]), max_size=50)


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=15)
@given(CHUNKS, st.integers(1, 100), st.sampled_from(["1.1", "2"]))
@example([], 5, "1.1")  # as uvicorn gives a body with `Upgrade: h2c`
@example([b"a=1"], 1, "1.1")
@example([b"a=1", b""], 200_000, "1.1")
async def test_a_body_that_is_cut(path: str, chunks: Any, missing: int, version: str) -> None:
    size = sum(map(len, chunks))
    for kind in (FORM, MULTIPART, b"application/json"):
        if kind != FORM and path.endswith(("form", "parsed", "parsed-all")):
            continue  # malformed, or not read
        status, body = await ask(path, list(chunks), b"%d" % (size + missing), kind, version)
        message = (
            f"The body is incomplete: it has {size} bytes, but its Content-Length is "
            f"{size + missing}"
        )
        assert (status, body.decode()) == (400, message)


@pytest.mark.parametrize("path", [path for path in PATHS if not path.endswith("json")])
@settings(max_examples=15)
@given(CHUNKS, st.sampled_from(["exact", "none"]), st.sampled_from(["1.1", "2"]))
async def test_a_whole_body(path: str, chunks: Any, length: str, version: str) -> None:
    data = b"".join(chunks)
    declared = b"%d" % len(data) if length == "exact" else None
    status, body = await ask(path, list(chunks), declared, FORM, version)
    assert status == 200
    if "form" not in path and "parsed" not in path:
        assert body == data


async def test_a_multipart_form_that_is_cut() -> None:
    part = b'--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + b"v" * 100
    for path in ("/form", "/parsed", "/raw-form", "/below/form", "/bytes"):
        for body in (part, part + b"\r\n--XX--"):  # the second one looks complete
            for chunks in ([body], [body[:50], body[50:]], [body[at : at + 1] for at in range(99)]):
                size = sum(map(len, chunks))
                status, text = await ask(path, chunks, b"%d" % (size + 1), MULTIPART)
                assert (status, text.startswith(b"The body is incomplete")) == (400, True), text


async def test_a_request_made_in_process_has_the_body_that_it_has() -> None:
    response = await APP.request(
        "/bytes", {"method": "POST", "body": "abc", "headers": {"content-length": "5"}}
    )
    assert (response.status, await response.text()) == (200, "abc")


async def test_a_handler_that_reads_nothing_is_not_asked() -> None:
    quiet = Kit().post("/", lambda c: c.text("ok"))
    response = await quiet.request("/", {"method": "POST"})
    assert response.status == 200
