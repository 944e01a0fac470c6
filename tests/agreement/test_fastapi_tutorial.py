# SPDX-License-Identifier: MIT
"""The topics of FastAPI's tutorial, with FastAPI and with kit-typed: the same requests to both.

Statuses and JSON have to be the same. What differs on purpose:

| topic | FastAPI | kit-typed |
|---|---|---|
| invalid requests | 422, `{"detail": [...]}` | 400, a problem document (RFC 9457) |
| `HTTPException` | `{"detail": ...}` | the text of the exception |
| a name that comes several times, for one value | the last value | the first, as `c.req.query` |
| words for a bool | also `yes`, `off`, `y`, `t` | `true`, `false`, `1`, `0`, `on` |
| texts for an int | also ` 1 ` and `1_000` | numbers as in JSON |
| `"3"` for an int in JSON | is converted | only if the body is a pydantic model |
| a list without a marker | the body | the query |
| an empty field of a form | counts as absent | the same, but for a `str` it is an empty text |
| an object that returns None | `null` with 200 | 204 |
| a body with another Content-Type | 422 | 415 |
| dependencies of an invalid request | those whose own parameters are valid run | none runs |
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime, time, timedelta
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import fastapi
import pydantic
import pytest
from fastapi_answers import Asked, answer, where
from msgspec import Meta, Struct

import kit
from kit import Kit
from kit.typed import (
    Body,
    Cookie,
    Depends,
    File,
    Form,
    Header,
    Path,
    Query,
    typed,
)


class ModelName(str, Enum):  # noqa: UP042 - as in the tutorial
    alexnet = "alexnet"
    lenet = "lenet"


def path_parameters() -> tuple[Any, Any]:
    theirs, ours = fastapi.FastAPI(), Kit()

    async def me() -> Any:
        return {"user_id": "the current user"}

    async def read(item_id: int) -> Any:
        return {"item_id": item_id}

    async def model(name: ModelName) -> Any:
        return {"name": name, "is_alexnet": name is ModelName.alexnet}

    async def text(user_id: str) -> Any:
        return {"user_id": user_id}

    async def ratio(value: Annotated[float, fastapi.Path(gt=0, lt=10.5)]) -> Any:
        return {"value": value}

    async def own_ratio(value: Annotated[float, Path(gt=0, lt=10.5)]) -> Any:
        return {"value": value}

    async def whole(file_path: str) -> Any:
        return {"file_path": file_path}

    theirs.get("/users/me")(me)
    theirs.get("/users/{user_id}")(text)
    theirs.get("/items/{item_id}")(read)
    theirs.get("/models/{name}")(model)
    theirs.get("/ratios/{value}")(ratio)
    theirs.get("/files/{file_path:path}")(whole)
    ours.get("/users/me", typed(me)).get("/users/:user_id", typed(text))
    ours.get("/items/:item_id", typed(read)).get("/models/:name", typed(model))
    ours.get("/ratios/:value", typed(own_ratio)).get("/files/:file_path{.+}", typed(whole))
    return theirs, ours


class Filters(Struct, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(gt=0, le=100)] = 100
    order_by: str = "created"
    tags: list[str] = []


class PydanticFilters(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    limit: int = pydantic.Field(100, gt=0, le=100)
    order_by: str = "created"
    tags: list[str] = []


def query_parameters() -> tuple[Any, Any]:  # noqa: C901 - a chapter
    theirs, ours = fastapi.FastAPI(), Kit()

    async def page(skip: int = 0, limit: int = 10) -> Any:
        return [skip, limit]

    async def optional(item_id: str, q: str | None = None, short: bool = False) -> Any:
        return {"item_id": item_id, "q": q, "short": short}

    async def required(needy: str, skip: int = 0, limit: int | None = None) -> Any:
        return [needy, skip, limit]

    async def validated(
        q: Annotated[str | None, fastapi.Query(min_length=3, max_length=8, pattern="^fix")] = None,
    ) -> Any:
        return {"q": q}

    async def own_validated(
        q: Annotated[str | None, Query(min_length=3, max_length=8, pattern="^fix")] = None,
    ) -> Any:
        return {"q": q}

    async def many(q: Annotated[list[str], fastapi.Query()] = ["foo", "bar"]) -> Any:  # noqa: B006
        return {"q": q}

    async def own_many(q: list[str] = ["foo", "bar"]) -> Any:  # noqa: B006
        return {"q": q}

    async def alias(q: Annotated[str, fastapi.Query(alias="item-query")] = "none") -> Any:
        return {"q": q}

    async def own_alias(q: Annotated[str, Query(alias="item-query")] = "none") -> Any:
        return {"q": q}

    async def model(filters: Annotated[PydanticFilters, fastapi.Query()]) -> Any:
        return filters

    async def own_model(filters: Annotated[Filters, Query()]) -> Any:
        return filters

    theirs.get("/page")(page)
    theirs.get("/optional/{item_id}")(optional)
    theirs.get("/required")(required)
    theirs.get("/validated")(validated)
    theirs.get("/many")(many)
    theirs.get("/alias")(alias)
    theirs.get("/model")(model)
    ours.get("/page", typed(page)).get("/optional/:item_id", typed(optional))
    ours.get("/required", typed(required)).get("/validated", typed(own_validated))
    ours.get("/many", typed(own_many)).get("/alias", typed(own_alias))
    ours.get("/model", typed(own_model))
    return theirs, ours


class PydanticItem(pydantic.BaseModel):
    name: str
    price: float
    description: str | None = None
    tax: float | None = None


class Item(Struct):
    name: str
    price: float
    description: str | None = None
    tax: float | None = None


class PydanticUser(pydantic.BaseModel):
    username: str
    full_name: str | None = None


class User(Struct):
    username: str
    full_name: str | None = None


def bodies() -> tuple[Any, Any]:  # noqa: C901 - a chapter
    theirs, ours = fastapi.FastAPI(), Kit()

    async def create(item: PydanticItem) -> Any:
        return item

    async def own_create(item: Item) -> Any:
        return item

    async def update(item_id: int, item: PydanticItem, q: str | None = None) -> Any:
        return {"item_id": item_id, "name": item.name, "q": q}

    async def own_update(item_id: int, item: Item, q: str | None = None) -> Any:
        return {"item_id": item_id, "name": item.name, "q": q}

    async def optional(item: PydanticItem | None = None) -> Any:
        return {"is": item is not None}

    async def own_optional(item: Item | None = None) -> Any:
        return {"is": item is not None}

    async def several(
        item: PydanticItem, user: PydanticUser, rank: Annotated[int, fastapi.Body(gt=0)]
    ) -> Any:
        return [item, user, rank]

    async def own_several(
        item: Annotated[Item, Body(embed=True)],
        user: Annotated[User, Body(embed=True)],
        rank: Annotated[int, Body(embed=True, gt=0)],
    ) -> Any:
        return [item, user, rank]

    async def single(item: Annotated[PydanticItem, fastapi.Body(embed=True)]) -> Any:
        return item

    async def own_single(item: Annotated[Item, Body(embed=True)]) -> Any:
        return item

    async def lax(item: PydanticItem) -> Any:
        return item

    theirs.post("/items", status_code=201)(create)
    theirs.put("/items/{item_id}")(update)
    theirs.post("/optional")(optional)
    theirs.post("/several")(several)
    theirs.post("/single")(single)
    theirs.post("/pydantic")(lax)
    ours.post("/items", typed(status=201)(own_create)).put("/items/:item_id", typed(own_update))
    ours.post("/optional", typed(own_optional)).post("/several", typed(own_several))
    ours.post("/single", typed(own_single)).post("/pydantic", typed(lax))
    return theirs, ours


class PydanticImage(pydantic.BaseModel):
    url: str = pydantic.Field(pattern="^https?://")
    name: str


class Image(Struct):
    url: Annotated[str, Meta(pattern="^https?://")]
    name: str


class PydanticOffer(pydantic.BaseModel):
    name: str
    tags: set[str] = set()
    images: list[PydanticImage] | None = None
    main: PydanticImage | None = None


class Offer(Struct):
    name: str
    tags: set[str] = set()
    images: list[Image] | None = None
    main: Image | None = None


def nested_models() -> tuple[Any, Any]:
    theirs, ours = fastapi.FastAPI(), Kit()

    async def offer(offer: PydanticOffer) -> Any:
        return offer

    async def own_offer(offer: Offer) -> Any:
        return offer

    async def images(images: list[PydanticImage]) -> Any:
        return images

    async def own_images(images: list[Image]) -> Any:
        return images

    async def weights(weights: dict[int, float]) -> Any:
        return weights

    async def extra(
        id: UUID,
        start: Annotated[datetime, fastapi.Body()],
        after: Annotated[timedelta, fastapi.Body()],
        at: Annotated[time | None, fastapi.Body()] = None,
    ) -> Any:
        return {"id": id, "start": start + after, "at": at}

    async def own_extra(
        id: UUID,
        start: Annotated[datetime, Body(embed=True)],
        after: Annotated[timedelta, Body(embed=True)],
        at: Annotated[time | None, Body(embed=True)] = None,
    ) -> Any:
        return {"id": id, "start": start + after, "at": at}

    theirs.post("/offers")(offer)
    theirs.post("/images")(images)
    theirs.post("/weights")(weights)
    theirs.put("/extra/{id}")(extra)
    ours.post("/offers", typed(own_offer)).post("/images", typed(own_images))
    ours.post("/weights", typed(weights)).put("/extra/:id", typed(own_extra))
    return theirs, ours


class PydanticCommon(pydantic.BaseModel):
    save_data: bool
    x_tag: list[str] = []


class Common(Struct):
    save_data: bool
    x_tag: list[str] = []


class PydanticCookies(pydantic.BaseModel):
    session_id: str
    tracker: int | None = None


class Cookies(Struct):
    session_id: str
    tracker: int | None = None


def headers_and_cookies() -> tuple[Any, Any]:  # noqa: C901 - a chapter
    theirs, ours = fastapi.FastAPI(), Kit()

    async def agent(user_agent: Annotated[str | None, fastapi.Header()] = None) -> Any:
        return {"agent": user_agent}

    async def own_agent(user_agent: Annotated[str | None, Header()] = None) -> Any:
        return {"agent": user_agent}

    async def number(x_number: Annotated[int, fastapi.Header(ge=3)]) -> Any:
        return x_number

    async def own_number(x_number: Annotated[int, Header(ge=3)]) -> Any:
        return x_number

    async def common(headers: Annotated[PydanticCommon, fastapi.Header()]) -> Any:
        return headers

    async def own_common(headers: Annotated[Common, Header()]) -> Any:
        return headers

    async def ads(ads_id: Annotated[int | None, fastapi.Cookie()] = None) -> Any:
        return {"ads_id": ads_id}

    async def own_ads(ads_id: Annotated[int | None, Cookie()] = None) -> Any:
        return {"ads_id": ads_id}

    async def cookies(cookies: Annotated[PydanticCookies, fastapi.Cookie()]) -> Any:
        return cookies

    async def own_cookies(cookies: Annotated[Cookies, Cookie()]) -> Any:
        return cookies

    pairs: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "/agent": (agent, own_agent),
        "/number": (number, own_number),
        "/common": (common, own_common),
        "/ads": (ads, own_ads),
        "/cookies": (cookies, own_cookies),
    }
    for path, (their, own) in pairs.items():
        theirs.get(path)(their)
        ours.get(path, typed(own))
    return theirs, ours


class PydanticLogin(pydantic.BaseModel):
    username: str
    password: str


class Login(Struct):
    username: str
    password: str


def forms_and_files() -> tuple[Any, Any]:
    theirs, ours = fastapi.FastAPI(), Kit()

    async def login(
        username: Annotated[str, fastapi.Form()], age: Annotated[int, fastapi.Form(ge=18)] = 20
    ) -> Any:
        return [username, age]

    async def own_login(
        username: Annotated[str, Form()], age: Annotated[int, Form(ge=18)] = 20
    ) -> Any:
        return [username, age]

    async def model(data: Annotated[PydanticLogin, fastapi.Form()]) -> Any:
        return data

    async def own_model(data: Annotated[Login, Form()]) -> Any:
        return data

    async def size(file: Annotated[bytes, fastapi.File()]) -> Any:
        return len(file)

    async def own_size(file: Annotated[bytes, File()]) -> Any:
        return len(file)

    async def upload(
        file: fastapi.UploadFile,
        token: Annotated[str, fastapi.Form()],
        more: fastapi.UploadFile | None = None,
    ) -> Any:
        return [file.filename, (await file.read()).decode(), token, more and more.filename]

    async def own_upload(
        file: kit.File, token: Annotated[str, Form()], more: kit.File | None = None
    ) -> Any:
        return [file.name, await file.text(), token, more and more.name]

    theirs.post("/login")(login)
    theirs.post("/model")(model)
    theirs.post("/size")(size)
    theirs.post("/upload")(upload)
    ours.post("/login", typed(own_login)).post("/model", typed(own_model))
    ours.post("/size", typed(own_size)).post("/upload", typed(own_upload))
    return theirs, ours


LOG: list[str] = []


class CommonParams:
    def __init__(self, q: str | None = None, skip: int = 0, limit: int = 100) -> None:
        self.q = q
        self.skip = skip
        self.limit = limit


async def get_db() -> AsyncIterator[str]:
    LOG.append("open")
    try:
        yield "db"
    except Exception as error:
        LOG.append(type(error).__name__)
        raise
    finally:
        LOG.append("close")


def query_extractor(q: str | None = None) -> str | None:
    return q


def their_extractor(
    q: Annotated[str | None, fastapi.Depends(query_extractor)],
    last: Annotated[str | None, fastapi.Cookie()] = None,
) -> str | None:
    return q or last


def own_extractor(
    q: Annotated[str | None, Depends(query_extractor)],
    last: Annotated[str | None, Cookie()] = None,
) -> str | None:
    return q or last


class Checker:
    def __init__(self, fixed: str) -> None:
        self.fixed = fixed

    def __call__(self, q: str = "") -> bool:
        return self.fixed in q


checker = Checker("bar")


async def their_token(x_token: Annotated[str, fastapi.Header()]) -> str:
    if x_token != "secret":
        raise fastapi.HTTPException(status_code=403, detail="X-Token header invalid")
    return x_token


async def own_token(x_token: Annotated[str, Header()]) -> str:
    if x_token != "secret":
        raise kit.HTTPException(403, "X-Token header invalid")
    return x_token


class UnicornError(Exception):
    def __init__(self, name: str) -> None:
        self.name = name


def dependencies() -> tuple[Any, Any]:  # noqa: C901 - a chapter
    theirs, ours = fastapi.FastAPI(), Kit()

    async def classes(common: Annotated[CommonParams, fastapi.Depends()]) -> Any:
        return [common.q, common.skip, common.limit]

    async def own_classes(common: Annotated[CommonParams, Depends()]) -> Any:
        return [common.q, common.skip, common.limit]

    async def sub(value: Annotated[str | None, fastapi.Depends(their_extractor)]) -> Any:
        return {"value": value}

    async def own_sub(value: Annotated[str | None, Depends(own_extractor)]) -> Any:
        return {"value": value}

    async def check(has: Annotated[bool, fastapi.Depends(checker)]) -> Any:
        return has

    async def own_check(has: Annotated[bool, Depends(checker)]) -> Any:
        return has

    async def token(token: Annotated[str, fastapi.Depends(their_token)], id: int) -> Any:
        return [token, id]

    async def own_get_token(token: Annotated[str, Depends(own_token)], id: int) -> Any:
        return [token, id]

    async def db(db: Annotated[str, fastapi.Depends(get_db)], fails: bool = False) -> Any:
        LOG.append("used")
        if fails:
            raise fastapi.HTTPException(404)
        return db

    async def own_db(db: Annotated[str, Depends(get_db)], fails: bool = False) -> Any:
        LOG.append("used")
        if fails:
            raise kit.HTTPException(404)
        return db

    pairs: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "/classes": (classes, own_classes),
        "/sub": (sub, own_sub),
        "/check": (check, own_check),
        "/token": (token, own_get_token),
        "/db": (db, own_db),
    }
    for path, (their, own) in pairs.items():
        theirs.get(path)(their)
        ours.get(path, typed(own))
    return theirs, ours


async def their_key(x_key: Annotated[str, fastapi.Header()]) -> str:
    if x_key != "secret-key":
        raise fastapi.HTTPException(status_code=400, detail="X-Key header invalid")
    LOG.append("key")
    return x_key


async def own_key(x_key: Annotated[str, Header()]) -> str:
    if x_key != "secret-key":
        raise kit.HTTPException(400, "X-Key header invalid")
    LOG.append("key")
    return x_key


def dependencies_in_decorators() -> tuple[Any, Any]:
    """On a route, on a router and on the whole app; a value is shared with the endpoint."""
    needs, own_needs = fastapi.Depends(their_token), Depends(own_token)
    theirs = fastapi.FastAPI(dependencies=[needs])
    ours = Kit().use(own_needs)
    router, part = fastapi.APIRouter(dependencies=[fastapi.Depends(their_key)]), Kit()
    part.use(Depends(own_key))

    async def items() -> Any:
        return [{"item": "Portal Gun"}, {"item": "Plumbus"}]

    async def users(key: Annotated[str, fastapi.Depends(their_key)]) -> Any:
        return [key]

    async def own_users(key: Annotated[str, Depends(own_key)]) -> Any:
        return [key]

    theirs.get("/items", dependencies=[fastapi.Depends(their_key)])(items)
    router.get("/users")(users)
    theirs.include_router(router, prefix="/part")
    ours.get("/items", typed(items), use=[Depends(own_key)])
    part.get("/users", typed(own_users))
    ours.route("/part", part)
    return theirs, ours


def errors() -> tuple[Any, Any]:
    theirs, ours = fastapi.FastAPI(), Kit()

    async def read(item_id: str) -> Any:
        if item_id != "foo":
            raise fastapi.HTTPException(status_code=404, detail="Item not found")
        return {"item": item_id}

    async def own_read(item_id: str) -> Any:
        if item_id != "foo":
            raise kit.HTTPException(404, "Item not found")
        return {"item": item_id}

    async def unicorn(name: str) -> Any:
        if name == "yolo":
            raise UnicornError(name)
        return {"name": name}

    @theirs.exception_handler(UnicornError)
    async def on_unicorn(request: Any, error: UnicornError) -> Any:
        content = {"message": f"Oops! {error.name}"}
        return fastapi.responses.JSONResponse(content, status_code=418)

    @ours.on_error(UnicornError)
    def own_on_unicorn(error: UnicornError, c: kit.Context) -> kit.Response:
        return c.json({"message": f"Oops! {error.name}"}, 418)

    async def empty(item_id: str) -> None:
        return None

    theirs.get("/items/{item_id}")(read)
    theirs.get("/unicorns/{name}")(unicorn)
    theirs.delete("/items/{item_id}", status_code=204)(empty)
    ours.get("/items/:item_id", typed(own_read)).get("/unicorns/:name", typed(unicorn))
    ours.delete("/items/:item_id", typed(empty))
    return theirs, ours


ITEM = {"name": "Foo", "price": 42.5}
CHAPTERS: dict[Callable[[], tuple[Any, Any]], list[Asked]] = {
    path_parameters: [
        *map(Asked, ("/users/me", "/users/4", "/users/a%20b", "/items/3", "/items/-3")),
        *map(Asked, ("/items/foo", "/items/4.2", "/models/lenet", "/models/alexnet")),
        *map(Asked, ("/models/other", "/ratios/3.5", "/ratios/0", "/ratios/10.5", "/ratios/x")),
        *map(Asked, ("/files/home/a.txt", "/nothing", "/users/", "/items/")),
        Asked("/items/3", "POST"),
    ],
    query_parameters: [
        *map(Asked, ("/page", "/page?skip=20", "/page?skip=1&limit=2", "/page?skip=x&limit=y")),
        *map(Asked, ("/optional/1", "/optional/1?q=a&short=1", "/optional/1?short=True")),
        *map(
            Asked, ("/optional/1?short=perhaps", "/optional/1?q=", "/required", "/required?limit=x")
        ),
        *map(Asked, ("/required?needy=a", "/required?needy=a&limit=4", "/required?needy=")),
        *map(Asked, ("/validated", "/validated?q=fix", "/validated?q=fi", "/validated?q=notfix")),
        *map(Asked, ("/validated?q=fixedquery", "/many", "/many?q=a", "/many?q=a&q=b", "/many?q=")),
        *map(Asked, ("/alias?item-query=a", "/alias?q=a", "/alias?item-query=a%2Bb+c%26")),
        *map(Asked, ("/model", "/model?limit=5&tags=a&tags=b", "/model?limit=0&tool=x")),
        *map(Asked, ("/model?order_by=x&limit=101", "/model?limit=none")),
    ],
    bodies: [
        Asked("/items", "POST", ITEM),
        Asked("/items", "POST", {**ITEM, "tax": 1.5, "description": None, "more": 1}),
        Asked("/items", "POST", {"name": "Foo"}),
        Asked("/items", "POST", {"price": "no", "description": 5}),
        Asked("/items", "POST", []),
        Asked("/items", "POST"),
        Asked("/items", "POST", body=b"{", headers={"content-type": "application/json"}),
        Asked("/items", "POST", body=b"{}", headers={"content-type": "application/json"}),
        Asked("/items/3", "PUT", ITEM),
        Asked("/items/3?q=x", "PUT", ITEM),
        Asked("/items/x", "PUT", {"name": 1}),
        Asked("/optional", "POST"),
        Asked("/optional", "POST", ITEM),
        Asked("/optional", "POST", {"name": "x"}),
        Asked("/several", "POST", {"item": ITEM, "user": {"username": "a"}, "rank": 1}),
        Asked("/several", "POST", {"item": {"name": "x"}, "rank": 0}),
        Asked("/single", "POST", {"item": ITEM}),
        Asked("/single", "POST", ITEM),
        Asked("/pydantic", "POST", {"name": "x", "price": "42.5"}),
        Asked("/pydantic", "POST", {"price": "no"}),
    ],
    nested_models: [
        Asked("/offers", "POST", {"name": "x"}),
        Asked("/offers", "POST", {"name": "x", "tags": ["a", "a"]}),
        Asked(
            "/offers",
            "POST",
            {"name": "x", "images": [{"url": "http://a", "name": "b"}], "main": None},
        ),
        Asked(
            "/offers",
            "POST",
            {"images": [{"url": "http://a", "name": "b"}, {"url": "ftp:"}], "main": {"name": 1}},
        ),
        Asked("/images", "POST", [{"url": "http://a", "name": "b"}]),
        Asked("/images", "POST", [{"url": "http://a"}, {"name": "b"}]),
        Asked("/weights", "POST", {"1": 1.5, "2": 3}),
        Asked(
            "/extra/12345678-1234-5678-1234-567812345678",
            "PUT",
            {"start": "2024-01-01T00:00:00Z", "after": "PT90S", "at": "14:23:55"},
        ),
        Asked("/extra/x", "PUT", {"start": "no", "after": "no", "at": "no"}),
    ],
    headers_and_cookies: [
        Asked("/agent"),
        Asked("/agent", headers={"User-Agent": "x"}),
        Asked("/number"),
        Asked("/number", headers={"x-number": "3"}),
        Asked("/number", headers={"X-Number": "2"}),
        Asked("/number", headers={"x_number": "4"}),
        Asked("/common", headers={"save-data": "true", "x-tag": "a"}),
        Asked("/common", headers={"save-data": "1"}),
        Asked("/common", headers={"save-data": "no idea"}),
        Asked("/common"),
        Asked("/ads"),
        Asked("/ads", headers={"cookie": "ads_id=4; other=1"}),
        Asked("/ads", headers={"cookie": "ads_id=x"}),
        Asked("/cookies", headers={"cookie": "session_id=a"}),
        Asked("/cookies", headers={"cookie": "session_id=a; tracker=5"}),
        Asked("/cookies", headers={"cookie": "tracker=x"}),
    ],
    forms_and_files: [
        Asked("/login", "POST", form={"username": "ada"}),
        Asked("/login", "POST", form={"username": "ada", "age": "30"}),
        Asked("/login", "POST", form={"username": "ada", "age": "17"}),
        Asked("/login", "POST", form={"age": "x"}),
        Asked("/login", "POST", files={"username": "ada"}),
        Asked("/model", "POST", form={"username": "ada", "password": "p w+"}),
        Asked("/model", "POST", form={"username": "ada"}),
        Asked("/size", "POST", files={"file": ("a.txt", "abc")}),
        Asked("/size", "POST"),
        Asked("/upload", "POST", files={"file": ("a.txt", "abc"), "token": "t"}),
        Asked(
            "/upload",
            "POST",
            files={"file": ("a.txt", "abc"), "token": "t", "more": ("b.txt", "")},
        ),
        Asked("/upload", "POST", files={"file": "text", "token": "t"}),
        Asked("/upload", "POST", files={"token": "t"}),
    ],
    dependencies: [
        *map(Asked, ("/classes", "/classes?q=a&skip=1&limit=2", "/classes?skip=x&limit=y")),
        *map(Asked, ("/sub", "/sub?q=a", "/check", "/check?q=a+bar+b", "/token?id=1")),
        Asked("/sub", headers={"cookie": "last=b"}),
        Asked("/token?id=1", headers={"x-token": "secret"}),
        Asked("/token?id=1", headers={"x-token": "wrong"}),
        Asked("/token?id=x", headers={"x-token": "secret"}),
        *map(Asked, ("/db", "/db?fails=true")),
    ],
    dependencies_in_decorators: [
        Asked(path, headers=headers)
        for path in ("/items", "/part/users")
        for headers in (
            {"x-token": "secret", "x-key": "secret-key"},
            {"x-token": "wrong", "x-key": "secret-key"},
            {"x-token": "secret", "x-key": "wrong"},
            {"x-token": "secret"},
        )
    ],
    errors: [
        *map(Asked, ("/items/foo", "/items/bar", "/unicorns/a", "/unicorns/yolo")),
        Asked("/items/foo", "DELETE"),
    ],
}


@pytest.mark.parametrize(
    ("chapter", "asked"),
    [(chapter, asked) for chapter, every in CHAPTERS.items() for asked in every],
    ids=lambda each: getattr(each, "__name__", None) or f"{each.method} {each.path}",
)
async def test_same_answers(chapter: Callable[[], tuple[Any, Any]], asked: Asked) -> None:
    theirs, ours = chapter()
    # Starlette redirects a path with a slash at its end, and says which methods there are.
    is_routed = not asked.path.endswith("/") and (asked.path, asked.method) != ("/items/3", "POST")
    is_form = asked.form is not None or chapter is forms_and_files
    LOG.clear()
    expected = where(*await answer(theirs, asked), is_form=is_form)
    log = [*LOG]
    LOG.clear()
    status, document = await answer(ours, asked)
    if not is_routed:
        assert status == 404
        return
    assert where(status, document, is_form=is_form) == expected
    assert log == LOG


# What the table above says: the request, and what each makes of it.
DIFFERENCES = [
    (query_parameters, Asked("/page?skip=1&skip=2"), (200, [2, 10]), (200, [1, 10])),
    (query_parameters, Asked("/page?skip=%201"), (200, [1, 10]), 400),
    (query_parameters, Asked("/page?skip=1_000"), (200, [1000, 10]), 400),
    (query_parameters, Asked("/optional/1?short=yes"), (200, None), 400),
    (bodies, Asked("/items", "POST", {"name": "x", "price": "1.5"}), (201, None), 400),
    (
        forms_and_files,
        Asked("/login", "POST", form={"username": ""}),
        (422, None),
        (200, ["", 20]),
    ),
    (forms_and_files, Asked("/login", "POST", {"username": "ada"}), (422, None), 415),
    (dependencies, Asked("/token?id=x", headers={"x-token": "wrong"}), (403, None), 400),
    (errors, Asked("/items/bar"), (404, {"detail": "Item not found"}), (404, "Item not found")),
]


@pytest.mark.parametrize(("chapter", "asked", "their", "own"), DIFFERENCES)
async def test_differences_on_purpose(
    chapter: Callable[[], tuple[Any, Any]], asked: Asked, their: Any, own: Any
) -> None:
    theirs, ours = chapter()
    for app, expected in ((theirs, their), (ours, own)):
        status, document = await answer(app, asked)
        if isinstance(expected, tuple):
            assert status == expected[0]
            assert expected[1] in (None, document)
        elif expected is not None:
            assert status == expected


async def test_none_and_lists_without_a_marker() -> None:
    async def nothing() -> None:
        return None

    async def listed(values: list[int]) -> Any:
        return values

    theirs, ours = fastapi.FastAPI(), Kit()
    theirs.get("/")(nothing)
    theirs.post("/")(listed)
    ours.get("/", typed(nothing)).post("/", typed(listed))
    assert await answer(theirs, Asked("/")) == (200, None)
    assert await answer(ours, Asked("/")) == (204, "")
    assert await answer(theirs, Asked("/", "POST", [1, 2])) == (200, [1, 2])
    assert await answer(ours, Asked("/?values=1&values=2", "POST")) == (200, [1, 2])
