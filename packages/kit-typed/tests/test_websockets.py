# SPDX-License-Identifier: MIT
"""`@typed` below `@upgrade_websocket`: handlers of WebSockets whose parameters are typed."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any

import anyio
import msgspec
import pytest
import starlette.websockets

import kit.interface.websocket
from kit import Context, HTTPException, Kit, Next
from kit.interface import ValidationProblem
from kit.interface.metadata import attach, get_facts
from kit.openapi import build_document
from kit.testing import WebSocketRefusedError, test_client
from kit.typed import Body, Depends, Env, Form, Header, Query, Var, override, typed
from kit.websocket import WebSocket, upgrade_websocket


class Book(msgspec.Struct):
    title: str


trace: list[str] = []


@pytest.fixture(autouse=True)
def clear() -> None:
    trace.clear()


async def get_pool(name: Annotated[str, Query()] = "pool") -> AsyncIterator[str]:
    trace.append("open pool")
    try:
        yield name
    except BaseException as error:
        trace.append(f"pool: {type(error).__name__}")
        raise
    finally:
        trace.append("close pool")


def get_transaction(pool: Annotated[str, Depends(get_pool)]) -> Iterator[str]:
    trace.append("begin")
    try:
        yield f"transaction of {pool}"
    except BaseException as error:
        trace.append(f"transaction: {type(error).__name__}")
        raise
    finally:
        trace.append("end")


async def get_lock() -> AsyncIterator[str]:
    trace.append("lock")
    yield "lock"
    trace.append("unlock")


async def set_user(c: Context, next: Next) -> None:
    c.set("user", c.req.header("x-user"))
    await next()


attach(set_user, provides={"user": str})


def make_app() -> Kit:
    app = Kit()

    @app.get("/chat/:room", use=[set_user])
    @upgrade_websocket(origins=["https://example.com"], protocols="v1")
    @typed
    async def chat(
        ws: WebSocket,
        room: int,
        user: Annotated[str, Var("user")],
        pool: Annotated[str, Depends(get_pool)],
        c: Context,
        *,
        limit: int = 10,
    ) -> None:
        await ws.send_json([room, user, pool, limit, ws.protocol, c.req.param("room")])
        async for message in ws:
            await ws.send(message)
        trace.append("returned")

    return app


def test_values_of_the_handshake(run: Any) -> None:
    async def main() -> None:
        async with test_client(make_app()) as client:
            chat = client.chat[":room"]
            async with chat.ws(
                param={"room": "3"},
                query={"limit": "4"},
                header={"X-User": "ada", "Origin": "https://example.com"},
                protocols=["v1"],
            ) as ws:
                assert await ws.receive_json() == [3, "ada", "pool", 4, "v1", "3"]
                await ws.send("hello")
                assert await ws.receive() == "hello"
                assert trace == ["open pool"]
        assert trace == ["open pool", "returned", "close pool"]

    run(main)


def test_invalid_values_refuse_the_handshake(run: Any) -> None:
    async def main() -> None:
        async with test_client(make_app()) as client:
            chat = client.chat[":room"]
            with pytest.raises(WebSocketRefusedError) as refused:
                async with chat.ws(param={"room": "a"}, query={"limit": "b"}):
                    pass
            assert refused.value.status == 400
            response = refused.value.response
            assert response.headers["content-type"] == "application/problem+json"
            problem = await response.json()
            assert [each["path"] for each in problem["errors"]] == ["room", "limit"]
            assert trace == []  # no dependency ran

    run(main)


def test_an_origin_is_refused_before_anything_is_read(run: Any) -> None:
    async def main() -> None:
        async with test_client(make_app()) as client:
            with pytest.raises(WebSocketRefusedError) as refused:
                async with client.chat[":room"].ws(
                    param={"room": "a"}, header={"Origin": "https://other.example"}
                ):
                    pass
            assert refused.value.status == 403
            response = await client.chat[":room"].get(param={"room": "a"})
            assert response.status == 426

    run(main)


def test_a_dependency_refuses_the_handshake(run: Any) -> None:
    def refuse(pool: Annotated[str, Depends(get_pool)]) -> None:
        raise HTTPException(403, "members only")

    app = Kit()

    @app.get("/")
    @upgrade_websocket
    @typed
    async def chat(ws: WebSocket, member: Annotated[None, Depends(refuse)]) -> None:
        raise AssertionError

    async def main() -> None:
        async with test_client(app) as client:
            with pytest.raises(WebSocketRefusedError) as refused:
                async with client.ws():
                    pass
        assert refused.value.status == 403
        assert await refused.value.response.text() == "members only"
        assert trace == ["open pool", "pool: HTTPException", "close pool"]

    run(main)


def with_scopes(app: Kit, error: Exception | None = None) -> None:
    @app.get("/")
    @upgrade_websocket
    @typed
    async def chat(
        ws: WebSocket,
        lock: Annotated[str, Depends(get_lock, scope="function")],
        transaction: Annotated[str, Depends(get_transaction, scope="function")],
    ) -> None:
        await ws.send(f"{lock}, {transaction}")
        trace.append("handler")
        if error is not None:
            raise error


def test_exits_after_the_handler(run: Any) -> None:
    app = Kit()
    with_scopes(app)

    async def main() -> None:
        async with test_client(app) as client, client.ws() as ws:
            assert await ws.receive() == "lock, transaction of pool"
        assert ws.close_code == 1000

    run(main)
    begun = ["lock", "open pool", "begin"]
    assert trace == [*begun, "handler", "end", "unlock", "close pool"]


def test_exits_see_the_exception_of_the_handler(run: Any) -> None:
    app = Kit()
    with_scopes(app, HTTPException(403, "no more"))

    async def main() -> None:
        async with test_client(app) as client, client.ws() as ws:
            assert len([each async for each in ws]) == 1
        assert (ws.close_code, ws.close_reason) == (1008, "no more")

    run(main)
    assert trace[3:] == [
        "handler",
        "transaction: HTTPException",
        "end",
        "pool: HTTPException",
        "close pool",
    ]


def test_a_failing_exit_closes_the_connection_as_a_fault(
    run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def get_failing() -> AsyncIterator[str]:
        yield "value"
        raise ValueError("commit failed")

    app = Kit()

    @app.get("/")
    @upgrade_websocket
    @typed
    async def chat(
        ws: WebSocket, value: Annotated[str, Depends(get_failing, scope="function")]
    ) -> None:
        await ws.send(value)

    async def main() -> None:
        async with test_client(app) as client, client.ws() as ws:
            assert [each async for each in ws] == ["value"]
        assert ws.close_code == 1011

    run(main)
    assert "commit failed" in str(caplog.records[0].exc_info)


def test_a_client_that_leaves_cancels_the_handler(run: Any) -> None:
    app = Kit()

    @app.get("/")
    @upgrade_websocket(cancel_on_disconnect=True)
    @typed
    async def chat(ws: WebSocket, pool: Annotated[str, Depends(get_pool)]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("cancelled")

    async def main() -> None:
        async with test_client(app) as client, client.ws():
            pass

    run(main)
    assert trace == ["open pool", "cancelled", "pool: WebSocketDisconnectedError", "close pool"]


def test_exits_if_middleware_refuses_afterwards(run: Any) -> None:
    app = Kit()

    @app.use
    async def refuse(c: Context, next: Next) -> None:
        await next()
        c.res = c.text("no", 403)

    with_scopes(app)

    async def main() -> None:
        async with test_client(app) as client:
            with pytest.raises(WebSocketRefusedError):
                async with client.ws():
                    pass

    run(main)
    assert trace == ["lock", "open pool", "begin", "end", "unlock", "close pool"]


def timed(handler: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(handler)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        trace.append("timed")
        result = handler(*args, **kwargs)
        return await result if hasattr(result, "__await__") else result

    return wrapper


def test_wrappers_above_and_between(run: Any) -> None:
    app = Kit()

    @app.get("/:x")
    @timed
    @upgrade_websocket
    @timed
    @typed
    async def chat(ws: WebSocket, x: int) -> None:
        await ws.send_json(x)

    async def main() -> None:
        async with test_client(app) as client, client[":x"].ws(param={"x": "5"}) as ws:
            assert await ws.receive_json() == 5

    run(main)
    assert trace == ["timed", "timed"]


def test_sub_apps_and_prefixes(run: Any) -> None:
    rooms = Kit()

    @rooms.get("/:room")
    @upgrade_websocket
    @typed
    async def chat(ws: WebSocket, team: int, room: str, greeting: Annotated[str, Env()]) -> None:
        await ws.send_json([team, room, greeting])

    app = Kit()
    app.route("/teams/:team", rooms)
    app.base_path("/v2/:team").get("/:room", chat)

    async def main() -> None:
        async with test_client(app, env={"greeting": "hi"}) as client:
            values = {"team": "7", "room": "a"}
            async with client.teams[":team"][":room"].ws(param=values) as ws:
                assert await ws.receive_json() == [7, "a", "hi"]
            async with client.v2[":team"][":room"].ws(param=values) as ws:
                assert await ws.receive_json() == [7, "a", "hi"]

    run(main)


def test_override(run: Any) -> None:
    app = make_app()

    async def main() -> None:
        async with test_client(app) as client:
            with override(app, {get_pool: lambda: "fake"}):
                async with client.chat[":room"].ws(
                    param={"room": "3"}, header={"X-User": "ada"}
                ) as ws:
                    assert (await ws.receive_json())[2] == "fake"
        assert trace == ["returned"]

    run(main)


def test_the_protocol_of_the_interface_names_the_connection(run: Any) -> None:
    app = Kit()

    @app.all("/")
    @upgrade_websocket
    @typed
    async def chat(c: Context, req: kit.interface.websocket.WebSocket, ws: int = 3) -> None:
        await req.send_json(ws)

    async def main() -> None:
        async with test_client(app) as client, client.ws(query={"ws": "4"}) as ws:
            assert await ws.receive_json() == 4

    run(main)


def test_it_is_called_as_the_function(run: Any) -> None:
    sent: list[str] = []

    class Fake:
        async def send(self, data: str) -> None:
            sent.append(data)

    @upgrade_websocket
    @typed
    async def chat(ws: WebSocket, room: str) -> None:
        await ws.send(room)

    async def main() -> None:
        fake: Any = Fake()
        await chat(ws=fake, room="a")
        await chat(fake, "b")
        assert sent == ["a", "b"]

    run(main)


def test_facts() -> None:
    app = make_app()
    facts = get_facts(app.routes[-1].handler)
    assert facts.others["kit_websocket"] is True
    assert facts.others["typed_calls"] == (get_pool,)
    assert facts.responses == {
        101: "Switching Protocols",
        400: ValidationProblem,
        426: "Upgrade Required",
    }
    assert {*facts.validates} == {"param", "query"}
    assert facts.source.endswith("chat(ws, room, user, pool, c, limit=limit)")


def test_openapi_leaves_it_out() -> None:
    app = make_app()

    @app.get("/rooms")
    @typed
    def rooms() -> list[str]:
        return []

    assert [*build_document(app)["paths"]] == ["/rooms"]


def test_an_absent_variable_is_found_at_startup(run: Any) -> None:
    app = Kit()

    @app.get("/")
    @upgrade_websocket
    @typed
    async def chat(ws: WebSocket, user: Annotated[str, Var()]) -> None: ...

    async def main() -> None:
        with pytest.raises(TypeError, match="Var\\(\\) reads the variable 'user' \\(GET '/'\\)"):
            async with test_client(app):
                pass

    run(main)


async def with_connection(ws: WebSocket, room: str = "") -> None: ...
async def without_connection(room: str = "") -> None: ...
async def with_body(ws: WebSocket, book: Book) -> None: ...
async def with_explicit_body(ws: WebSocket, book: Annotated[Book, Body()]) -> None: ...
async def with_form(ws: WebSocket, title: Annotated[str, Form()]) -> None: ...
async def marked(ws: WebSocket, other: Annotated[WebSocket, Header()]) -> None: ...
async def of_starlette(ws: starlette.websockets.WebSocket) -> None: ...
async def get_by_connection(ws: WebSocket) -> None: ...
async def depending(ws: WebSocket, x: Annotated[None, Depends(get_by_connection)]) -> None: ...


BODY = "the parameter 'book' is read from the body, which a GET request doesn't have (GET '/')"

AT_REGISTRATION = [
    ("POST", with_connection, "it is registered for POST ('/'), but the handshake of a"),
    ("GET", without_connection, "@upgrade_websocket is above it, but it takes no WebSocket"),
    ("GET", with_body, "the parameter 'book' has the type Book of a JSON body, which a GET"),
    ("GET", with_explicit_body, BODY),
    ("ALL", with_explicit_body, BODY),
    ("GET", with_form, BODY.replace("book", "title")),
    ("GET", marked, "the parameter 'other' is the WebSocket, which Header() can't read: write"),
    ("GET", of_starlette, "@upgrade_websocket is above it, but it takes no WebSocket (GET"),
    ("GET", depending, "the parameter 'ws' is the WebSocket, but dependencies run during the"),
]


def named(function: Any) -> str:
    code = function.__code__
    return f"{function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"


@pytest.mark.parametrize(("method", "function", "problem"), AT_REGISTRATION)
def test_mistakes_at_registration(method: str, function: Any, problem: str) -> None:
    handler = upgrade_websocket(typed(function))
    app = Kit()
    with pytest.raises(TypeError) as caught:
        app.on(method, "/", handler)
    culprit = get_by_connection if function is depending else function
    assert str(caught.value).startswith(f"@typed {named(culprit)}: ")
    assert problem in str(caught.value)


@pytest.mark.parametrize("above", [lambda each: each, timed], ids=["alone", "wrapped"])
def test_a_connection_that_nothing_accepts(above: Callable[..., Any]) -> None:
    app = Kit()
    with pytest.raises(TypeError) as caught:
        app.get("/", above(typed(with_connection)))
    assert str(caught.value).startswith(f"@typed {named(with_connection)}: the parameter 'ws' is")


def test_starlettes_connection_alone() -> None:
    with pytest.raises(TypeError) as caught:
        Kit().get("/", typed(of_starlette))
    assert str(caught.value).startswith(f"@typed {named(of_starlette)}: the parameter 'ws' has")


async def two(ws: WebSocket, other: kit.interface.websocket.WebSocket) -> None: ...
def plain(ws: WebSocket) -> None: ...
async def perhaps(ws: WebSocket | None = None) -> None: ...
async def several(ws: list[WebSocket]) -> None: ...


ONE = "but a handshake opens one connection, which is never absent: write ws: WebSocket"


AT_DECORATION = [
    (
        {},
        two,
        "the parameters 'ws' and 'other' are both a WebSocket, but a handshake opens one "
        "connection: keep one",
    ),
    (
        {},
        perhaps,
        "the parameter 'ws' has the type typing.Optional[kit.websocket.WebSocket], " + ONE,
    ),
    ({}, several, "the parameter 'ws' has the type list[kit.websocket.WebSocket], " + ONE),
    ({}, plain, "it takes a WebSocket, 'ws', so it has to be async: write async def"),
    (
        {"status": 201},
        with_connection,
        "it takes a WebSocket, 'ws', so the status 201 is never sent: leave it out",
    ),
]


@pytest.mark.parametrize(("options", "function", "problem"), AT_DECORATION)
def test_mistakes_at_decoration(options: Any, function: Any, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        typed(**options)(function)
    assert str(caught.value) == f"@typed {named(function)}: {problem}"


async def in_wrong_order(c: Context, ws: WebSocket) -> None: ...


def test_the_wrong_order() -> None:
    with pytest.raises(TypeError) as caught:
        typed(upgrade_websocket(in_wrong_order))
    assert str(caught.value).startswith(f"typed() was given {named(in_wrong_order)}, which")
    # With parameters by their types, the inner one of the two refuses.
    with pytest.raises(TypeError) as caught:
        typed(upgrade_websocket(with_connection))  # type: ignore[arg-type]
    assert str(caught.value).startswith("upgrade_websocket() takes a handler (c, ws), or a")
