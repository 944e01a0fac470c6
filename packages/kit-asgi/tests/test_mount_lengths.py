# SPDX-License-Identifier: MIT
"""Content-Length is that of the body that is sent, whoever replaced the one it was given for.

SPEC: RFC 9110 section 8.6.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from kit import Context, Kit, Request, Response
from kit.asgi import from_asgi, from_wsgi

BODY = b"abcd"
LOUDER = b"ABCD!"


async def louder(body: Any) -> AsyncIterator[bytes]:
    async for chunk in body:
        yield chunk.upper()
    yield b"!"


# --- where a length comes from --------------------------------------------------------------------


def asgi_app(*chunks: bytes) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"4"), (b"x-app", b"yes")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body"})

    return app


async def asgi_app_at_once(scope: Any, receive: Any, send: Any) -> None:
    headers = [(b"Content-Length", b"4"), (b"x-app", b"yes")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})


def wsgi_app(environ: Any, start_response: Any) -> Iterator[bytes]:
    start_response("200 OK", [("Content-Length", "4"), ("X-App", "yes")])
    return iter([b"ab", b"cd"])


def fetched(request: Request, *arguments: Any) -> Response:
    return Response([b"ab", b"cd"], headers={"content-length": "4", "x-app": "yes"})


def mount_wsgi(app: Kit) -> None:
    pytest.importorskip("a2wsgi")
    app.mount("/m", from_wsgi(wsgi_app))


def handle(c: Context) -> Response:
    return c.body([b"ab", b"cd"], headers={"content-length": "4", "x-app": "yes"})


SOURCES = [
    pytest.param(lambda app: app.mount("/m", from_asgi(asgi_app(b"ab", b"cd"))), id="ASGI"),
    pytest.param(lambda app: app.mount("/m", from_asgi(asgi_app_at_once)), id="ASGI at once"),
    pytest.param(mount_wsgi, id="WSGI"),
    pytest.param(lambda app: app.mount("/m", fetched), id="fetch"),
    pytest.param(lambda app: app.get("/m", handle), id="handler"),
]

# --- what middleware makes of it ------------------------------------------------------------------


def made_by_context(c: Context) -> None:
    c.res = c.body(louder(c.res.body))


def made_anew(c: Context) -> None:
    c.res = Response(louder(c.res.body))


def made_with_its_headers(c: Context) -> None:
    c.res = Response(louder(c.res.body), headers=c.res.headers)


def made_after_a_clone(c: Context) -> None:
    c.res = Response(louder(c.res.clone().body), headers=c.res.headers)


def made_in_two_steps(c: Context) -> None:
    made_with_its_headers(c)
    c.res = Response(c.res.body, status=200)


def made_of_text(c: Context) -> None:
    c.res = c.text(LOUDER.decode())


def made_of_text_with_its_headers(c: Context) -> None:
    c.res = Response(LOUDER, headers=c.res.headers)


CHANGES = [
    made_by_context,
    made_anew,
    made_with_its_headers,
    made_after_a_clone,
    made_in_two_steps,
    made_of_text,
    made_of_text_with_its_headers,
]


def make_app(source: Callable[[Kit], Any], change: Callable[[Context], None] | None) -> Kit:
    app = Kit()

    @app.use("/m/*")
    async def middleware(c: Context, next: Any) -> None:
        await next()
        if change is not None and c.res.body is not None:
            change(c)

    source(app)
    return app


@pytest.fixture
def serve(client: Any) -> Any:
    """The Content-Length lines and the body as a server gets them."""

    async def serve(app: Kit, method: str = "GET") -> tuple[list[bytes], bytes]:
        answer = await client().ask(app, "/m", method)
        lines = answer.sent[0]["headers"]
        assert (b"x-app", b"yes") in lines
        return [value for name, value in lines if name == b"content-length"], answer.body

    return serve


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
async def test_another_body(serve: Any, source: Any, change: Any) -> None:
    lengths, body = await serve(make_app(source, change))
    assert body == LOUDER
    assert lengths in ([], [b"5"])


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_same_body(serve: Any, source: Any, method: str) -> None:
    lengths, body = await serve(make_app(source, None), method)
    assert (lengths, body) == ([b"4"], BODY if method == "GET" else b"")


@pytest.mark.parametrize("source", SOURCES)
async def test_other_headers_of_the_same_body(serve: Any, source: Any) -> None:
    def change(c: Context) -> None:
        c.header("x-more", "1")
        c.res = c.res

    assert await serve(make_app(source, change)) == ([b"4"], BODY)


@pytest.mark.parametrize("source", SOURCES)
async def test_another_body_with_a_length_of_its_own(serve: Any, source: Any) -> None:
    def change(c: Context) -> None:
        c.res = c.body(louder(c.res.body), headers={"content-length": "5"})

    assert await serve(make_app(source, change)) == ([b"5"], LOUDER)
