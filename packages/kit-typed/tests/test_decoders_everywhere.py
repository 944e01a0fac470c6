# SPDX-License-Identifier: MIT
"""Decoders of the app in guards, unions, patches and aliases that contain themselves."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import PurePosixPath
from typing import Annotated, Any, Union

import msgspec
import pytest

from kit import Context, Kit
from kit.combine import every, some
from kit.interface import RequestValidationError
from kit.typed import Body, Depends, Form, Header, Partial, Query, typed
from kit.validator import validator


class ObjectId:
    def __init__(self, text: str) -> None:
        if len(text) != 4:
            raise ValueError("it has no 4 digits")
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"ObjectId({self.text})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectId) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


class Author(msgspec.Struct):
    id: ObjectId
    name: str = ""


class Book(msgspec.Struct):
    id: ObjectId
    others: list[ObjectId] = []
    author: Author | None = None
    shelves: Annotated[dict[str, ObjectId], msgspec.Meta(max_length=2)] = {}


Chain = tuple[ObjectId, list["Chain"]]
Json = Union[dict[str, "Json"], list["Json"], str, None]  # noqa: UP007 - a name in it


def make_app() -> Kit:
    return Kit(encoders={ObjectId: str}, decoders={ObjectId: ObjectId})


async def send(app: Kit, path: str, method: str = "GET", json: Any = None) -> tuple[int, Any]:
    options: dict[str, Any] = {}
    if json is not None:
        options = {
            "headers": {"content-type": "application/json"},
            "body": msgspec.json.encode(json),
        }
    response = await app.request(path, method=method, **options)
    return response.status, await response.json()


async def first_error(app: Kit, path: str, **options: Any) -> tuple[int, str, str]:
    status, problem = await send(app, path, **options)
    return status, problem["errors"][0]["path"], problem["errors"][0]["message"]


MISFIT = "Invalid ObjectId: it has no 4 digits"


async def test_guards_of_routes_and_of_apps() -> None:
    seen: list[Any] = []

    def check(id: ObjectId, x_key: Annotated[ObjectId | None, Header()] = None) -> ObjectId:
        seen.append((id, x_key))
        return id

    app = make_app()

    @app.get("/route/:id", use=Depends(check))
    @typed
    def read(id: Annotated[ObjectId, Depends(check)]) -> ObjectId:
        return id

    app.use("/app/:id", Depends(check))
    app.get("/app/:id", lambda c: c.text("passed"))

    assert await send(app, "/route/0001") == (200, "0001")
    response = await app.request("/app/0002", headers={"x-key": "0003"})
    assert await response.text() == "passed"
    assert seen == [(ObjectId("0001"), None), (ObjectId("0002"), ObjectId("0003"))]
    for path in ("/route/1", "/app/1"):
        assert await first_error(app, path) == (400, "id", MISFIT)


async def test_combined_guards() -> None:
    def is_first(id: ObjectId) -> bool:
        return id == ObjectId("0001")

    def is_second(id: ObjectId) -> bool:
        return id == ObjectId("0002")

    app = make_app()
    app.get("/some/:id", use=some(Depends(is_first), Depends(is_second)))(lambda c: c.json("in"))
    app.get("/every/:id", use=every(Depends(is_first), Depends(is_second)))(lambda c: c.json("in"))
    statuses = [(await app.request(f"/some/{each}")).status for each in ("0001", "0002", "0003")]
    assert statuses == [200, 200, 403]
    assert (await app.request("/every/0001")).status == 403


def test_a_guard_without_a_decoder() -> None:
    def check(id: Annotated[ObjectId, Query()]) -> bool:
        return id.text == ""

    with pytest.raises(TypeError, match=r"Kit\(decoders=\{ObjectId: function\}\)"):
        Kit().use("/a", Depends(check))


async def test_unions_with_other_texts() -> None:
    app = make_app()

    @app.post("/")
    @typed
    def read(
        id: ObjectId | int | None = None,
        ids: list[ObjectId | int] = [],  # noqa: B006 - copied for each request
        name: ObjectId | str = "",
        address: IPv4Address | ObjectId | None = None,
        field: Annotated[ObjectId | int | None, Form()] = None,
    ) -> list[str]:
        return [*map(repr, (id, ids, name, address, field))]

    async def ask(query: str, body: str = "") -> Any:
        response = await app.request(
            f"/?{query}",
            method="POST",
            headers={"content-type": "application/x-www-form-urlencoded"},
            body=body,
        )
        return response.status, await response.json()

    assert await ask("id=0001&ids=0002&ids=5&name=0003&address=10.0.0.1", "field=0004") == (
        200,
        [
            "ObjectId(0001)",
            "[ObjectId(0002), 5]",
            "ObjectId(0003)",
            "IPv4Address('10.0.0.1')",
            "ObjectId(0004)",
        ],
    )
    assert await ask("id=12&name=longer&address=0001") == (
        200,
        ["12", "[]", "'longer'", "ObjectId(0001)", "None"],
    )
    status, problem = await ask("id=x")
    assert (status, problem["errors"][0]["message"]) == (400, "Expected `ObjectId | int`")


async def test_a_decoder_counts_before_the_built_in_one() -> None:
    def read_host(text: str) -> IPv4Address:
        return IPv4Address("127.0.0.1" if text == "localhost" else text)

    app = Kit(decoders={IPv4Address: read_host})

    @app.post("/")
    @typed
    def read(body: Annotated[list[IPv4Address], Body()], at: IPv4Address) -> list[IPv4Address]:
        return [*body, at]

    def show(c: Context) -> Any:
        return c.json(c.req.valid("json"))

    app.post("/validated", show, use=validator("json", list[IPv4Address]))

    assert await send(app, "/?at=localhost", "POST", ["localhost", "10.0.0.1"]) == (
        200,
        ["127.0.0.1", "10.0.0.1", "127.0.0.1"],
    )
    status, _, _ = await first_error(app, "/?at=nowhere", method="POST", json=[])
    assert status == 400
    assert await send(app, "/validated", "POST", ["localhost"]) == (200, ["127.0.0.1"])


async def test_a_decoder_that_takes_a_built_in_scalar() -> None:
    class Share:
        def __init__(self, path: PurePosixPath) -> None:
            self.path = path

    def read_share(path: PurePosixPath) -> Share:
        return Share(path)

    app = Kit(decoders={Share: read_share})

    @app.get("/share")
    @typed
    def read(share: Share) -> str:
        return share.path.name

    assert await send(app, "/share?share=/a/b") == (200, "b")


async def test_patches() -> None:
    app = make_app()
    old = Book(ObjectId("0001"), author=Author(ObjectId("0002"), "Ende"))
    old.shelves["a"] = ObjectId("0003")

    @app.patch("/")
    @typed
    def change(changes: Partial[Book]) -> Book:
        return changes.apply(old)

    assert await send(
        app,
        "/",
        "PATCH",
        {"others": ["0004"], "author": {"id": "0005"}, "shelves": {"b": "0006"}},
    ) == (
        200,
        {
            "id": "0001",
            "others": ["0004"],
            "author": {"id": "0005", "name": "Ende"},
            "shelves": {"a": "0003", "b": "0006"},
        },
    )
    misfit = await first_error(app, "/", method="PATCH", json={"author": {"id": "1"}})
    assert misfit == (400, "author.id", MISFIT)
    three = {"shelves": {"b": "0006", "c": "0007"}}
    status, path, message = await first_error(app, "/", method="PATCH", json=three)
    assert (status, path) == (400, "shelves")
    assert "length <= 2" in message


def test_patches_in_unit_tests() -> None:
    app = make_app()
    changes = Partial[Book].parse({"id": "0007"}, codecs=app.codecs)
    assert dict(changes) == {"id": ObjectId("0007")}
    with pytest.raises(RequestValidationError, match="it has no 4 digits"):
        Partial[Book].parse(b'{"id": "7"}', codecs=app.codecs)
    with pytest.raises(RequestValidationError, match="Expected `ObjectId`"):
        Partial[Book].parse({"id": "0007"})


async def test_aliases_that_contain_themselves() -> None:
    app = make_app()

    @app.post("/chain")
    @typed
    def read_chain(body: Annotated[Chain, Body()]) -> str:
        return repr(body)

    @app.post("/json")
    @typed
    def read_json(body: Annotated[Json, Body()], id: ObjectId) -> list[Any]:
        return [body, id]

    chain = ["0001", [["0002", []]]]
    shown = "(ObjectId(0001), [(ObjectId(0002), [])])"
    assert await send(app, "/chain", "POST", chain) == (200, shown)
    misfit = await first_error(app, "/chain", method="POST", json=["0001", [["2", []]]])
    assert misfit == (400, "[1][0][0]", MISFIT)
    data = {"a": ["b", {"c": None}]}
    assert await send(app, "/json?id=0001", "POST", data) == (200, [data, "0001"])


async def test_whole_numbers_beside_decoders() -> None:
    app = make_app()

    class Counted(msgspec.Struct):
        id: ObjectId
        count: int

    @app.post("/")
    @typed
    def read(body: Counted) -> Counted:
        return body

    sent = await app.request(
        "/",
        method="POST",
        headers={"content-type": "application/json"},
        body=b'{"id": "0001", "count": 5.0}',
    )
    assert await sent.json() == {"id": "0001", "count": 5}


async def test_values_of_the_request() -> None:
    app = make_app()

    async def read_body(c: Context) -> Any:
        return c.json([*map(repr, await c.req.json(list[IPv4Address | None]))])

    app.post("/body", read_body)
    app.get("/query", lambda c: c.json(repr(c.req.query("id", ObjectId | int))))
    assert await send(app, "/body", "POST", ["10.0.0.1"]) == (200, ["IPv4Address('10.0.0.1')"])
    assert await send(app, "/query?id=0001") == (200, "ObjectId(0001)")
    assert await send(app, "/query?id=12") == (200, "12")
