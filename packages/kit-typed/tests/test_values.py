# SPDX-License-Identifier: MIT
"""Any values: what was sent is what the endpoint gets, and nothing that is sent is a 500."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any
from urllib.parse import quote, urlencode
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Kit
from kit.openapi import build_document
from kit.typed import Body, Cookie, Form, Header, Query, typed

seen: dict[str, Any] = {}


class Inner(msgspec.Struct):
    name: str
    count: int


class Book(msgspec.Struct):
    title: str
    pages: int
    price: float
    inner: list[Inner]
    by_name: dict[str, int]


app = Kit()


@app.get("/path/:text/:number")
@typed
async def path(text: str, number: int) -> None:
    seen.update(text=text, number=number)


@app.get("/query")
@typed
async def query(
    text: str,
    number: int,
    ratio: float,
    flag: bool,
    day: date,
    moment: datetime,
    exact: Decimal,
    id: UUID,
    many: list[int] = [],  # noqa: B006
    texts: Annotated[tuple[str, ...], Query("t")] = (),
) -> None:
    seen.update(locals())


@app.post("/body")
@typed
async def body(book: Book) -> Book:
    seen["book"] = book
    return book


@app.post("/form")
@typed
async def form(text: Annotated[str, Form()], many: Annotated[list[int], Form()] = []) -> None:  # noqa: B006
    seen.update(text=text, many=many)


@app.get("/anything/:x")
@typed
async def anything(
    x: int,
    q: list[int],
    y: Annotated[float, Query(gt=1)],
    x_n: Annotated[int, Header()] = 0,
    c_n: Annotated[bool, Cookie()] = False,
) -> None: ...


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
INT = st.integers(-(2**63), 2**64 - 1)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
SEGMENT = TEXT.filter(lambda text: text not in ("", ".", ".."))
BOOK = st.builds(
    Book,
    TEXT,
    INT,
    FLOAT,
    st.lists(st.builds(Inner, TEXT, INT), max_size=3),
    st.dictionaries(TEXT, INT, max_size=3),
)


@given(text=SEGMENT, number=INT)
async def test_path(text: str, number: int) -> None:
    response = await app.request(f"/path/{quote(text, safe='')}/{number}")
    assert response.status == 204
    assert seen["text"] == text
    assert seen["number"] == number


@given(
    st.fixed_dictionaries(
        {
            "text": TEXT,
            "number": INT,
            "ratio": FLOAT,
            "flag": st.booleans(),
            "day": st.dates(),
            "moment": st.datetimes(timezones=st.just(UTC)),
            "exact": st.decimals(allow_nan=False, allow_infinity=False),
            "id": st.uuids(),
            "many": st.lists(INT, max_size=4),
            "texts": st.lists(TEXT, max_size=4).map(tuple),
        }
    )
)
async def test_query(values: dict[str, Any]) -> None:
    sent: list[tuple[str, str]] = []
    for name, value in values.items():
        for each in value if isinstance(value, (list, tuple)) else [value]:
            shown = each.isoformat() if hasattr(each, "isoformat") else str(each)
            sent.append(("t" if name == "texts" else name, shown))
    response = await app.request(f"/query?{urlencode(sent)}")
    assert response.status == 204, await response.text()
    assert {name: seen[name] for name in values} == values


@given(BOOK)
async def test_body(book: Book) -> None:
    response = await app.request("/body", method="POST", json=book)
    assert response.status == 200
    assert seen["book"] == book
    assert msgspec.convert(await response.json(), Book) == book


@given(TEXT, st.lists(INT, max_size=4))
async def test_form(text: str, many: list[int]) -> None:
    content = urlencode([("text", text), *(("many", each) for each in many)])
    headers = {"content-type": "application/x-www-form-urlencoded"}
    response = await app.request("/form", method="POST", body=content, headers=headers)
    assert response.status == 204
    assert (seen["text"], seen["many"]) == (text, many)


@given(SEGMENT, TEXT, TEXT, st.binary(max_size=20), st.booleans())
async def test_anything_is_answered(
    segment: str, name: str, value: str, raw: bytes, is_json: bool
) -> None:
    latin = value.encode("latin-1", "replace").decode("latin-1")
    clean = "".join(each for each in latin if each.isprintable()).strip()
    path = f"/anything/{quote(segment, safe='')}?{urlencode([('q', value), (name, value)])}"
    response = await app.request(path, headers={"x-n": clean, "cookie": f"c_n={clean}"})
    assert response.status in (204, 400)
    kind = "application/json" if is_json else "multipart/form-data; boundary=x"
    for each in ("/body", "/form"):
        response = await app.request(each, method="POST", body=raw, headers={"content-type": kind})
        is_form = not is_json
        assert response.status == (400 if is_form == (each == "/form") or not raw else 415)


@given(st.recursive(st.none() | st.booleans() | st.integers() | TEXT, st.lists, max_leaves=5))
async def test_any_json_is_answered(value: Any) -> None:
    content = json.dumps({"title": value, "inner": [value], "by_name": {"x": value}})
    headers = {"content-type": "application/json"}
    response = await app.request("/body", method="POST", body=content, headers=headers)
    assert response.status == 400
    document = await response.json()
    assert document["target"] == "json"
    assert document["errors"]


@dataclass
class Draft:
    title: str
    year: int | None = None
    state: str = "new"


async def test_dataclasses_are_complete() -> None:
    app = Kit()

    @app.post("/one")
    @typed
    async def one(draft: Draft) -> Draft:
        return draft

    @app.post("/several")
    @typed
    async def several(
        first: Annotated[Draft, Body(embed=True)], second: Annotated[Draft, Body(embed=True)]
    ) -> list[Draft]:
        return [first, second]

    @app.get("/query")
    @typed
    async def query(draft: Annotated[Draft, Query()]) -> Draft:
        return draft

    @app.post("/form")
    @typed
    async def form(draft: Annotated[Draft, Form()]) -> Draft:
        return draft

    complete = {"title": "x", "year": None, "state": "new"}

    async def answer(path: str, body: str | None = None, kind: str = "application/json") -> Any:
        method = "GET" if body is None else "POST"
        init = {"method": method, "body": body, "headers": {"content-type": kind}}
        response = await app.request(path, init)  # type: ignore[arg-type]
        assert response.status == 200, await response.text()
        return await response.json()

    assert await answer("/one", '{"title":"x"}') == complete
    both = '{"first":{"title":"x"},"second":{"title":"x"}}'
    assert await answer("/several", both) == [complete, complete]
    assert await answer("/query?title=x") == complete
    assert await answer("/form", "title=x", "application/x-www-form-urlencoded") == complete


class Event(msgspec.Struct):
    name: str
    data: dict[str, object]
    first: object = None


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (dict[str, object], '{"a":[1,null,{"b":2.5}],"c":"x"}'),
        (Annotated[list[object], Body()], '[1,"x",{"a":[]}]'),
        (Annotated[object, Body()], "[null]"),
        (Event, '{"name":"n","data":{"a":{"b":[true]}},"first":[1]}'),
    ],
)
async def test_an_object_is_any_json(kind: Any, body: str) -> None:
    app = Kit()

    def echo(data: Any) -> Any:
        return data

    echo.__annotations__["data"] = kind
    app.post("/", typed(echo))
    headers = {"content-type": "application/json"}
    response = await app.request("/", method="POST", headers=headers, body=body)
    assert (response.status, await response.text()) == (200, body)
    if kind == dict[str, object]:
        response = await app.request("/", method="POST", headers=headers, body="[]")
        assert response.status == 400
    content = build_document(app)["paths"]["/"]["post"]["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    assert schema
    if kind == dict[str, object]:
        assert schema["type"] == "object"
