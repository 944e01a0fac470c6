# SPDX-License-Identifier: MIT
"""WebSockets of both test clients, on asyncio and trio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio
import msgspec
import pytest

from kit import Context, HTTPException, Kit, Response
from kit.testing import (
    ExecutionContext,
    MethodNotFoundError,
    ParameterError,
    RouteNotFoundError,
    SyncResponse,
    SyncTestWebSocket,
    TestWebSocket,
    WebSocketRefusedError,
    sync_test_client,
    test_client,
)
from kit.testing import _websocket as internals
from kit.websocket import (
    InvalidMessageError,
    ReadyState,
    WebSocket,
    WebSocketDisconnectedError,
    upgrade_websocket,
)


class Point(msgspec.Struct):
    x: int


def make_app(trace: list[Any]) -> Kit:
    app = Kit()

    @app.get("/chat/:room")
    @upgrade_websocket(protocols=["v2", "v1"], origins=["https://example.com"])
    async def chat(c: Context, ws: WebSocket) -> None:
        c.execution_ctx.wait_until(note("background"))
        req = c.req
        told = (req.param("room"), req.query("q"), req.header("x-a"), req.header("cookie"))
        await ws.send(repr(told))
        async for message in ws:
            await ws.send(message)
        trace.append(ws.close_code)

    async def note(text: str) -> None:
        trace.append(text)

    @app.get("/ws")
    @upgrade_websocket
    async def plain(c: Context, ws: WebSocket) -> None:
        await ws.send_json(c.env)
        await ws.send("no JSON")
        await ws.send_json({"x": "a"})
        point = await ws.receive_json(type=Point)
        await ws.close(4000 + point.x, "done")

    add_misbehaving(app, trace)
    app.post("/posted", lambda c: c.text(""))
    return app


def add_misbehaving(app: Kit, trace: list[Any]) -> None:
    @app.get("/fault")
    @upgrade_websocket
    async def fault(c: Context, ws: WebSocket) -> None:
        raise ValueError("a fault")

    add_refusing(app, trace)

    @app.get("/forever")
    @upgrade_websocket
    async def forever(c: Context, ws: WebSocket) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("cancelled")

    @app.get("/flood")
    @upgrade_websocket
    async def flood(c: Context, ws: WebSocket) -> None:
        try:
            while True:
                await ws.send("x")
        finally:
            trace.append("flooded")

    @app.get("/later")
    @upgrade_websocket
    async def later(c: Context, ws: WebSocket) -> None:
        async def work() -> None:
            raise KeyError("in the background")

        c.execution_ctx.wait_until(work())


def add_refusing(app: Kit, trace: list[Any]) -> None:
    async def note(text: str) -> None:
        trace.append(text)

    @app.get("/refused")
    def refused(c: Context) -> Response:
        c.execution_ctx.wait_until(note("after the refusal"))
        raise HTTPException(401, "who are you?", headers={"www-authenticate": "Bearer"})

    @app.get("/stream")
    def stream(c: Context) -> Response:
        async def chunks() -> Any:
            yield b"one "
            yield b"two"

        return c.body(chunks(), 400)


OPTIONS: Any = {
    "param": {"room": "den"},
    "query": {"q": 1},
    "header": {"x-a": "b", "origin": "https://example.com"},
    "cookie": {"n": "v"},
    "protocols": ["v0", "v1", "v2"],
}
TOLD = "('den', '1', 'b', 'n=v')"


def test_async(run: Any) -> None:
    trace: list[Any] = []

    async def main() -> None:
        async with test_client(make_app(trace)) as client:
            ws = client.chat[":room"].ws(**OPTIONS)
            assert ws.ready_state is ReadyState.CONNECTING
            async with ws:
                assert isinstance(ws, TestWebSocket)
                assert (ws.protocol, ws.response.status) == ("v2", 101)
                assert await ws.receive() == TOLD
                for message in ("text", b"bytes"):
                    await ws.send(message)
                    assert await ws.receive() == message
                await ws.send_json({"a": 1})
                assert await ws.receive_json() == {"a": 1}
                assert (ws.close_code, ws.ready_state) == (None, ReadyState.OPEN)
            assert (ws.close_code, ws.ready_state) == (1000, ReadyState.CLOSED)
            with pytest.raises(RuntimeError) as raised:
                await ws.__aenter__()
            assert str(raised.value) == "The connection was opened before: call ws() again"

    run(main)
    assert trace == [1000, "background"]


def test_sync(backend: Any) -> None:
    trace: list[Any] = []
    with sync_test_client(make_app(trace), backend=backend) as client:
        ws = client.chat[":room"].ws(**OPTIONS)
        with pytest.raises(RuntimeError) as raised:
            ws.send("x")
        assert str(raised.value) == (
            "The connection is not open: use `with client.path.ws() as ws:`"
        )
        with ws:
            assert isinstance(ws, SyncTestWebSocket)
            assert (ws.protocol, ws.response.status) == ("v2", 101)
            assert ws.receive() == TOLD
            for message in ("text", b"bytes"):
                ws.send(message)
                assert ws.receive() == message
            ws.send_json({"a": 1})
            assert ws.receive_json() == {"a": 1}
            assert (ws.close_code, ws.ready_state) == (None, ReadyState.OPEN)
        assert (ws.close_code, ws.close_reason) == (1000, "")
    assert trace == [1000, "background"]


def test_closing_by_the_app(run: Any, backend: Any) -> None:
    async def main() -> None:
        async with test_client(make_app([]), {"a": "env"}) as client, client.ws.ws() as ws:
            assert await ws.receive_json() == {"a": "env"}
            with pytest.raises(InvalidMessageError, match="malformed"):
                await ws.receive_json()
            with pytest.raises(InvalidMessageError, match="Expected `int`"):
                await ws.receive_json(type=Point)
            await ws.send_json({"x": 7})
            with pytest.raises(WebSocketDisconnectedError) as raised:
                await ws.receive()
            assert (raised.value.code, raised.value.reason) == (4007, "done")
            assert [each async for each in ws] == []
            with pytest.raises(WebSocketDisconnectedError):
                await ws.send("late")
            await ws.close()  # does nothing
            assert (ws.close_code, ws.close_reason) == (4007, "done")

    run(main)
    client = sync_test_client(make_app([]), {"a": 1}, backend=backend)
    with client, client.ws.ws() as ws:
        assert [ws.receive(), ws.receive()] == ['{"a":1}', "no JSON"]
        assert ws.receive_json(type=dict[str, str]) == {"x": "a"}
        ws.send_json({"x": 1})
        assert list(ws) == []
        assert ws.close_code == 4001


@pytest.mark.parametrize("how", ["close", "break_off"])
def test_closing_by_the_client(run: Any, backend: Any, how: str) -> None:
    trace: list[Any] = []
    app = make_app(trace)
    code = {"close": 4001, "break_off": 1006}[how]

    async def main() -> None:
        async with test_client(app).chat[":room"].ws(param={"room": "a"}) as ws:
            await ws.receive()
            if how == "close":
                with pytest.raises(ValueError, match="1005"):
                    await ws.close(1005)
                await ws.close(4001, "bye")
            else:
                ws.break_off()
            assert ws.close_code == code

    run(main)
    client = sync_test_client(app, backend=backend)
    with client, client.chat[":room"].ws(param={"room": "a"}) as ws:
        ws.receive()
        if how == "close":
            ws.close(4001, "bye")
        else:
            ws.break_off()
        assert ws.close_code == code
    assert trace == [code, "background"] * 2


def test_refusals(run: Any, backend: Any) -> None:
    trace: list[Any] = []
    app = make_app(trace)

    async def main() -> None:
        client = test_client(app)
        with pytest.raises(WebSocketRefusedError) as raised:
            async with client.refused.ws():
                pass
        error = raised.value
        assert (error.status, error.body) == (401, b"who are you?")
        assert isinstance(error.response, Response)
        assert error.response.headers.get("www-authenticate") == "Bearer"
        assert await error.response.text() == "who are you?"
        assert str(error) == "The WebSocket handshake was answered with 401: who are you?"
        with pytest.raises(WebSocketRefusedError) as raised:
            async with client.stream.ws():
                pass
        assert raised.value.body == b"one two"
        with pytest.raises(WebSocketRefusedError) as raised:
            async with client.chat[":room"].ws(param={"room": "a"}, protocols=["v0"]):
                pass
        assert raised.value.status == 400
        origin = {"origin": "http://localhost"}
        with pytest.raises(WebSocketRefusedError) as raised:
            async with client.chat[":room"].ws(param={"room": "a"}, header=origin):
                pass
        assert raised.value.status == 403

    run(main)
    with sync_test_client(app, backend=backend) as client:
        with pytest.raises(WebSocketRefusedError) as raised, client.refused.ws():
            pass
        assert isinstance(raised.value.response, SyncResponse)
        assert raised.value.response.text() == "who are you?"
    assert trace == ["after the refusal"] * 2


def test_fault_of_a_handler(run: Any) -> None:
    async def main() -> None:
        async with test_client(make_app([])).fault.ws() as ws:
            with pytest.raises(WebSocketDisconnectedError) as raised:
                await ws.receive()
            assert raised.value.code == 1011

    run(main)


def test_failed_background_task_is_raised_at_the_end(run: Any, backend: Any) -> None:
    async def main() -> None:
        with pytest.raises(KeyError):
            async with test_client(make_app([])).later.ws() as ws:
                assert [each async for each in ws] == []

    run(main)
    client = sync_test_client(make_app([]), backend=backend)
    with client, pytest.raises(KeyError), client.later.ws():
        pass


def test_execution_context_of_the_caller(run: Any) -> None:
    trace: list[Any] = []

    async def main() -> None:
        context = ExecutionContext()
        client = test_client(make_app(trace), execution_ctx=context)
        async with client.chat[":room"].ws(param={"room": "a"}) as ws:
            await ws.receive()

    run(main)
    assert trace == [1000, "background"]


# --- nothing hangs -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["forever", "flood"])
def test_a_handler_that_never_ends_is_cancelled(
    run: Any, backend: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(internals, "_GRACE_S", 0.01)
    trace: list[Any] = []

    async def main() -> None:
        async with test_client(make_app(trace))[path].ws():
            await anyio.sleep(0)

    run(main)
    with sync_test_client(make_app(trace), backend=backend) as client, client[path].ws():
        pass
    assert trace == ["cancelled" if path == "forever" else "flooded"] * 2


def test_a_test_that_fails_is_not_held_up(run: Any) -> None:
    trace: list[Any] = []

    async def main() -> None:
        with pytest.raises(AssertionError, match="of the test"):
            async with test_client(make_app(trace)).forever.ws():
                raise AssertionError("of the test")

    run(main)
    assert trace == ["cancelled"]


@pytest.mark.parametrize(
    ("names", "param", "got"),
    [
        (["rooms", "general"], None, "/rooms/general"),
        (["rooms", "a b/c"], None, "/rooms/a%20b%2Fc"),
        (["rooms", "general", "7"], None, "/rooms/general/7"),
        (["rooms", ":room", "7"], {"room": "x"}, "/rooms/x/7"),
        (["rooms", "general", ":n"], {"n": 8}, "/rooms/general/8"),
        (["rooms", "own"], None, "/rooms/own"),
    ],
)
def test_names_may_be_values_of_parameters(
    run: Any, backend: Any, names: list[str], param: Any, got: str
) -> None:
    app = Kit()

    async def tell(c: Context, ws: WebSocket) -> None:
        await ws.send(c.req.url.removeprefix("http://localhost"))

    for path in ("/rooms/:room", "/rooms/:room/:n{[0-9]+}", "/rooms/own"):
        app.get(path, upgrade_websocket(tell))

    def step(client: Any) -> Any:
        for name in names:
            client = client[name]
        return client.ws(param=param)

    async def main() -> None:
        async with step(test_client(app)) as ws:
            assert await ws.receive() == got

    run(main)
    with sync_test_client(app, backend=backend) as client, step(client) as ws:
        assert ws.receive() == got


def test_values_that_no_route_takes() -> None:
    app = Kit().get("/rooms/:n{[0-9]+}", upgrade_websocket(lambda c: {})).get("/files/*", str)
    client: Any = test_client(app)
    for step in (client.rooms["general"], client.rooms[""], client.files["a"], client.rooms):
        with pytest.raises(RouteNotFoundError):
            step.ws()
    with pytest.raises(ParameterError):
        client.rooms["7"].ws(param={"m": 1})
    with pytest.raises(TypeError, match="param takes a mapping"):
        client.rooms["7"].ws(param=[7])


def test_waiting_for_a_message_that_does_not_come(run: Any, backend: Any) -> None:
    async def main() -> None:
        async with test_client(make_app([])).chat[":room"].ws(param={"room": "a"}) as ws:
            await ws.receive()
            with pytest.raises(TimeoutError) as raised:
                await ws.receive(timeout_s=0.01)
            assert str(raised.value) == "The app sent no message within 0.01 s"

    run(main)
    client = sync_test_client(make_app([]), backend=backend)
    with client, client.chat[":room"].ws(param={"room": "a"}) as ws:
        ws.receive()
        with pytest.raises(TimeoutError):
            ws.receive_json(timeout_s=0.01)


# --- wrong calls ---------------------------------------------------------------------------------


def test_wrong_calls(backend: Any) -> None:
    client: Any = test_client(make_app([]))
    with pytest.raises(RouteNotFoundError):
        client.nowhere.ws()
    with pytest.raises(MethodNotFoundError):
        client.posted.ws()
    with pytest.raises(ParameterError):
        client.chat[":room"].ws()
    with pytest.raises(TypeError) as raised:
        client.ws.ws(json={})
    assert str(raised.value) == (
        "client.ws.ws(): there is no keyword 'json', but param, query, headers, cookies, protocols."
    )
    with pytest.raises(TypeError) as raised:
        client.ws.ws(protocols="v1")
    assert str(raised.value) == "client.ws.ws() takes protocols as a list of str, not 'v1'"
    with pytest.raises(RuntimeError, match="The connection is not open"):
        _ = client.ws.ws().response
    sync_client: Any = sync_test_client(make_app([]), backend=backend)
    with pytest.raises(RuntimeError, match="The client is not running"):
        sync_client.ws.ws()


def test_what_is_sent(run: Any) -> None:
    async def main() -> None:
        async with test_client(make_app([])).chat[":room"].ws(param={"room": "a"}) as ws:
            with pytest.raises(TypeError) as raised:
                await ws.send(1)  # type: ignore[arg-type]
            assert str(raised.value) == "ws.send() takes str or bytes, not int"

    run(main)


@dataclass
class Place:
    x: int
    name: str | None = None


def test_a_dataclass_is_sent_back_whole(backend: Any) -> None:
    async def echo(c: Context, ws: WebSocket) -> None:
        async for message in ws:
            await ws.send(message)

    app = Kit().get("/echo", upgrade_websocket(echo))
    client = sync_test_client(app, backend=backend)
    with client, client.echo.ws() as ws:
        ws.send('{"x":1}')
        place = ws.receive_json(type=Place)
        ws.send_json(place)
        assert ws.receive() == '{"x":1,"name":null}'
