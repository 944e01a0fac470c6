# SPDX-License-Identifier: MIT
"""Parameters of classes that decoders of the app build."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import msgspec
import pytest

from kit import Context, Kit, Response
from kit.interface.metadata import get_facts
from kit.typed import Body, Cookie, Depends, Form, Header, Query, typed
from kit.validator import validator


class InvalidId(Exception):  # noqa: N818 - its name in bson
    pass


class ObjectId:
    def __init__(self, text: str) -> None:
        if not re.fullmatch("[0-9a-f]{4}", text):
            raise InvalidId(f"{text!r} has no 4 digits")
        self.text = text

    def __str__(self) -> str:
        return self.text


class Book(msgspec.Struct):
    id: ObjectId
    others: list[ObjectId] = []


@dataclass
class Filter:
    by: ObjectId | None = None
    not_by: ObjectId | None = None


class Patch(TypedDict, total=False):
    id: ObjectId


class Pair(msgspec.Struct, array_like=True):
    first: ObjectId
    second: ObjectId


def make_app() -> Kit:
    return Kit(encoders={ObjectId: str}, decoders={ObjectId: ObjectId})


async def send(app: Kit, path: str, **options: Any) -> tuple[int, Any]:
    response = await app.request(path, **options)
    return response.status, await response.json()


async def test_parameters_of_every_part() -> None:
    app = make_app()

    @app.post("/:id")
    @typed
    async def read(
        id: ObjectId,
        other: ObjectId | None = None,
        many: list[ObjectId] = [],  # noqa: B006 - copied for each request
        x_id: Annotated[ObjectId | None, Header()] = None,
        session: Annotated[ObjectId | None, Cookie()] = None,
        field: Annotated[ObjectId | None, Form()] = None,
    ) -> list[Any]:
        return [id, other, many, x_id, session, field]

    found = await send(
        app,
        "/0001?other=0002&many=0003&many=0004",
        method="POST",
        headers={
            "x-id": "0005",
            "cookie": "session=0006",
            "content-type": "application/x-www-form-urlencoded",
        },
        body="field=0007",
    )
    assert found == (200, ["0001", "0002", ["0003", "0004"], "0005", "0006", "0007"])


@pytest.mark.parametrize(
    ("path", "errors"),
    [
        ("/x", [("id", "Invalid ObjectId: 'x' has no 4 digits")]),
        (
            "/0001?many=0002&many=y&many=z",
            [
                ("many[1]", "Invalid ObjectId: 'y' has no 4 digits"),
                ("many[2]", "Invalid ObjectId: 'z' has no 4 digits"),
            ],
        ),
    ],
)
async def test_values_that_do_not_fit(path: str, errors: list[tuple[str, str]]) -> None:
    app = make_app()

    @app.get("/:id")
    @typed
    async def read(id: ObjectId, many: list[ObjectId] = []) -> None: ...  # noqa: B006

    status, problem = await send(app, path)
    assert status == 400
    assert [(each["path"], each["message"]) for each in problem["errors"]] == errors
    assert {each["type"] for each in problem["errors"]} == {"value_error"}


@pytest.mark.parametrize("kind", [Book, Patch, list[ObjectId], ObjectId, dict[str, ObjectId]])
async def test_bodies(kind: Any) -> None:
    app = make_app()

    async def echo(body: Any) -> Any:
        return body

    echo.__annotations__["body"] = Annotated[kind, Body()]
    app.post("/", typed(echo))
    body: Any = {"id": "0001"}
    if kind in (list[ObjectId], ObjectId):
        body = ["0001"] if kind != ObjectId else "0001"
    sent = {**body, "others": []} if kind is Book else body
    assert await send(app, "/", method="POST", json=body) == (200, sent)
    wrong = msgspec.json.encode(body).replace(b"0001", b"x")
    headers = {"content-type": "application/json"}
    status, problem = await send(app, "/", method="POST", body=wrong, headers=headers)
    assert status == 400
    assert problem["errors"][0]["message"] == "Invalid ObjectId: 'x' has no 4 digits"


async def test_all_errors_of_a_body() -> None:
    app = make_app()

    @app.post("/")
    @typed
    async def create(book: Book) -> None: ...

    body = {"id": 5, "others": ["0001", "x", None]}
    status, problem = await send(app, "/", method="POST", json=body)
    assert status == 400
    assert [(each["path"], each["type"]) for each in problem["errors"]] == [
        ("id", "string_type"),
        ("others[1]", "value_error"),
        ("others[2]", "string_type"),
    ]


async def test_models_of_a_query_and_arrays_by_name() -> None:
    app = make_app()

    @app.get("/filter")
    @typed
    async def find(filter: Annotated[Filter, Query()], q: ObjectId | None = None) -> list[Any]:
        return [filter.by, filter.not_by, q]

    @app.get("/pair")
    @typed
    async def pair(pair: Annotated[Pair, Query()]) -> Pair:
        return pair

    assert await send(app, "/filter?by=0001&q=0002") == (200, ["0001", None, "0002"])
    assert (await send(app, "/filter?not_by=x"))[0] == 400
    assert await send(app, "/pair?first=0001&second=0002") == (200, ["0001", "0002"])
    fields = get_facts(app.routes[0].handler).validates["query"].__annotations__
    assert ObjectId | None in fields.values()


async def test_parameters_of_dependencies_and_apps_within_apps() -> None:
    async def load(id: ObjectId) -> str:
        return f"book {id}"

    part = make_app()

    @part.get("/:id")
    @typed
    async def read(book: Annotated[str, Depends(load)]) -> str:
        return book

    app = Kit().route("/books", part)
    assert await send(app, "/books/0001") == (200, "book 0001")
    assert (await send(app, "/books/x"))[0] == 400
    assert await send(part, "/0001") == (200, "book 0001")


async def test_an_endpoint_that_another_function_calls() -> None:
    @typed
    async def read(id: ObjectId) -> str:
        return str(id)

    async def around(c: Context) -> Response | None:
        return await read(c)

    app = make_app().get("/:id", around)
    assert await send(app, "/0001") == (200, "0001")


@pytest.mark.parametrize("kind", [ObjectId, list[ObjectId], Book])
def test_without_a_decoder(kind: Any) -> None:
    async def endpoint(value: Any) -> None: ...

    endpoint.__annotations__["value"] = kind
    with pytest.raises(TypeError, match=r"Kit\(decoders=\{.*ObjectId.*: function\}\)"):
        Kit(encoders={ObjectId: str}).post("/", typed(endpoint))


# --- validator ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("json", {"method": "POST", "json": {"id": "0001", "others": ["0002"]}}),
        ("query", {"method": "POST"}),
        (
            "form",
            {
                "method": "POST",
                "body": "id=0001&others=0002",
                "headers": {"content-type": "application/x-www-form-urlencoded"},
            },
        ),
        ("header", {"method": "POST", "headers": {"id": "0001", "others": "0002"}}),
    ],
)
async def test_validator(target: Any, options: Any) -> None:
    validate = validator(target, Book)
    app, other = make_app(), Kit(decoders={ObjectId: lambda text: ObjectId(text[::-1])})
    for each in (app, other):
        each.post("/", lambda c: c.text(str(c.req.valid(target).id)), use=validate)
    path = "/?id=0001&others=0002" if target == "query" else "/"
    for each, expected in ((app, "0001"), (other, "1000")):
        assert await (await each.request(path, **options)).text() == expected
    if target == "json":
        status, problem = await send(app, "/", method="POST", json={"id": "x"})
        assert (status, problem["errors"][0]["path"]) == (400, "id")


async def test_validator_of_a_class_itself() -> None:
    app = make_app()
    use = validator("json", ObjectId)
    app.post("/", lambda c: c.json(c.req.valid("json", ObjectId)), use=use)
    assert await send(app, "/", method="POST", json="0001") == (200, "0001")


async def test_validator_without_a_decoder(caplog: pytest.LogCaptureFixture) -> None:
    app = Kit().post("/", lambda c: c.text(""), use=validator("json", Book))
    assert (await app.request("/", method="POST", json={})).status == 500
    assert "give the app a decoder, Kit(decoders={ObjectId: function})" in caplog.text
