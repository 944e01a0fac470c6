# SPDX-License-Identifier: MIT
"""Variables and bindings that don't fit are refused when an app starts, not with a request."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal, NewType, Protocol, TypedDict

import pytest

from kit import Context, Kit
from kit.interface import Next
from kit.interface.metadata import attach
from kit.typed import Depends, Env, Var, override, typed
from kit.websocket import WebSocket, upgrade_websocket


def providing(kind: Any) -> Any:
    async def middleware(c: Context, next: Next) -> None:
        c.set("user", "ada")
        await next()

    return attach(middleware, provides={"user": kind})


class User: ...


class Admin(User): ...


class Guest: ...


class Named(Protocol):
    name: str


class Row(TypedDict):
    id: int


UserId = NewType("UserId", int)


def reading(kind: Any) -> Any:
    def endpoint(user: Any) -> str:
        return "ok"

    endpoint.__annotations__["user"] = Annotated[kind, Var()]
    return typed(endpoint)


@pytest.mark.parametrize(
    ("provided", "wanted"),
    [
        (str, int),
        (int, str),
        (str, int | None),
        (str | None, int | float),
        (float, int),
        (User, Guest),
        (User | str, Guest | int),
        (UserId, str),
        (Row, list[int]),
        (list[int], Row),
        (Literal["a", "b"], int),
        (Annotated[str, "name"], Annotated[int, "age"]),
    ],
)
async def test_variable_of_another_type(provided: Any, wanted: Any) -> None:
    app = Kit().use(providing(provided)).get("/x", reading(wanted))
    for _ in range(2):
        with pytest.raises(
            TypeError, match="Var\\(\\) reads the variable 'user' \\(GET '/x'\\) as"
        ):
            async with app.running():
                raise AssertionError("unreachable: it doesn't start")
    with pytest.raises(TypeError, match="but the middleware before the route provides"):
        await app.request("/x")


@pytest.mark.parametrize(
    ("provided", "wanted"),
    [
        (str, str),
        (str, Any),
        (Any, int),
        (object, int),
        (str | None, str),
        (bool, int),
        (int, float),
        (User, Admin),
        (Admin, User),
        (User, Named),
        (Row, dict[str, int]),
        (dict, Row),
        (list[int], Sequence[int]),
        (dict, Mapping[str, Any]),
        (UserId, int),
        (User | Guest, Guest),
        ("User", int),
        (None, int),
    ],
)
async def test_variable_that_may_fit(provided: Any, wanted: Any) -> None:
    app = Kit().use(providing(provided)).get("/x", reading(wanted))
    async with app.running():
        assert await (await app.request("/x")).json() == "ok"


async def test_the_whole_error_and_what_counts() -> None:
    def endpoint(user: Annotated[int, Var()] = 1) -> int:
        return user

    last = Kit().use(providing(str)).use(providing(int)).get("/x", typed(endpoint))
    async with last.running():
        pass
    app = Kit().use(providing(int)).use(providing(str)).get("/x", typed(endpoint))
    line = endpoint.__code__.co_firstlineno
    with pytest.raises(TypeError) as caught:
        async with app.running():
            pass
    assert str(caught.value).startswith(f"@typed {endpoint.__qualname__} ({__file__}:{line})")


# --- c.env -------------------------------------------------------------------------------------


@asynccontextmanager
async def lifespan(app: Kit) -> AsyncIterator[dict[str, Any]]:
    yield {"db": "db", "cache": "cache"}


@asynccontextmanager
async def yields_defaults(app: Kit) -> AsyncIterator[dict[str, Any]]:
    yield defaultdict(str, cache="cache")


@asynccontextmanager
async def yields_nothing(app: Kit) -> AsyncIterator[None]:
    yield


def reads_pool(pool: Annotated[str, Env()]) -> str:
    return pool


def reads_db(db: Annotated[str, Env()]) -> str:
    return db


def depends(pool: Annotated[str, Depends(reads_pool)]) -> str:
    return pool


def reads_default(pool: Annotated[str, Env()] = "none") -> str:
    return pool


async def connects(ws: WebSocket, pool: Annotated[str, Env()]) -> None: ...


async def start(app: Kit) -> str:
    """Starts and stops an app as an ASGI server does; returns the message of a failure."""
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    with contextlib.suppress(TypeError):
        await app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
    text: str = sent[0].get("message", "")
    return text


def start_rsgi(app: Kit) -> str:
    loop = asyncio.new_event_loop()
    try:
        app.__rsgi_init__(loop)
        app.__rsgi_del__(loop)
    except TypeError as error:
        return str(error)
    finally:
        loop.close()
    return ""


def apps(of_lifespan: Any) -> list[Kit]:
    def made() -> Kit:
        return Kit(lifespan=of_lifespan)

    return [
        made().get("/x", typed(reads_pool)),
        made().get("/x", typed(depends)),
        made().get("/x", upgrade_websocket(typed(connects))),
        made().route("/x", Kit().get("/", typed(reads_pool))),
        Kit().route("/x", made().get("/", typed(reads_pool))),
        made().base_path("/x").get("/", typed(reads_pool)),
    ]


@pytest.mark.parametrize("of_lifespan", [lifespan, yields_nothing, None])
def test_binding_that_no_lifespan_yields(of_lifespan: Any) -> None:
    shown = "'db', 'cache'" if of_lifespan is lifespan else "nothing"
    text = f": Env() reads c.env['pool'] (GET '/x'), which no lifespan yields, but {shown}: yield "
    for app in apps(of_lifespan):
        assert text in asyncio.run(start(app))
        assert text in start_rsgi(app)


def test_bindings_that_are_there() -> None:
    for app in (
        Kit(lifespan=lifespan).get("/x", typed(reads_db)).get("/y", typed(reads_default)),
        Kit(lifespan=yields_defaults).get("/x", typed(reads_db)),
        Kit().route("/x", Kit(lifespan=lifespan)).get("/y", typed(reads_db)),
        Kit(lifespan=lifespan).get("/", lambda c: c.text(c.env["other"])),
    ):
        assert asyncio.run(start(app)) == ""
        assert start_rsgi(app) == ""


async def test_a_test_may_pass_the_rest_with_its_requests() -> None:
    app = Kit(lifespan=lifespan).get("/x", typed(reads_pool))
    async with app.running():
        assert await (await app.request("/x", env={"pool": "fake"})).json() == "fake"


def test_what_override_replaces_counts() -> None:
    app = Kit().get("/x", typed(depends))
    with override(app, {reads_pool: lambda: "fake"}):
        assert asyncio.run(start(app)) == ""
    assert "Env() reads" in asyncio.run(start(app))
