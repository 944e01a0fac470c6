# SPDX-License-Identifier: MIT
"""WebSocket connections are passed on: messages, subprotocols, close codes, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from threading import Thread
from typing import Any

import anyio
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from kit import Context, Kit, Next
from kit.proxy import proxy, reverse_proxy
from kit.testing import WebSocketRefusedError, test_client
from kit.websocket import WebSocketDisconnectedError


class Server:
    """A WebSocket server on the loopback interface, which does what the path says.

    Attributes:
        requests: The handshakes.
        closings: The codes and reasons of the connections that clients closed.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.closings: list[tuple[int, str]] = []
        self._server = serve(
            self._converse,
            "127.0.0.1",
            0,
            select_subprotocol=lambda ws, offered: max(offered, default=None),
            process_request=self._process_request,
            max_size=None,
        )
        self.port: int = self._server.socket.getsockname()[1]
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()

    def _process_request(self, ws: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        if request.path.startswith("/base/refused"):
            response = ws.respond(HTTPStatus.UNAUTHORIZED, "log in first")
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        if request.path.startswith("/base/moved"):
            response = ws.respond(HTTPStatus.FOUND, "")
            response.headers["Location"] = f"http://127.0.0.1:{self.port}/base/echo"
            return response
        if request.path.startswith("/base/unchanged"):
            return ws.respond(HTTPStatus.NOT_MODIFIED, "")
        return None

    def _converse(self, ws: ServerConnection) -> None:
        assert ws.request is not None
        path = ws.request.path.partition("?")[0]
        if path == "/base/closes":
            ws.send("last")
            ws.close(4321, "enough")
        elif path == "/base/lost":
            ws.socket.close()
        elif path == "/base/large":
            ws.send("x" * 2000)
        else:
            try:
                for message in ws:
                    ws.send(message)
            except ConnectionClosed:
                pass
        try:
            ws.recv()
        except ConnectionClosed:
            self.closings.append((ws.close_code or 0, ws.close_reason or ""))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


def app_of(server: Server, **options: Any) -> Kit:
    url = f"http://127.0.0.1:{server.port}/base"
    return Kit().all("/live/*", reverse_proxy(url, **options))


def opened(app: Kit, path: str, **options: Any) -> Any:
    return test_client(app).live["*"].ws(param={"*": path}, **options)


async def closing(server: Server) -> tuple[int, str]:
    """Waits until the server has seen the end of a connection."""
    while not server.closings:
        await anyio.sleep(0.005)
    return server.closings.pop()


def test_messages_in_both_directions(run: Any, server: Server) -> None:
    async def main() -> None:
        async with opened(app_of(server), "echo", query={"a": "1"}) as ws:
            for message in ("text", b"bytes", "", b"", "é" * 1000):
                await ws.send(message)
                assert await ws.receive() == message
            await ws.close(4000, "bye")
        assert await closing(server) == (4000, "bye")
        assert server.requests[-1].path == "/base/echo?a=1"

    run(main)


@pytest.mark.parametrize(("offered", "chosen"), [(["v1"], "v1"), (["v1", "v2"], "v2"), ([], "")])
def test_subprotocols(run: Any, server: Server, offered: list[str], chosen: str) -> None:
    async def main() -> None:
        async with opened(app_of(server), "echo", protocols=offered) as ws:
            assert ws.protocol == chosen
        assert (await closing(server))[0] in (1000, 1001)

    run(main)


def test_the_upstream_server_closes(run: Any, server: Server) -> None:
    async def main() -> None:
        async with opened(app_of(server), "closes") as ws:
            assert await ws.receive() == "last"
            with pytest.raises(WebSocketDisconnectedError) as caught:
                await ws.receive()
            assert (caught.value.code, caught.value.reason) == (4321, "enough")
        await closing(server)

    run(main)


def test_the_upstream_server_is_lost(run: Any, server: Server) -> None:
    async def main() -> None:
        async with opened(app_of(server), "lost") as ws:
            with pytest.raises(WebSocketDisconnectedError) as caught:
                await ws.receive()
            assert caught.value.code == 1014

    run(main)


def test_large_messages_of_the_client(run: Any, server: Server) -> None:
    async def main() -> None:
        app = app_of(server, max_message_size_bytes=1000)
        async with opened(app, "echo") as ws:
            await ws.send("é" * 500)
            assert await ws.receive() == "é" * 500
            await ws.send("é" * 501)
            with pytest.raises(WebSocketDisconnectedError) as caught:
                await ws.receive()
            assert caught.value.code == 1009
        assert (await closing(server))[0] == 1009

    run(main)


def test_large_messages_of_the_upstream_server(run: Any, server: Server) -> None:
    async def main() -> None:
        async with opened(app_of(server, max_message_size_bytes=1000), "large") as ws:
            with pytest.raises(WebSocketDisconnectedError) as caught:
                await ws.receive()
            assert caught.value.code == 1009
        assert (await closing(server))[0] == 1009

    run(main)


@pytest.mark.parametrize(("path", "status"), [("refused", 401), ("moved", 302), ("unchanged", 304)])
def test_refusals_are_passed_on(run: Any, server: Server, path: str, status: int) -> None:
    async def main() -> None:
        with pytest.raises(WebSocketRefusedError) as caught:
            async with opened(app_of(server), path):
                pass
        response = caught.value.response
        assert response.status == status
        if status == 401:
            assert "log in first" in await response.text()
            assert response.headers.get("www-authenticate") == "Bearer"
        elif status == 302:
            assert response.headers.get("location") == "/live/echo"

    run(main)


def test_a_server_that_cannot_be_reached(run: Any, unused_port: int) -> None:
    async def main() -> None:
        app = Kit().get("*", lambda c: proxy(c, f"http://127.0.0.1:{unused_port}/"))
        with pytest.raises(WebSocketRefusedError) as caught:
            async with test_client(app)["*"].ws(param={"*": "x"}):
                pass
        assert caught.value.response.status == 502

    run(main)


def test_middleware_may_refuse_after_the_upstream_server_has_accepted(
    run: Any, server: Server
) -> None:
    async def refuse(c: Context, next: Next) -> None:
        await next()
        c.res = c.text("no", 403)

    async def main() -> None:
        app = Kit().use("*", refuse)
        app.all("/live/*", reverse_proxy(f"http://127.0.0.1:{server.port}/base"))
        with pytest.raises(WebSocketRefusedError) as caught:
            async with opened(app, "echo"):
                pass
        assert caught.value.response.status == 403
        assert (await closing(server))[0] == 1001

    run(main)


@pytest.mark.parametrize("preserves", [False, True])
def test_fields_of_the_handshake(run: Any, server: Server, preserves: bool) -> None:
    async def main() -> None:
        headers = {
            "cookie": "a=1",
            "origin": "http://public.example",
            "x-forwarded-for": "203.0.113.1",
            "sec-websocket-extensions": "permessage-deflate",
            "host": "public.example:81",
        }
        app = app_of(server, preserve_host=preserves, headers={"x-key": "k"})
        async with opened(app, "echo", headers=headers):
            pass
        await closing(server)
        seen = server.requests[-1].headers
        assert seen["cookie"] == "a=1"
        assert seen["origin"] == "http://public.example"
        assert seen["x-key"] == "k"
        assert "sec-websocket-extensions" not in seen
        assert "x-forwarded-for" not in seen
        assert seen.get_all("via") == ["1.1 kit"]
        expected = "public.example:81" if preserves else f"127.0.0.1:{server.port}"
        assert seen.get_all("host") == [expected]

    run(main)


@pytest.mark.parametrize("host", ["a:99999", "[1::::]", "[1.2.3.4]", "a@b", "a/b", ""])
def test_hosts_that_no_url_can_have(run: Any, server: Server, host: str) -> None:
    async def main() -> None:
        with pytest.raises(WebSocketRefusedError) as caught:
            async with opened(app_of(server, preserve_host=True), "echo", headers={"host": host}):
                pass
        assert caught.value.response.status == 400

    run(main)


def test_mounted(run: Any, server: Server) -> None:
    async def main() -> None:
        app = Kit().mount("/live", reverse_proxy(f"http://127.0.0.1:{server.port}/base"))
        async with opened(app, "echo") as ws:
            await ws.send("hi")
            assert await ws.receive() == "hi"
        await closing(server)

    run(main)
