# SPDX-License-Identifier: MIT
"""FastAPI's chapters on response models and body updates: the same requests to both frameworks.

Statuses and JSON have to be the same. What differs on purpose:

| topic | FastAPI | kit-typed |
|---|---|---|
| a result that doesn't fit | an exception of the server | a 500 |
| aliases in results | are sent | only with `typed(by_alias=True)` |
| None as a result | `null` with 200 | 204; a 500 if the type doesn't include it |
| `response_model_include`, `response_model_exclude` | choose fields | a class with these fields |
| `response_model=None` | no type | no annotation, or `Any` |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fastapi
import pydantic
import pytest
from fastapi.encoders import jsonable_encoder
from fastapi_answers import Asked, answer, where

from kit import Context, HTTPException, Kit, Response
from kit.typed import typed


class UserOut(pydantic.BaseModel):
    username: str
    email: str
    full_name: str | None = None


class UserIn(UserOut):
    password: str


class UserInDB(UserOut):
    hashed_password: str


class Item(pydantic.BaseModel):
    name: str
    description: str | None = None
    price: float
    tax: float = 10.5
    tags: list[str] = []


class Draft(pydantic.BaseModel):
    name: str | None = None
    description: str | None = None
    price: float | None = None
    tax: float = 10.5
    tags: list[str] = []


class Aliased(pydantic.BaseModel):
    user_name: str = pydantic.Field(alias="userName")


class Car(pydantic.BaseModel):
    type: str = "car"
    seats: int = 4


class Plane(pydantic.BaseModel):
    type: str = "plane"
    size: int


class Row:
    """An object that isn't a model, such as one of an ORM."""

    def __init__(self, **columns: Any) -> None:
        self.__dict__.update(columns)


ITEMS: dict[str, dict[str, Any]] = {
    "foo": {"name": "Foo", "price": 50.2},
    "bar": {"name": "Bar", "description": "The bartenders", "price": 62, "tax": 20.2},
    "baz": {"name": "Baz", "description": None, "price": 50.2, "tax": 10.5, "tags": []},
}
STORED = UserInDB(username="ada", email="a@b.example", hashed_password="x")
VEHICLES = [{"type": "car", "seats": 2}, {"type": "plane", "size": 5}]


async def created(user: UserIn) -> Any:
    return user


async def annotated(user: UserIn) -> UserOut:
    return user


async def listed() -> Any:
    return [STORED, {"username": "bo", "email": "b@b.example", "secret": 1}]


async def row() -> Any:
    return Row(username="ada", email="a@b.example", full_name=None, password="x")


async def read_item(item_id: str) -> Any:
    return ITEMS[item_id]


async def vehicle(number: int) -> Any:
    return VEHICLES[number]


async def weights() -> Any:
    return {"foo": 2, "bar": 3.5}


async def aliased() -> Any:
    return Aliased(userName="ada")


async def nested() -> Any:
    return {"by_name": {"ada": STORED}}


class Users(pydantic.BaseModel):
    by_name: dict[str, UserOut]


def response_models() -> tuple[Any, Any]:
    theirs, ours = fastapi.FastAPI(), Kit()
    theirs.post("/users", response_model=UserOut)(created)
    theirs.post("/annotated")(annotated)
    theirs.get("/users", response_model=list[UserOut])(listed)
    theirs.get("/row", response_model=UserOut)(row)
    theirs.get("/items/{item_id}", response_model=Item)(read_item)
    only_set = theirs.get("/set/{item_id}", response_model=Item, response_model_exclude_unset=True)
    only_set(read_item)
    theirs.get("/changed/{item_id}", response_model=Item, response_model_exclude_defaults=True)(
        read_item
    )
    theirs.get("/some/{item_id}", response_model=Item, response_model_exclude_none=True)(read_item)
    theirs.get("/vehicles/{number}", response_model=Plane | Car)(vehicle)
    theirs.get("/weights", response_model=dict[str, float])(weights)
    theirs.get("/aliased", response_model=Aliased)(aliased)
    theirs.get("/names", response_model=Aliased, response_model_by_alias=False)(aliased)
    theirs.get("/nested", response_model=Users)(nested)

    @theirs.get("/portal/{kind}")
    async def portal(kind: str) -> fastapi.Response:
        if kind == "moved":
            return fastapi.responses.RedirectResponse("/elsewhere")
        return fastapi.responses.JSONResponse({"message": "Here"}, 201)

    ours.post("/users", typed(response=UserOut)(created))
    ours.post("/annotated", typed(annotated))
    ours.get("/users", typed(response=list[UserOut])(listed))
    ours.get("/row", typed(response=UserOut)(row))
    ours.get("/items/:item_id", typed(response=Item)(read_item))
    ours.get("/set/:item_id", typed(response=Item, exclude_unset=True)(read_item))
    ours.get("/changed/:item_id", typed(response=Item, exclude_defaults=True)(read_item))
    ours.get("/some/:item_id", typed(response=Item, exclude_none=True)(read_item))
    ours.get("/vehicles/:number", typed(response=Plane | Car)(vehicle))
    ours.get("/weights", typed(response=dict[str, float])(weights))
    ours.get("/aliased", typed(response=Aliased, by_alias=True)(aliased))
    ours.get("/names", typed(response=Aliased)(aliased))
    ours.get("/nested", typed(response=Users)(nested))

    @ours.get("/portal/:kind")
    @typed
    async def own_portal(kind: str, c: Context) -> Response:
        return (
            c.redirect("/elsewhere", 307) if kind == "moved" else c.json({"message": "Here"}, 201)
        )

    return theirs, ours


def body_updates() -> tuple[Any, Any]:
    theirs, ours = fastapi.FastAPI(), Kit()
    items = {name: dict(item) for name, item in ITEMS.items()}
    own_items = {name: dict(item) for name, item in ITEMS.items()}

    @theirs.put("/items/{item_id}", response_model=Draft)
    async def replace(item_id: str, item: Draft) -> Any:
        items[item_id] = jsonable_encoder(item)
        return items[item_id]

    @theirs.patch("/items/{item_id}", response_model=Draft)
    async def update(item_id: str, item: Draft) -> Any:
        if item_id not in items:
            raise fastapi.HTTPException(404)
        stored = Draft(**items[item_id])
        changed = stored.model_copy(update=item.model_dump(exclude_unset=True))
        items[item_id] = jsonable_encoder(changed)
        return changed

    @ours.put("/items/:item_id")
    @typed(response=Draft)
    async def own_replace(item_id: str, item: Draft) -> Any:
        own_items[item_id] = item.model_dump()
        return own_items[item_id]

    @ours.patch("/items/:item_id")
    @typed
    async def own_update(item_id: str, item: Draft) -> Draft:
        if item_id not in own_items:
            raise HTTPException(404)
        stored = Draft(**own_items[item_id])
        changed = stored.model_copy(update=item.model_dump(exclude_unset=True))
        own_items[item_id] = changed.model_dump()
        return changed

    return theirs, ours


USER = {"username": "ada", "email": "a@b.example", "password": "s3cret"}
CHAPTERS: dict[Callable[[], tuple[Any, Any]], list[Asked]] = {
    response_models: [
        *[Asked(path, "POST", USER) for path in ("/users", "/annotated")],
        *[Asked(path, "POST", {"username": "ada"}) for path in ("/users", "/annotated")],
        *[
            Asked(f"/{kind}/{name}")
            for kind in ("items", "set", "changed", "some")
            for name in ("foo", "bar", "baz")
        ],
        *map(Asked, ("/users", "/row", "/vehicles/0", "/vehicles/1", "/weights", "/aliased")),
        *map(Asked, ("/names", "/nested", "/portal/here", "/portal/moved")),
    ],
    body_updates: [
        Asked("/items/foo", "PUT", {"name": "New", "price": 3}),
        Asked("/items/foo", "PATCH", {"price": 3}),
        Asked("/items/bar", "PATCH", {"description": None}),
        Asked("/items/baz", "PATCH", {"tags": ["a"], "tax": 10.5}),
        Asked("/items/baz", "PATCH", {}),
        Asked("/items/baz", "PATCH", {"price": "x"}),
        Asked("/items/none", "PATCH", {"price": 1}),
    ],
}


@pytest.mark.parametrize(
    ("chapter", "asked"),
    [(chapter, asked) for chapter, every in CHAPTERS.items() for asked in every],
    ids=lambda each: getattr(each, "__name__", None) or f"{each.method} {each.path}",
)
async def test_same_answers(chapter: Callable[[], tuple[Any, Any]], asked: Asked) -> None:
    theirs, ours = chapter()
    expected = where(*await answer(theirs, asked), is_form=False)
    assert where(*await answer(ours, asked), is_form=False) == expected


@pytest.mark.parametrize("value", [{"nme": 1}, {"username": 5, "email": "x"}, None, [STORED]])
async def test_a_result_that_does_not_fit(value: Any) -> None:
    async def endpoint() -> Any:
        return value

    theirs = fastapi.FastAPI()
    theirs.get("/", response_model=UserOut)(endpoint)
    with pytest.raises(fastapi.exceptions.ResponseValidationError):
        await answer(theirs, Asked("/"))
    ours = Kit().get("/", typed(response=UserOut)(endpoint))
    assert (await answer(ours, Asked("/")))[0] == 500
