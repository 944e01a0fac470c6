# SPDX-License-Identifier: MIT
"""Tests of kit.authoring.bodies."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextvars import ContextVar
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.authoring.bodies import close_body, read_within, replace_body

_variable: ContextVar[str] = ContextVar("test", default="none")


class Seeing:
    """A body whose chunk is the value of the variable."""

    def __init__(self) -> None:
        self.is_read = False
        self.closed_in: str | None = None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self.is_read:
            raise StopAsyncIteration
        self.is_read = True
        return _variable.get().encode()

    async def aclose(self) -> None:
        self.closed_in = _variable.get()


class Unclosable:
    """A body that has no `aclose`."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield _variable.get().encode()


async def answer(body: Any, headers: dict[str, str] | None = None) -> Response:
    app = Kit()

    @app.use
    async def within(c: Context, next: Any) -> None:
        await next()
        read_within(c, "inner", _variable.get, _variable.set)

    @app.get("/")
    async def handler(c: Context) -> Response:
        return Response(body, headers=headers)

    return await app.request("/")


@pytest.mark.parametrize("kind", [Seeing, Unclosable])
async def test_a_stream_is_read_within_the_value(kind: Any) -> None:
    response = await answer(kind(), {"content-length": "5"})
    assert _variable.get() == "none"
    assert response.headers.get("content-length") == "5"
    assert await response.text() == "inner"
    assert _variable.get() == "none"


@pytest.mark.parametrize("is_begun", [True, False])
async def test_a_stream_is_closed_within_the_value(is_begun: bool) -> None:
    seeing = Seeing()
    body: Any = (await answer(seeing)).body
    if is_begun:
        assert await anext(body.__aiter__()) == b"inner"
    await close_body(body)
    assert seeing.closed_in == "inner"
    assert _variable.get() == "none"


@pytest.mark.parametrize("body", ["text", b"bytes", None])
async def test_other_bodies_stay(body: Any) -> None:
    response = await answer(body)
    assert response.body is None or isinstance(response.body, bytes)


@pytest.mark.parametrize("headers", [{"content-length": "3"}, {}])
async def test_replace_body_keeps_the_length(headers: dict[str, str]) -> None:
    app = Kit()

    async def louder(body: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        async for chunk in body:
            yield chunk.upper()

    @app.use
    async def shout(c: Context, next: Any) -> None:
        await next()
        body: Any = c.res.body
        replace_body(c, louder(body))

    @app.get("/")
    async def handler(c: Context) -> Response:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"a"
            yield b"bc"

        return Response(chunks(), status=201, headers={"x-a": "1", **headers})

    response = await app.request("/")
    assert (response.status, response.headers.get("x-a")) == (201, "1")
    assert response.headers.get("content-length") == headers.get("content-length")
    assert await response.text() == "ABC"


@pytest.mark.parametrize("body", [None, b"bytes", Unclosable()])
async def test_what_cannot_be_closed_stays(body: Any) -> None:
    await close_body(body)
