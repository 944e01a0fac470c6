# SPDX-License-Identifier: MIT
"""The apps that `typed` times: endpoints whose parameters frameworks read by their annotations.

A framework is imported when its app is made. `kit` is kit-typed, `by hand` a handler of Kit that
reads and converts the values itself. JSON and models are those that a framework's documentation
shows first. What a framework doesn't have is left out: Falcon converts no bodies, and neither
Falcon nor BlackSheep call functions for a handler's parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from .peers import KIT

BY_HAND = "by hand"
FASTAPI, LITESTAR, BLACKSHEEP, FALCON = "fastapi", "litestar", "blacksheep", "falcon"

ITEM: dict[str, Any] = {
    "id": 7,
    "title": "Dune",
    "author": "Frank Herbert",
    "pages": 412,
    "price": 9.5,
    "in_print": True,
    "tags": ["sand", "spice"],
    "language": "en",
    "rating": 4.25,
    "note": None,
}


@dataclass(frozen=True)
class Row:
    """One request, and the answer to it.

    Attributes:
        name: What it is called in the table.
        path: Path and query.
        answer: The JSON of the answer.
        method: HTTP method.
        sent: The JSON of the body.
    """

    name: str
    path: str
    answer: Any
    method: str = "GET"
    sent: bytes = b""

    @cached_property
    def scope(self) -> dict[str, Any]:
        """The ASGI scope of the request; to be copied, as an app may change it."""
        path, _, query = self.path.partition("?")
        headers = [(b"host", b"localhost")]
        if self.sent:
            headers.append((b"content-type", b"application/json"))
            headers.append((b"content-length", str(len(self.sent)).encode()))
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8000),
            "extensions": {},
        }


INT, QUERY = "one int parameter", "five query parameters"
BODY, DEPENDENCIES = "body of ten fields", "three dependencies"
FILTERED, PAGE = "filtered row", "100 filtered rows"
FOUND = {"page": 2, "limit": 10, "ratio": 0.5, "q": "dune", "exact": True}


async def settings() -> str:
    return "dsn"


@dataclass
class StoredUser:
    """A row of a database, of which one column is never sent."""

    id: int
    name: str
    email: str
    password: str


USERS = [StoredUser(number, f"user {number}", "a@b.example", "s3cret") for number in range(100)]


def _shown(user: StoredUser) -> dict[str, Any]:
    return {"id": user.id, "name": user.name, "email": user.email}


ROWS = (
    Row(INT, "/items/42", {"id": 42}),
    Row(QUERY, "/search?page=2&limit=10&ratio=0.5&q=dune&exact=true", FOUND),
    Row(BODY, "/items", ITEM, "POST", json.dumps(ITEM).encode()),
    Row(DEPENDENCIES, "/me", {"user": "user of pool of dsn"}),
    Row(FILTERED, "/users/7", _shown(USERS[7])),
    Row(PAGE, "/users", [*map(_shown, USERS)]),
)


def by_hand() -> Any:
    import msgspec

    from kit import Context, Kit

    class Item(msgspec.Struct):
        id: int
        title: str
        author: str
        pages: int
        price: float
        in_print: bool
        tags: list[str]
        language: str
        rating: float
        note: str | None

    app: Any = Kit()

    @app.get("/items/:id")
    async def read(c: Context) -> Any:
        return c.json({"id": int(c.req.param("id") or "")})

    @app.get("/search")
    async def search(c: Context) -> Any:
        query = c.req.query()
        return c.json(
            {
                "page": int(query["page"]),
                "limit": int(query["limit"]),
                "ratio": float(query["ratio"]),
                "q": query["q"],
                "exact": query["exact"] == "true",
            }
        )

    @app.post("/items")
    async def create(c: Context) -> Any:
        return c.json(await c.req.json(Item))

    @app.get("/me")
    async def me(c: Context) -> Any:
        dsn = await settings()
        pool = f"pool of {dsn}"
        return c.json({"user": f"user of {pool}"})

    @app.get("/users/:id")
    async def read_user(c: Context) -> Any:
        return c.json(_shown(USERS[int(c.req.param("id") or "")]))

    @app.get("/users")
    async def list_users(c: Context) -> Any:
        return c.json([*map(_shown, USERS)])

    return app


def kit() -> Any:
    import msgspec

    from kit import Kit
    from kit.typed import Depends, typed

    class Item(msgspec.Struct):
        id: int
        title: str
        author: str
        pages: int
        price: float
        in_print: bool
        tags: list[str]
        language: str
        rating: float
        note: str | None

    class User(msgspec.Struct):
        id: int
        name: str
        email: str

    async def get_pool(dsn: Annotated[str, Depends(settings)]) -> str:
        return f"pool of {dsn}"

    async def get_user(
        pool: Annotated[str, Depends(get_pool)], dsn: Annotated[str, Depends(settings)]
    ) -> str:
        return f"user of {pool}"

    app: Any = Kit()

    @app.get("/items/:id")
    @typed
    async def read(id: int) -> dict[str, int]:
        return {"id": id}

    @app.get("/search")
    @typed
    async def search(page: int, limit: int, ratio: float, q: str, exact: bool) -> dict[str, Any]:
        return {"page": page, "limit": limit, "ratio": ratio, "q": q, "exact": exact}

    @app.post("/items")
    @typed
    async def create(item: Item) -> Item:
        return item

    @app.get("/me")
    @typed
    async def me(user: Annotated[str, Depends(get_user)]) -> dict[str, str]:
        return {"user": user}

    @app.get("/users/:id")
    @typed(response=User)
    async def read_user(id: int) -> StoredUser:
        return USERS[id]

    @app.get("/users")
    @typed(response=list[User])
    async def list_users() -> list[StoredUser]:
        return USERS

    return app


def fastapi() -> Any:
    from fastapi import Depends, FastAPI
    from pydantic import BaseModel

    class Item(BaseModel):
        id: int
        title: str
        author: str
        pages: int
        price: float
        in_print: bool
        tags: list[str]
        language: str
        rating: float
        note: str | None

    class User(BaseModel):
        id: int
        name: str
        email: str

    async def get_pool(dsn: Annotated[str, Depends(settings)]) -> str:
        return f"pool of {dsn}"

    async def get_user(
        pool: Annotated[str, Depends(get_pool)], dsn: Annotated[str, Depends(settings)]
    ) -> str:
        return f"user of {pool}"

    async def read(id: int) -> dict[str, int]:
        return {"id": id}

    async def search(page: int, limit: int, ratio: float, q: str, exact: bool) -> dict[str, Any]:
        return {"page": page, "limit": limit, "ratio": ratio, "q": q, "exact": exact}

    async def create(item: Item) -> Item:
        return item

    async def me(user: Annotated[str, Depends(get_user)]) -> dict[str, str]:
        return {"user": user}

    async def read_user(id: int) -> Any:
        return USERS[id]

    async def list_users() -> Any:
        return USERS

    # The annotations of nested functions are text here, which FastAPI reads among the globals.
    names = {"Depends": Depends, "Item": Item, "get_pool": get_pool, "get_user": get_user}
    for function in (get_pool, get_user, read, search, create, me, read_user, list_users):
        _resolve(function, names)
    app = FastAPI(openapi_url=None)
    app.get("/items/{id}")(read)
    app.get("/search")(search)
    app.post("/items")(create)
    app.get("/me")(me)
    app.get("/users/{id}", response_model=User)(read_user)
    app.get("/users", response_model=list[User])(list_users)
    return app


def litestar() -> Any:
    import msgspec
    from litestar import Litestar, get, post
    from litestar.di import Provide
    from litestar.dto import DataclassDTO, DTOConfig

    class Item(msgspec.Struct):
        id: int
        title: str
        author: str
        pages: int
        price: float
        in_print: bool
        tags: list[str]
        language: str
        rating: float
        note: str | None

    async def get_pool(dsn: str) -> str:
        return f"pool of {dsn}"

    async def get_user(pool: str, dsn: str) -> str:
        return f"user of {pool}"

    async def read(id: int) -> dict[str, int]:
        return {"id": id}

    async def search(page: int, limit: int, ratio: float, q: str, exact: bool) -> dict[str, Any]:
        return {"page": page, "limit": limit, "ratio": ratio, "q": q, "exact": exact}

    async def create(data: Item) -> Item:
        return data

    async def me(user: str) -> dict[str, str]:
        return {"user": user}

    async def read_user(id: int) -> StoredUser:
        return USERS[id]

    async def list_users() -> list[StoredUser]:
        return USERS

    shown = DataclassDTO[Annotated[StoredUser, DTOConfig(exclude={"password"})]]
    for function in (get_pool, get_user, read, search, create, me, read_user, list_users):
        _resolve(function, {"Item": Item})
    provided = {"dsn": Provide(settings), "pool": Provide(get_pool), "user": Provide(get_user)}
    handlers = [
        get("/items/{id:int}")(read),
        get("/search")(search),
        post("/items", status_code=200)(create),
        get("/me", dependencies=provided)(me),
        get("/users/{id:int}", return_dto=shown)(read_user),
        get("/users", return_dto=shown)(list_users),
    ]
    return Litestar(handlers, openapi_config=None)


def blacksheep() -> Any:
    from blacksheep import Application, FromJSON, FromQuery, Router, json

    @dataclass
    class Item:
        id: int
        title: str
        author: str
        pages: int
        price: float
        in_print: bool
        tags: list[str]
        language: str
        rating: float
        note: str | None = None

    async def read(id: int) -> Any:
        return json({"id": id})

    async def search(
        page: FromQuery[int],
        limit: FromQuery[int],
        ratio: FromQuery[float],
        q: FromQuery[str],
        exact: FromQuery[bool],
    ) -> Any:
        values = {"page": page, "limit": limit, "ratio": ratio, "q": q, "exact": exact}
        return json({name: each.value for name, each in values.items()})

    async def create(item: FromJSON[Item]) -> Any:
        return json(vars(item.value))

    names = {"FromJSON": FromJSON, "FromQuery": FromQuery, "Item": Item}
    for function in (read, search, create):
        _resolve(function, names)
    app = Application(router=Router())
    app.router.add_get("/items/:id", read)
    app.router.add_get("/search", search)
    app.router.add_post("/items", create)
    return app


def falcon() -> Any:
    import falcon.asgi
    from falcon.asgi import Request, Response

    class Item:
        async def on_get(self, req: Request, resp: Response, id: int) -> None:
            resp.media = {"id": id}

    class Search:
        async def on_get(self, req: Request, resp: Response) -> None:
            resp.media = {
                "page": req.get_param_as_int("page", required=True),
                "limit": req.get_param_as_int("limit", required=True),
                "ratio": req.get_param_as_float("ratio", required=True),
                "q": req.get_param("q", required=True),
                "exact": req.get_param_as_bool("exact", required=True),
            }

    app: Any = falcon.asgi.App()
    app.add_route("/items/{id:int}", Item())
    app.add_route("/search", Search())
    return app


def _resolve(function: Any, names: dict[str, Any]) -> None:
    from typing import get_type_hints

    function.__annotations__ = get_type_hints(function, localns=names, include_extras=True)


@dataclass(frozen=True)
class Framework:
    """How a framework takes part.

    Attributes:
        make: Makes the app.
        rows: Names of the rows it has.
    """

    make: Callable[[], Any]
    rows: tuple[str, ...] = field(default=(INT, QUERY, BODY, DEPENDENCIES, FILTERED, PAGE))


FRAMEWORKS: dict[str, Framework] = {
    BY_HAND: Framework(by_hand),
    KIT: Framework(kit),
    FASTAPI: Framework(fastapi),
    LITESTAR: Framework(litestar),
    BLACKSHEEP: Framework(blacksheep, (INT, QUERY, BODY)),
    FALCON: Framework(falcon, (INT, QUERY)),
}
