# SPDX-License-Identifier: MIT
"""`test_client`: what a call takes, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Blob, Context, File, FormData, HTTPException, Kit, Response
from kit.cookie import get_cookie
from kit.testing import test_client


class Color(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        ("", ""),
        (1, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (date(2026, 1, 2), "2026-01-02"),
        (Decimal("1.50"), "1.50"),
        (Color.RED, "red"),
    ],
)
async def test_values_are_written_as_in_json(value: Any, text: str) -> None:
    app = Kit().post("/", echo_inputs)
    response = await test_client(app).index.post(
        query={"v": value}, form={"v": value}, header={"v": value}, cookie={"v": value}
    )
    assert await response.json() == {
        "query": {"v": [text]},
        "form": {"v": text},
        "header": text,
        "cookie": text,
    }


async def echo_inputs(c: Context) -> Response:
    return c.json(
        {
            "query": c.req.queries(),
            "form": await c.req.parse_body(),
            "header": c.req.header("v"),
            "cookie": get_cookie(c, "v"),
        }
    )


async def asked(**options: Any) -> dict[str, Any]:
    """What a POST of these options brings to the handler."""
    got: dict[str, Any] = {}

    async def handler(c: Context) -> Response:
        got.update(query=c.req.queries(), header=c.req.header(), body=await c.req.text())
        got.update(cookie=get_cookie(c))
        return c.body(None)

    app = Kit().post("/", handler)
    await test_client(app, headers=options.pop("headers", None)).index.post(**options)
    return got


async def test_query() -> None:
    query = (await asked(query={"a": ["1", "2"], "b": "x y&=é", "none": None, "": "x"}))["query"]
    assert query == {"a": ["1", "2"], "b": ["x y&=é"]}
    assert (await asked(query=[("a", 1), ("b", 2), ("a", 3)]))["query"] == {
        "a": ["1", "3"],
        "b": ["2"],
    }
    assert (await asked(query={}))["query"] == {}


@given(st.dictionaries(st.text(min_size=1), st.lists(st.text(), min_size=1)))
async def test_query_round_trip(query: dict[str, list[str]]) -> None:
    assert (await asked(query=query))["query"] == query


@dataclass
class Book:
    title: str
    year: int


async def test_json() -> None:
    got = await asked(json=Book("Dune", 1965))
    assert got["body"] == '{"title":"Dune","year":1965}'
    assert got["header"] == {"content-type": "application/json"}
    assert (await asked(json={}))["body"] == "{}"
    assert (await asked(json=None))["header"] == {}


async def test_form_without_files_is_urlencoded() -> None:
    got = await asked(form={"a": ["1", "é&"], "none": None, "b": " "})
    assert got["body"] == "a=1&a=%C3%A9%26&b=+"
    assert got["header"] == {"content-type": "application/x-www-form-urlencoded"}
    assert (await asked(form={}))["header"] == got["header"]


@given(st.lists(st.tuples(st.text(min_size=1), st.text())))
async def test_form_round_trip(form: list[tuple[str, str]]) -> None:
    app = Kit()

    @app.post("/")
    async def handler(c: Context) -> Response:
        return c.json(list(await c.req.form_data()))

    response = await test_client(app).index.post(form=form)
    assert await response.json() == [list(pair) for pair in form]


@pytest.mark.parametrize("kind", [dict, FormData])
async def test_form_with_files_is_multipart(kind: Any) -> None:
    app = Kit()

    @app.post("/upload")
    async def upload(c: Context) -> Response:
        form = await c.req.parse_body(all=True)
        files = [(f.name, f.type, await f.text()) for f in form["files"]]
        return c.json([c.req.header("content-type"), form["title"], files])

    files = [File([b"one"], "1.txt", type="text/plain"), Blob([b"two"])]
    if kind is dict:
        form: Any = {"title": "é", "files": files}
    else:
        form = FormData([("title", "é"), *(("files", file) for file in files)])
    content_type, title, got = await (await test_client(app).upload.post(form=form)).json()
    assert content_type.startswith("multipart/form-data; boundary=")
    assert (title, got) == (
        "é",
        [["1.txt", "text/plain", "one"], ["blob", "application/octet-stream", "two"]],
    )


async def test_headers_of_the_client_and_of_the_call() -> None:
    headers = {"X-A": "client", "X-B": "client", "X-C": "client", "content-type": "text/odd"}
    got = await asked(headers=headers, header={"x-a": "call", "x-b": None, "x-d": ["1", "2"]})
    assert got["header"] == {
        "x-c": "client",
        "content-type": "text/odd",
        "x-a": "call",
        "x-d": "1, 2",
    }
    got = await asked(headers=headers, json=1)
    assert got["header"]["content-type"] == "application/json"
    got = await asked(headers=headers, json=1, header={"Content-Type": "application/x+json"})
    assert got["header"]["content-type"] == "application/x+json"


async def test_cookies() -> None:
    got = await asked(cookie={"a": "x;é", "n": 1, "none": None})
    assert (got["cookie"], got["header"]) == (
        {"a": "x;é", "n": "1"},
        {"cookie": "a=x%3B%C3%A9; n=1"},
    )
    got = await asked(headers={"cookie": "session=s"}, cookie={"a": "b"})
    assert got["cookie"] == {"session": "s", "a": "b"}


async def test_bearer_token_as_a_header_of_the_client() -> None:
    bearer_auth = pytest.importorskip("kit.bearer_auth").bearer_auth
    app = Kit().use("/api/*", bearer_auth(token="s3cret")).get("/api/me", lambda c: c.text("ada"))
    client = test_client(app, headers={"authorization": "Bearer s3cret"})
    assert await (await client.api.me.get()).text() == "ada"
    assert (await client.api.me.get(header={"authorization": "Bearer x"})).status == 401
    assert (await client.api.me.get(header={"authorization": None})).status == 401
    assert (await test_client(app).api.me.get()).status == 401


async def test_host_is_localhost() -> None:
    app = Kit().get("/x", lambda c: c.text(c.req.url))
    assert await (await test_client(app).x.get()).text() == "http://localhost/x"


# --- what comes back ---------------------------------------------------------------------------


async def test_response_is_a_response_of_kit() -> None:
    app = Kit().get("/", lambda c: c.json({"a": 1}, 201, {"x-a": "b"}))
    response = await test_client(app).get()
    assert isinstance(response, Response)
    assert (response.status, response.headers["x-a"]) == (201, "b")
    assert await response.json() == {"a": 1}


async def test_handler_that_raises_is_answered_as_in_production(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Kit()

    @app.get("/fault")
    def fault(c: Context) -> Response:
        raise ValueError("no")

    @app.get("/refused")
    def refused(c: Context) -> Response:
        raise HTTPException(403, "no")

    client = test_client(app)
    response = await client.fault.get()
    assert (response.status, await response.text()) == (500, "Internal Server Error")
    assert [record.exc_info[1].args for record in caplog.records if record.exc_info] == [("no",)]
    assert (await client.refused.get()).status == 403
    app = Kit().on_error(lambda error, c: c.text(str(error), 418)).get("/", fault)
    assert (await test_client(app).get()).status == 418


async def test_env() -> None:
    app = Kit().get("/", lambda c: c.json(dict(c.env)))
    assert await (await test_client(app, {"db": "mock"}).get()).json() == {"db": "mock"}
    assert await (await test_client(app).get()).json() == {}


def test_calls_at_the_same_time(run: Any) -> None:
    app = Kit()
    both = []

    @app.get("/:name")
    async def handler(c: Context) -> Response:
        both.append(c.req.param("name"))
        while len(both) < 2:
            await anyio.lowlevel.checkpoint()
        return c.text("x")

    async def main() -> None:
        client = test_client(app)
        async with anyio.create_task_group() as group:
            for name in "ab":
                group.start_soon(lambda name=name: client[":name"].get(param={"name": name}))

    run(main)
    assert sorted(both) == ["a", "b"]
