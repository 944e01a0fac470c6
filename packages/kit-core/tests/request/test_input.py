# SPDX-License-Identifier: MIT
"""What isn't a path, a URL or a request is refused by all that take one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from kit import URL, Context, Kit, Request, Response
from kit.testing import sync_test_client, test_client

OTHERS = [
    urlsplit("http://localhost/x?y=1"),
    None,
    5,
    2.5,
    True,
    b"/x",
    bytearray(b"http://localhost/x"),
    ["/x"],
    ("/x", "/y"),
    {"path": "/x"},
    PurePosixPath("/x"),
    UUID(int=1),
    datetime(2026, 1, 1, tzinfo=UTC),
    str,
    Kit(),
    object(),
]


class Link:
    """Like a URL object of another package."""

    def __str__(self) -> str:
        return "http://localhost/x"


def show(c: Context) -> Response:
    return c.text(c.req.path)


app = Kit().all("*", show)


async def build(value: Any) -> object:
    return Request(value)


async def replace(value: Any) -> object:
    return Request("http://localhost/").replace(url=value)


async def parse(value: Any) -> object:
    return URL(value)


async def base(value: Any) -> object:
    return URL("/x", value)


async def client(value: Any) -> object:
    async with test_client(app) as client:
        return await client.get(value)


async def client_by_method(value: Any) -> object:
    async with test_client(app) as client:
        return await client.request("GET", value)


async def sync_client(value: Any) -> object:
    return sync_test_client(app).get(value)


TAKERS: list[tuple[Callable[[Any], Awaitable[object]], str]] = [
    (app.request, "request() takes a path such as '/books', a URL or a Request, not "),
    (app.fetch, "fetch() takes a Request, not "),
    (build, "Request() takes a URL, as a str or a URL object, or a Request, not "),
    (replace, "replace(url=...) takes a URL, as a str or a URL object, not "),
    (parse, "URL() takes a str, not "),
    (base, "URL() takes a str, not "),
    (client, ": expected a path such as '/books', not "),
    (client_by_method, ": expected a path such as '/books', not "),
    (sync_client, ": expected a path such as '/books', not "),
]


@pytest.mark.parametrize("value", OTHERS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("take", "text"), TAKERS)
async def test_others_are_refused(
    take: Callable[[Any], Awaitable[object]], text: str, value: Any
) -> None:
    if value is None and take in (replace, base, client, sync_client):
        return  # the default: nothing is given
    with pytest.raises(TypeError) as caught:
        await take(value)
    assert f"{text}{value!r:.100}" in str(caught.value)


@pytest.mark.parametrize("value", ["http://localhost/x", URL("http://localhost/x"), Link()])
async def test_urls_are_taken(value: Any) -> None:
    assert await (await app.request(value)).text() == "/x"
    assert await (await app.request(Request(value))).text() == "/x"
    assert Request("http://localhost/").replace(url=value).url == "http://localhost/x"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": 5}, "request('/', ...): method is a str such as 'POST', not 5"),
        ({"init": {"method": b"GET"}}, "request('/', ...): method is a str such as 'POST', not b'"),
        ({"init": 5}, "request('/', ...): init is a mapping such as {'method': 'POST'}, not 5"),
        ({"init": {"signal": None}}, "request('/', ...): init has method, headers, body, not 'sig"),
        ({"headers": 5}, "Headers are a Headers, a mapping, or pairs of name and value, not 5"),
        ({"env": 5}, "fetch() takes env as a mapping for c.env, not 5"),
        ({"execution_ctx": 5}, "fetch() takes execution_ctx as an ExecutionContext"),
    ],
)
async def test_options_of_the_wrong_type(options: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        await app.request("/", **options)
    assert text in str(caught.value)


@pytest.mark.parametrize("method", ["", b"GET", 5])
async def test_method_is_a_token(method: Any) -> None:
    error = ValueError if method == "" else TypeError
    with pytest.raises(error, match="method"):
        await app.request("/", method=method)
    with pytest.raises(error, match="method"):
        Request("http://localhost/", method=method)
