# SPDX-License-Identifier: MIT
"""The 304 that middleware sends instead of a 200."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kit import Context, Kit, Next, Response
from kit.authoring.bodies import close_body
from kit.authoring.not_modified import answer_not_modified
from kit.http.conditional import omitted_when_not_modified

OF_THE_CONTENT = {
    "content-digest",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-range",
    "content-type",
    "digest",
    "repr-digest",
    "trailer",
    "transfer-encoding",
}
# SPEC: RFC 9110 section 15.4.5: a 304 must have these.
NEEDED = {"cache-control", "content-location", "date", "etag", "expires", "vary"}
OTHERS = {"access-control-allow-origin", "set-cookie", "x-request-id"}


@pytest.mark.parametrize("make", [list, dict.fromkeys])
def test_headers_that_describe_the_content(make: Any) -> None:
    names = make([*OF_THE_CONTENT, *NEEDED, *OTHERS])
    assert omitted_when_not_modified(names) == OF_THE_CONTENT
    assert omitted_when_not_modified(names, retained=["content-type", "x-request-id"]) == (
        OF_THE_CONTENT - {"content-type"}
    )
    assert omitted_when_not_modified(NEEDED | OTHERS) == set()


def test_last_modified() -> None:
    """Clients need it only if there is no ETag."""
    assert omitted_when_not_modified({"etag", "last-modified"}) == {"last-modified"}
    assert omitted_when_not_modified({"etag", "last-modified"}, retained={"last-modified"}) == set()
    assert omitted_when_not_modified({"last-modified", "content-type"}) == {"content-type"}


class Chunks:
    """A stream that notes that it was closed."""

    closed = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"chunk"

    async def aclose(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("is_streamed", [False, True])
def test_the_response_of_a_handler(is_streamed: bool) -> None:
    chunks = Chunks()
    always = Response(chunks if is_streamed else "Momo", headers={"ETag": '"a"', "X-Id": "7"})
    always.headers.append("Set-Cookie", "a=1")
    always.headers.append("Set-Cookie", "b=2")
    always.headers.set("Content-Type", "text/plain")
    app: Kit[Any, Any] = Kit()

    @app.use
    async def revalidate(c: Context, next: Next) -> None:
        await next()
        c.header("X-After", "1")
        await answer_not_modified(c)

    app.get("/", lambda c: always)

    async def ask() -> tuple[Response, bytes]:
        response = await app.request("/")
        return response, await response.bytes()

    response, body = asyncio.run(ask())
    assert (response.status, body) == (304, b"")
    assert response.headers.get_set_cookie() == ["a=1", "b=2"]
    response.headers.delete("set-cookie")
    assert dict(response.headers) == {"etag": '"a"', "x-after": "1", "x-id": "7"}
    # It may be returned again.
    assert (always.status, always.headers.has("content-type")) == (200, True)
    assert chunks.closed == is_streamed


def test_names_to_retain() -> None:
    app: Kit[Any, Any] = Kit()

    @app.use
    async def revalidate(c: Context, next: Next) -> None:
        await next()
        await answer_not_modified(c, retained={"content-language"})

    app.get("/", lambda c: c.text("Momo", headers={"Content-Language": "de"}))

    async def ask() -> Response:
        return await app.request("/")

    assert dict(asyncio.run(ask()).headers) == {"content-language": "de"}


def test_bodies_that_are_not_sent() -> None:
    chunks = Chunks()

    async def close() -> None:
        for body in (None, b"a", chunks, object()):
            await close_body(body)

    asyncio.run(close())
    assert chunks.closed == 1
