# SPDX-License-Identifier: MIT
"""Links to typed endpoints: their types check the values, as they check those of requests."""

from __future__ import annotations

import asyncio
import datetime
import enum
import uuid
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.typed import Depends, Header, Path, Query, typed
from kit.websocket import WebSocket, upgrade_websocket


class Kind(enum.Enum):
    NOVEL = "novel"
    POEM = "poem"


@typed
async def read_book(id: int) -> dict[str, int]:
    return {"id": id}


def test_values_of_the_path() -> None:
    app = Kit().get("/books/:id", read_book)
    assert app.path_to(read_book, id=7) == "/books/7"
    assert app.path_to(read_book, id="7") == "/books/7"
    with pytest.raises(ValueError, match=r"read_book.*refuse the path \(id\): Expected `int`"):
        app.path_to(read_book, id="x")
    with pytest.raises(TypeError, match="needs a value for 'id'"):
        app.path_to(read_book)
    with pytest.raises(TypeError, match="no parameter 'page': for the query, write query="):
        app.path_to(read_book, id=7, page=2)


def test_the_function_itself_and_its_name() -> None:
    async def read(id: int) -> None: ...

    app = Kit().get("/books/:id", typed(read))
    assert app.path_to(read, id=7) == app.path_to("read", id=7) == "/books/7"


def test_values_of_the_query() -> None:
    @typed
    async def search(
        shop: str, q: str, page: int = 1, tags: Annotated[list[str] | None, Query("tag")] = None
    ) -> None: ...

    app = Kit().get("/:shop/search", search)
    assert app.path_to(search, shop="a", q="x y") == "/a/search?q=x+y"
    path = app.path_to(search, shop="a", q="x", page=2, tags=["b", "c"])
    assert path == "/a/search?q=x&page=2&tag=b&tag=c"
    assert app.path_to(search, shop="a", page=None, query={"q": "x"}) == "/a/search?q=x"
    with pytest.raises(ValueError, match=r"refuse the query \(page, q\)"):
        app.path_to(search, shop="a", q="x", page="last")
    with pytest.raises(ValueError, match=r"refuse the query \(page, q\)"):
        app.path_to(search, shop="a", query={"q": "x", "page": "last"})
    with pytest.raises(ValueError, match="missing required field `q`"):
        app.path_to(search, shop="a")
    with pytest.raises(TypeError, match="given twice"):
        app.path_to(search, shop="a", q="x", query={"q": "y"})


def test_names_in_the_path_that_differ_from_the_parameter() -> None:
    @typed
    async def read(book: Annotated[int, Path("book-id")]) -> None: ...

    app = Kit().get("/books/:book-id", read)
    assert app.path_to(read, book=7) == app.path_to(read, **{"book-id": 7}) == "/books/7"
    with pytest.raises(ValueError, match="Expected `int`"):
        app.path_to(read, book="x")


def test_constraints_and_optional_parameters() -> None:
    @typed
    async def read(
        id: Annotated[int, Path(ge=1)], kind: Kind | None = None, day: datetime.date | None = None
    ) -> None: ...

    app = Kit().get("/books/:id/:kind?", read)
    assert app.path_to(read, id=1) == "/books/1"
    assert app.path_to(read, id=1, kind=Kind.POEM) == "/books/1/poem"
    assert app.path_to(read, id=1, day=datetime.date(2026, 1, 2)) == "/books/1?day=2026-01-02"
    with pytest.raises(ValueError, match=">= 1"):
        app.path_to(read, id=0)
    with pytest.raises(ValueError, match="Invalid enum value"):
        app.path_to(read, id=1, kind="play")


def test_values_that_dependencies_read() -> None:
    def page(size: int = 10) -> int:
        return size

    @typed
    async def search(
        size: Annotated[int, Depends(page)], agent: Annotated[str, Header("user-agent")]
    ) -> None: ...

    app = Kit().get("/search", search)
    assert app.path_to(search, size=5) == "/search?size=5"
    with pytest.raises(TypeError, match="no parameter 'agent'"):
        app.path_to(search, agent="x")


def test_a_model_of_the_query() -> None:
    @dataclass
    class Filter:
        q: str
        page: int = 1

    @typed
    async def search(filter: Annotated[Filter, Query()]) -> None: ...

    app = Kit().get("/search", search)
    assert app.path_to(search, query={"q": "x", "page": 2}) == "/search?q=x&page=2"
    with pytest.raises(ValueError, match="Expected `int`"):
        app.path_to(search, query={"q": "x", "page": "y"})


def test_types_of_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic")

    @typed
    async def read(id: Annotated[int, pydantic.Field(gt=5)]) -> None: ...

    app = Kit().get("/books/:id", read)
    assert app.path_to(read, id=6) == "/books/6"
    with pytest.raises(ValueError, match="refuse the path"):
        app.path_to(read, id=5)


def test_the_types_decide_between_routes() -> None:
    @typed
    async def read(id: uuid.UUID | None = None, slug: str | None = None) -> None: ...

    app = Kit().get("/ids/:id", read).get("/slugs/:slug", read)
    assert app.path_to(read, slug="dune") == "/slugs/dune"
    assert app.path_to(read, id=uuid.UUID(int=0)).startswith("/ids/0000")
    # Either can be in the query of the other.
    with pytest.raises(LookupError, match="'/ids/:id', '/slugs/:slug'"):
        app.path_to(read, id=uuid.UUID(int=0), slug="dune")


def test_parts_and_requests() -> None:
    @typed
    async def go(c: Context) -> Response:
        return c.redirect(c.path_to(read_book, id=7), 303)

    books = Kit().get("/:id", read_book).post("/", go)
    app = Kit().route("/books", books)
    response = asyncio.run(Kit().mount("/shop", app.fetch).request("/shop/books", method="POST"))
    assert (response.status, response.headers.get("location")) == (303, "/shop/books/7")


def test_websockets() -> None:
    @upgrade_websocket
    @typed
    async def chat(ws: WebSocket, room: int) -> None: ...

    app = Kit().get("/rooms/:room", chat)
    assert app.path_to(chat, room=1) == "/rooms/1"
    with pytest.raises(ValueError, match="Expected `int`"):
        app.path_to(chat, room="x")


KINDS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (int, st.integers(-(2**63), 2**63 - 1)),
    (str, st.text(min_size=1)),
    (bool, st.booleans()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (uuid.UUID, st.uuids()),
    (datetime.date, st.dates()),
    (datetime.datetime, st.datetimes(timezones=st.just(datetime.UTC))),
    (Kind, st.sampled_from(Kind)),
]


@given(st.sampled_from(KINDS), st.sampled_from(KINDS), st.data())
def test_an_endpoint_gets_the_values_of_its_link(
    first: tuple[Any, Any], second: tuple[Any, Any], data: st.DataObject
) -> None:
    seen: list[tuple[Any, Any]] = []

    async def endpoint(one: Any, two: Any) -> None:
        seen.append((one, two))

    endpoint.__annotations__ = {"one": first[0], "two": second[0], "return": None}
    app = Kit().get("/a/:one", typed(endpoint))
    values = (data.draw(first[1]), data.draw(second[1]))
    try:
        path = app.path_to(endpoint, one=values[0], two=values[1])
    except ValueError:
        assert values[0] in (".", "..") or "/" in str(values[0])
        return
    response = asyncio.run(app.request(path))
    assert response.status == 204, msgspec.json.decode(asyncio.run(response.bytes()))
    assert seen == [values]
