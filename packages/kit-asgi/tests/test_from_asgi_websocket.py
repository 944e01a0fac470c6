# SPDX-License-Identifier: MIT
"""`from_asgi`: the WebSocket connections of a mounted application, and Kit within Starlette."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, WebSocketRoute
from starlette.websockets import WebSocket as StarletteWebSocket

from kit import Context, Kit, Next
from kit.asgi import from_asgi, from_wsgi
from kit.testing import WebSocketRefusedError, test_client
from kit.websocket import WebSocket, WebSocketDisconnectedError, upgrade_websocket


def mounted(app: Any) -> Kit:
    return Kit().mount("/m", from_asgi(app))


def opened(app: Kit, path: str = "x", **options: Any) -> Any:
    return test_client(app).m["*"].ws(param={"*": path}, **options)


async def accepting(scope: Any, receive: Any, send: Any) -> None:
    """Accepts, and tells its scope."""
    assert await receive() == {"type": "websocket.connect"}
    headers = [(b"x-inner", b"1"), (b"set-cookie", b"a=1")]
    await send({"type": "websocket.accept", "subprotocol": "v1", "headers": headers})
    told = {key: scope[key] for key in ("type", "path", "root_path", "scheme", "subprotocols")}
    assert "method" not in scope
    assert "kit.websocket" not in scope
    assert "websocket.http.response" in scope["extensions"]
    await send({"type": "websocket.send", "text": repr(told)})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "bytes": message["text"].encode()})
    assert message["code"] == 4000


def test_scope_and_messages(run: Any) -> None:
    async def main() -> None:
        async with opened(mounted(accepting), "a/b", protocols=["v1"]) as ws:
            assert ws.protocol == "v1"
            assert await ws.receive() == repr(
                {
                    "type": "websocket",
                    "path": "/m/a/b",
                    "root_path": "/m",
                    "scheme": "ws",
                    "subprotocols": ["v1"],
                }
            )
            await ws.send("hi")
            assert await ws.receive() == b"hi"
            await ws.close(4000)

    run(main)


def test_middleware_around(run: Any) -> None:
    app = Kit()

    @app.use
    async def around(c: Context, next: Next) -> Any:
        if c.req.query("early"):
            return c.text("early", 401)
        await next()
        c.header("x-outer", "2")
        if c.req.query("late"):
            c.res = c.text("late", 418)
        return None

    told: list[Any] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept", "headers": [(b"x-inner", b"1")]})
        told.append((await receive())["type"])
        with pytest.raises(OSError, match="refused"):
            await send({"type": "websocket.send", "text": "to nobody"})

    app.mount("/m", from_asgi(inner))

    async def main() -> None:
        client = test_client(app).m["*"]
        for query, status in (({"early": 1}, 401), ({"late": 1}, 418)):
            with pytest.raises(WebSocketRefusedError) as raised:
                async with client.ws(param={"*": ""}, query=query):
                    pass
            assert raised.value.status == status
        with anyio.move_on_after(5):
            while not told:
                await anyio.sleep(0)

    run(main)
    assert told == ["websocket.disconnect"]


def test_headers_of_the_acceptance(run: Any) -> None:
    async def main() -> None:
        async with opened(mounted(accepting)) as ws:
            assert ws.response.headers.get("x-inner") == "1"
            assert ws.response.headers.get_set_cookie() == ["a=1"]
            await ws.close(4000)

    run(main)


def test_headers_of_the_acceptance_that_are_the_servers(run: Any) -> None:
    headers = [(b"Sec-WebSocket-Accept", b"x"), (b"Connection", b"close"), (b"X-A", b"1")]
    app = mounted(sending({"type": "websocket.accept", "headers": headers}))
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "websocket",
        "path": "/m/x",
        "query_string": b"",
        "headers": [(b"host", b"a")],
        "subprotocols": [],
    }
    run(app, scope, receive, send)
    assert sent == [
        {"type": "websocket.accept", "subprotocol": None, "headers": [(b"x-a", b"1")]},
        {"type": "websocket.close", "code": 1000},
    ]


def test_application_that_closes_without_a_code(run: Any) -> None:
    async def main() -> None:
        app = sending({"type": "websocket.accept"}, {"type": "websocket.close"})
        async with opened(mounted(app)) as ws:
            with pytest.raises(WebSocketDisconnectedError):
                await ws.receive()
            assert ws.close_code == 1000

    run(main)


async def refused(app: Any) -> tuple[int, bytes]:
    with pytest.raises(WebSocketRefusedError) as raised:
        async with opened(mounted(app)):
            pass
    return raised.value.status, raised.value.body


def sending(*messages: dict[str, Any]) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            raise RuntimeError("no lifespan")
        for message in messages:
            await send(message)

    return app


START = {"type": "websocket.http.response.start", "status": 402, "headers": [(b"x-a", b"1")]}


def body(data: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "websocket.http.response.body", "body": data, "more_body": more}


def test_refusals(run: Any) -> None:
    assert run(refused, sending({"type": "websocket.close"})) == (403, b"")
    assert run(refused, sending(START, body(b"pay"))) == (402, b"pay")
    assert run(refused, sending(START, body(b"p", more=True), body(b"ay"))) == (402, b"pay")


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ((), "ended without answering the handshake"),
        (({"type": "websocket.send", "text": "x"},), "sent 'websocket.send' instead of a"),
        ((body(b"x"),), "sent 'websocket.http.response.body' instead of a response to the"),
        (
            ({**START, "status": "402"}, body(b"")),
            "sent an invalid websocket.http.response.start: Invalid response status '402': "
            "expected an int from 200 to 599",
        ),
        (
            ({"type": "websocket.accept", "headers": [(b"x-a", b"1\r\nset-cookie: a=1")]},),
            "sent an invalid websocket.accept: Invalid value '1\\r\\nset-cookie: a=1' of header",
        ),
        (({"type": "websocket.accept", "headers": [("x-a", "1")]},), "sent an invalid websocket.a"),
        ((START, body(b"x" * (1024 * 1024 + 1))), "denied a handshake with more than 1048576"),
    ],
)
def test_wrong_answers(
    run: Any, caplog: pytest.LogCaptureFixture, messages: Any, problem: str
) -> None:
    assert run(refused, sending(*messages)) == (500, b"Internal Server Error")
    [record] = caplog.records
    assert record.exc_info is not None
    assert problem in str(record.exc_info[1])


def test_application_that_raises_before_its_answer(run: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError("a fault")

    async def main() -> int:
        kit_app = mounted(app)
        kit_app.on_error(lambda error, c: c.text(str(error), 409))
        with pytest.raises(WebSocketRefusedError) as raised:
            async with opened(kit_app):
                pass
        assert raised.value.body == b"a fault"
        return raised.value.status

    assert run(main) == 409


def test_application_that_raises_later(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        raise ValueError("a fault")

    async def main() -> Any:
        async with opened(mounted(app)) as ws:
            with pytest.raises(WebSocketDisconnectedError):
                await ws.receive()
            return ws.close_code

    assert run(main) == 1011
    assert "during its WebSocket connection at /m/x" in caplog.records[0].getMessage()


def test_application_that_returns_or_closes(run: Any) -> None:
    accept = {"type": "websocket.accept"}

    async def main(*messages: Any) -> Any:
        async with opened(mounted(sending(accept, *messages))) as ws:
            assert [each async for each in ws] == []
            return ws.close_code, ws.close_reason

    assert run(main) == (1000, "")
    assert run(main, {"type": "websocket.close", "code": 4001, "reason": "x"}) == (4001, "x")


async def served_to_a_client_that_left(app: Any) -> list[str]:
    """Runs an application for a client that is gone once accepted; returns what was sent to it."""
    sent: list[str] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message["type"])
        if message["type"] != "websocket.accept":
            raise ConnectionResetError("gone")

    scope = {"type": "websocket", "path": "/m/x", "headers": []}
    await mounted(app)(scope, receive, send)
    return sent


async def sends_on(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while True:
        await send({"type": "websocket.send", "text": "x"})


async def sends_in_tasks(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(send, {"type": "websocket.send", "text": "x"})


async def names_the_error(scope: Any, receive: Any, send: Any) -> None:
    try:
        await sends_on(scope, receive, send)
    except OSError as error:
        raise LookupError("the client is gone") from error


async def catches_the_error(scope: Any, receive: Any, send: Any) -> None:
    with pytest.raises(OSError, match="gone"):
        await sends_on(scope, receive, send)


@pytest.mark.parametrize("app", [sends_on, sends_in_tasks, names_the_error, catches_the_error])
def test_client_that_leaves_while_the_application_sends(
    run: Any, caplog: pytest.LogCaptureFixture, app: Any
) -> None:
    sent = run(served_to_a_client_that_left, app)
    assert "websocket.close" not in sent
    assert not caplog.records


def test_client_that_left_before_the_application_returns(
    run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    sent = run(served_to_a_client_that_left, sending({"type": "websocket.accept"}))
    assert sent == ["websocket.accept", "websocket.close"]
    assert not caplog.records


def test_application_that_fails_after_the_client_left(
    run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await catches_the_error(scope, receive, send)
        raise FileNotFoundError("a fault")

    assert run(served_to_a_client_that_left, app)[-1] == "websocket.send"
    assert "during its WebSocket connection at /m/x" in caplog.records[0].getMessage()


def test_cancelled_with_the_app_around(run: Any) -> None:
    trace: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        trace.append("accepted")
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("cancelled")

    async def main() -> None:
        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None: ...

        scope = {"type": "websocket", "path": "/m/x", "headers": []}
        async with anyio.create_task_group() as group:
            group.start_soon(mounted(app), scope, receive, send)
            while not trace:
                await anyio.sleep(0)
            group.cancel_scope.cancel()

    run(main)
    assert trace == ["accepted", "cancelled"]


def test_wsgi_answers_a_handshake_as_a_get(run: Any, backend: str) -> None:
    if backend == "trio":
        pytest.skip("from_wsgi needs asyncio")

    def wsgi(environ: Any, start_response: Any) -> list[bytes]:
        start_response("404 Not Found", [])
        return [environ["REQUEST_METHOD"].encode()]

    async def main() -> tuple[int, bytes]:
        with pytest.raises(WebSocketRefusedError) as raised:
            async with opened(Kit().mount("/m", from_wsgi(wsgi))):
                pass
        return raised.value.status, raised.value.body

    assert run(main) == (404, b"GET")


async def chat(ws: StarletteWebSocket) -> None:
    if "deny" in ws.query_params:
        await ws.send_denial_response(PlainTextResponse("no", status_code=401))
        return
    await ws.accept()
    await ws.send_text(f"{ws.path_params['room']} {ws.url.path}")
    async for text in ws.iter_text():
        await ws.send_text(text)


def test_starlette_within_kit(run: Any) -> None:
    app = mounted(Starlette(routes=[WebSocketRoute("/chat/{room}", chat)]))

    async def main() -> None:
        async with opened(app, "chat/den") as ws:
            assert await ws.receive() == "den /m/chat/den"
            await ws.send("hi")
            assert await ws.receive() == "hi"
        with pytest.raises(WebSocketRefusedError) as raised:
            async with opened(app, "chat/den", query={"deny": 1}):
                pass
        assert (raised.value.status, raised.value.body) == (401, b"no")

    run(main)


def test_kit_within_starlette_and_within_kit(run: Any) -> None:
    inner = Kit()

    @inner.get("/chat/:room")
    @upgrade_websocket
    async def chat(c: Context, ws: WebSocket) -> None:
        await ws.send(f"{c.req.param('room')} {ws.url}")
        async for message in ws:
            await ws.send(message)

    app = mounted(Starlette(routes=[Mount("/sub", inner), Mount("/deep", mounted(inner))]))

    async def main() -> None:
        for path in ("sub/chat/den", "deep/m/chat/den"):
            async with opened(app, path) as ws:
                assert await ws.receive() == f"den ws://localhost/m/{path}"
                await ws.send("hi")
                assert await ws.receive() == "hi"

    run(main)
