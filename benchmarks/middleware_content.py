# SPDX-License-Identifier: MIT
"""The rows of `overhead` about content: compression of an answer, and its entity tag."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from .middleware import LITESTAR, STARLETTE, Pair, Row, made_by
from .peers import KIT
from .sample_request import TEXT, SampleRequest

LEVEL = 6  # of zlib, in all frameworks
BOOKS = json.dumps(
    [{"id": n, "title": f"Book {n * 7919 % 1009}", "tags": ["a", "b"]} for n in range(190)]
).encode()
TEN_KIB = BOOKS[: 10 * 1024]
Content = tuple[bytes, str]
JSON: Content = (TEN_KIB, "application/json")
SHORT: Content = (TEXT, "text/plain")


def kit(content: Content, make: Callable[[Any], Any]) -> Callable[[], Pair]:
    """A route of Kit that answers with some content.

    Args:
        content: The bytes and their type.
        make: Makes the middleware; it is given the app.
    """

    def pair() -> Pair:
        from kit import Context, Kit

        body, kind = content
        headers = {"content-type": kind}

        async def answer(c: Context) -> Any:
            return c.body(body, 200, headers)

        async def nothing(c: Context, next: Any) -> None:
            await next()

        def app(middleware: Any) -> Any:
            return Kit().use(middleware).get("/", answer)

        return app(make(None)), app(nothing)

    return pair


def starlette(content: Content) -> Callable[[], Pair]:
    """The same of Starlette, behind its GZipMiddleware."""

    def pair() -> Pair:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.gzip import GZipMiddleware
        from starlette.responses import Response
        from starlette.routing import Route

        body, kind = content

        async def answer(request: Any) -> Any:
            return Response(body, media_type=kind)

        class Nothing:
            def __init__(self, app: Any) -> None:
                self.app = app

            async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
                await self.app(scope, receive, send)

        route = Route("/", answer)
        gzip = Middleware(GZipMiddleware, compresslevel=LEVEL)
        return (
            Starlette(routes=[route], middleware=[gzip]),
            Starlette(routes=[route], middleware=[Middleware(Nothing)]),
        )

    return pair


def litestar(content: Content) -> Callable[[], Pair]:
    """The same of Litestar, with its compression."""

    def pair() -> Pair:
        from litestar import Litestar, Response, get
        from litestar.config.compression import CompressionConfig

        body, kind = content

        @get("/")
        async def answer() -> Any:
            return Response(body, media_type=kind)

        gzip = CompressionConfig(backend="gzip", gzip_compress_level=LEVEL)
        plain: dict[str, Any] = {"openapi_config": None, "logging_config": None}
        return Litestar([answer], compression_config=gzip, **plain), Litestar([answer], **plain)

    return pair


def rows() -> tuple[Row, ...]:
    """All rows."""
    gzip = SampleRequest(headers={"accept-encoding": "gzip"}, body=None)
    any_coding = SampleRequest(headers={"accept-encoding": "gzip, deflate, br, zstd"}, body=None)
    plain = SampleRequest(headers={"accept-encoding": "identity"}, body=TEN_KIB)
    small = SampleRequest(headers={"accept-encoding": "gzip"})
    known = SampleRequest(
        headers={"if-none-match": f'"{hashlib.sha1(TEXT, usedforsecurity=False).hexdigest()}"'},
        status=304,
        body=b"",
    )
    compress = made_by("compress", "compress", encoding="gzip", level=LEVEL)
    best = made_by("compress", "compress")
    etag = made_by("etag", "etag")

    def all_of(content: Content) -> dict[str, Callable[[], Pair]]:
        return {
            KIT: kit(content, compress),
            STARLETTE: starlette(content),
            LITESTAR: litestar(content),
        }

    return (
        Row("compress, 10 KiB of JSON", gzip, all_of(JSON)),
        Row("compress, 10 KiB, zstd", any_coding, {KIT: kit(JSON, best)}),
        Row("compress, 10 KiB, refused", plain, all_of(JSON)),
        Row("compress, 13 bytes", small, all_of(SHORT)),
        Row("etag", SampleRequest(), {KIT: kit(SHORT, etag)}),
        Row("etag, 10 KiB of JSON", SampleRequest(body=TEN_KIB), {KIT: kit(JSON, etag)}),
        Row("etag, not modified", known, {KIT: kit(SHORT, etag)}, whole=True),
    )
