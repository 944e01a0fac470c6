# SPDX-License-Identifier: MIT
"""Typed endpoints with all that apps have: threads, wrappers, sub-apps, streams, clients."""

from __future__ import annotations

import functools
import threading
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import msgspec
import pytest

from kit import Context, Kit, Next, Response, in_thread
from kit.authoring.route_hooks import check
from kit.interface.metadata import attach, get_facts
from kit.testing import sync_test_client, test_client
from kit.typed import Depends, Env, Path, Var, typed


class Book(msgspec.Struct):
    title: str


def test_in_thread(run: Any) -> None:
    app = Kit()

    @app.post("/:id")
    @typed
    @in_thread
    def endpoint(id: int, book: Book, *, q: str = "q") -> list[Any]:
        return [id, book, q, threading.current_thread() is threading.main_thread()]

    async def main() -> None:
        response = await app.request("/1?q=z", method="POST", json={"title": "a"})
        assert await response.json() == [1, {"title": "a"}, "z", False]

    run(main)


def test_in_thread_above_typed_is_refused() -> None:
    with pytest.raises(TypeError) as caught:

        @in_thread
        @typed
        def endpoint(id: int) -> None: ...

    name = "test_in_thread_above_typed_is_refused.<locals>.endpoint"
    assert str(caught.value).startswith(f"in_thread() takes a plain function: {name} (")
    assert str(caught.value).endswith(" is wrapped by @typed, which belongs above @in_thread")


def timed(handler: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(handler)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = handler(*args, **kwargs)
        return await result if hasattr(result, "__await__") else result

    return wrapper


def by_context(handler: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(handler)
    async def wrapper(c: Context) -> Any:
        response = await handler(c)
        response.headers["x-wrapped"] = "yes"
        return response

    return wrapper


def secretly(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapper(c: Context) -> Any:
        return await handler(c)

    return wrapper


async def test_wrappers_below_typed() -> None:
    app = Kit()

    @app.get("/:id")
    @typed
    @timed
    def endpoint(id: int) -> int:
        return id

    assert await (await app.request("/1")).json() == 1


@pytest.mark.parametrize("is_async", [True, False])
async def test_wrappers_above_typed(is_async: bool) -> None:
    async def asynchronous(id: int, q: int = 0) -> list[int]:
        return [id, q]

    def plain(id: int, q: int = 0) -> list[int]:
        return [id, q]

    endpoint = typed(asynchronous if is_async else plain)
    app = Kit().get("/a/:id", timed(by_context(timed(endpoint)))).get("/b", by_context(endpoint))
    app.get("/secret/:id", secretly(endpoint))
    response = await app.request("/a/1?q=2")
    assert (await response.json(), response.headers["x-wrapped"]) == ([1, 2], "yes")
    assert await (await app.request("/b?id=3")).json() == [3, 0]
    for _ in range(2):
        assert await (await app.request("/secret/4")).json() == [4, 0]
    assert [*get_facts(app.routes[0].handler).validates] == ["param", "query"]
    assert [*get_facts(app.routes[1].handler).validates] == ["query"]


class Shelf:
    def __init__(self, books: list[str]) -> None:
        self.books = books

    def read(self, id: int) -> str:
        return self.books[id]

    async def __call__(self, id: int) -> str:
        return self.books[id]


async def test_methods_and_objects() -> None:
    shelf = Shelf(["a", "b"])
    app = Kit().get("/method/:id", typed(shelf.read)).get("/object/:id", typed(shelf))
    app.get("/partial", typed(functools.partial(shelf.read, 1)))
    app.get("/twice/:id", typed(typed(shelf.read)))
    for path in ("/method/1", "/object/1", "/partial", "/twice/1"):
        assert await (await app.request(path)).json() == "b"


async def test_several_handlers_and_use() -> None:
    app = Kit()

    async def adds(c: Context, next: Next) -> None:
        await next()
        c.header("x-added", "1")

    app.get("/:id", adds, typed(lambda: "first"))

    @app.post("/:id", use=adds)
    @typed
    async def endpoint(id: int) -> int:
        return id

    assert (await app.request("/1")).headers["x-added"] == "1"
    response = await app.request("/1", method="POST")
    assert (await response.json(), response.headers["x-added"]) == (1, "1")


async def test_streams() -> None:
    app = Kit()

    async def count(to: int) -> AsyncIterator[str]:
        for number in range(to):
            yield str(number)

    @app.get("/:to")
    @typed
    async def endpoint(c: Context, to: int) -> Response:
        return c.body(count(to))

    assert await (await app.request("/3")).text() == "012"


def test_test_clients() -> None:
    closed: list[str] = []

    async def pool() -> AsyncIterator[str]:
        yield "pool"
        closed.append("closed")

    app = Kit()

    @app.get("/books/:id")
    @typed
    async def endpoint(id: int, pool: Annotated[str, Depends(pool)]) -> list[Any]:
        return [id, pool]

    with sync_test_client(app) as client:
        assert client.books[":id"].get(param={"id": "3"}).json() == [3, "pool"]
    assert closed == ["closed"]


async def test_async_test_client() -> None:
    app = Kit()

    @app.get("/books/:id")
    @typed
    async def endpoint(id: int) -> int:
        return id

    async with test_client(app) as client:
        assert await (await client.books[":id"].get(param={"id": "3"})).json() == 3


def reads_user(user: Annotated[str, Var()]) -> str:
    return user


async def sets_user(c: Context, next: Next) -> None:
    c.set("user", "ada")
    await next()


@functools.wraps(sets_user)
async def provides_user(c: Context, next: Next) -> None:
    await sets_user(c, next)


attach(provides_user, provides={"user": str})


async def test_variables_are_checked_at_startup() -> None:
    apps = [
        Kit().use(provides_user).get("/x", typed(reads_user)),
        Kit().get("/x", provides_user, typed(reads_user)),
        Kit().get("/x", typed(reads_user), use=provides_user),
        Kit().use("/:any", provides_user).get("/x", typed(reads_user)),
        Kit().use(provides_user).route("/", Kit().get("/x", typed(reads_user))),
        Kit().route("/", Kit().use(provides_user).get("/x", typed(reads_user))),
    ]
    for app in apps:
        async with app.running():
            assert await (await app.request("/x")).json() == "ada"


def depends_on_user(user: Annotated[str, Depends(reads_user)]) -> str:
    return user


@pytest.mark.parametrize("endpoint", [reads_user, depends_on_user])
async def test_variables_that_nothing_provides(endpoint: Any) -> None:
    apps = [
        Kit().get("/x", typed(endpoint)),
        Kit().use(sets_user).get("/x", typed(endpoint)),
        Kit().get("/x", typed(endpoint)).use(provides_user),
        Kit().use("/y", provides_user).get("/x", typed(endpoint)),
        Kit().post("/x", provides_user, lambda c: c.text("")).get("/x", typed(endpoint)),
        Kit().route("/", Kit().get("/x", typed(endpoint))),
    ]
    line = reads_user.__code__.co_firstlineno
    for app in apps:
        for _ in range(2):
            with pytest.raises(TypeError) as caught:
                await app.request("/x")
            assert str(caught.value).startswith(f"@typed reads_user ({__file__}:{line}): Var()")
        with pytest.raises(TypeError, match="which no middleware before"):
            async with app.running():
                pass


async def test_variables_and_optional_parameters_of_the_path() -> None:
    def endpoint(user: Annotated[str, Var()], x: str = "none") -> list[str]:
        return [user, x]

    app = Kit().use(provides_user).get("/:x?/middle", typed(endpoint))
    assert await (await app.request("/middle")).json() == ["ada", "none"]
    assert await (await app.request("/a/middle")).json() == ["ada", "a"]


async def test_variables_that_may_be_absent_are_not_checked() -> None:
    def default(user: Annotated[str, Var()] = "none") -> str:
        return user

    def nothing(user: Annotated[str | None, Var()]) -> str | None:
        return user

    app = Kit().get("/a", typed(default)).get("/b", typed(nothing))
    async with app.running():
        assert await (await app.request("/a")).json() == "none"


async def test_path_marks_a_parameter_of_the_whole_pattern() -> None:
    def endpoint(author: Annotated[str, Path()]) -> str:
        return author

    inner = Kit().get("/books", typed(endpoint))
    app = Kit().route("/:author", inner)
    assert await (await app.request("/ada/books")).json() == "ada"
    alone = Kit().get("/books", typed(endpoint))
    line = endpoint.__code__.co_firstlineno
    with pytest.raises(TypeError) as caught:
        async with alone.running():
            pass
    assert str(caught.value).startswith(f"@typed {endpoint.__qualname__} ({__file__}:{line})")


async def test_lifespan_and_env() -> None:
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def lifespan(app: Kit[Any, Any]) -> AsyncIterator[dict[str, str]]:
        yield {"db": "pool"}

    app = Kit(lifespan=lifespan)

    @app.get("/")
    @typed
    def endpoint(db: Annotated[str, Env()]) -> str:
        return db

    async with app.running():
        assert await (await app.request("/")).json() == "pool"


async def test_head_and_not_allowed() -> None:
    app = Kit(method_not_allowed=True)

    @app.get("/:id")
    @typed
    def endpoint(id: int) -> int:
        return id

    response = await app.request("/1", method="HEAD")
    assert (response.status, await response.text()) == (200, "")
    assert (await app.request("/1", method="POST")).status == 405


def test_checks_are_called_by_tools_as_well() -> None:
    handler = Kit().get("/x", typed(reads_user)).routes[0].handler
    with pytest.raises(TypeError, match="which no middleware"):
        check(handler, [])
