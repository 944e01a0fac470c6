# SPDX-License-Identifier: MIT
"""kit-proxy over real servers, with a real upstream server behind it."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import SERVERS
from serving import ServedApp
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

pytestmark = [pytest.mark.slow, pytest.mark.once]

PATIENCE_S = 20.0
MIB = 1024 * 1024
UPLOAD_BYTES = 50 * MIB
# What buffers of sockets, of the servers and of the allocator take; far less than a body.
MOST_GROWTH_BYTES = 20 * MIB
HOP_BY_HOP = {
    *("connection", "keep-alive", "proxy-authorization", "te", "trailer", "upgrade", "x-named"),
    *("expect", "x-forwarded-user"),
}


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp("upstream") / "log"
    options = ("--log-level=warning", "--ws=websockets-sansio")
    with ServedApp("uvicorn", "proxy_app:upstream", log, *options) as running:
        yield running


@pytest.fixture(scope="module", params=SERVERS)
def served(
    request: pytest.FixtureRequest, upstream: ServedApp, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp(request.param) / "log"
    environment = {"UPSTREAM": str(upstream.port)}
    # uvicorn would take the address from X-Forwarded-For, as every proxy here is on this machine.
    options = ("--no-proxy-headers",) if request.param.startswith("uvicorn") else ()
    with ServedApp(
        request.param, "proxy_app:app", log, *options, environment=environment
    ) as running:
        yield running


@pytest.fixture
def client(served: ServedApp) -> Iterator[httpx.Client]:
    url = f"http://127.0.0.1:{served.port}"
    with httpx.Client(base_url=url, timeout=PATIENCE_S, trust_env=False) as client:
        yield client


def state(upstream: ServedApp) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"http://127.0.0.1:{upstream.port}/state").json()
    return found


def until(condition: Callable[[], bool], what: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.02)


def peak_bytes(served: ServedApp) -> int:
    """The largest resident memory so far, of all processes."""
    found = [Path(f"/proc/{pid}/status").read_text() for pid in served.pids()]
    return sum(1024 * int(re.findall(r"VmHWM:\s+(\d+)", text)[0]) for text in found)


def count(upstream: ServedApp, name: str) -> int:
    return int(state(upstream)["counts"].get(name, 0))


def test_requests_and_responses(client: httpx.Client) -> None:
    for status in (200, 201, 204, 302, 304, 404, 418, 503):
        response = client.get(f"/api/status/{status}")
        assert response.status_code == status
        assert response.headers["etag"] == '"a"'
        assert response.headers["location"] == "/api/elsewhere"
        assert response.headers.get_list("set-cookie") == ["a=1", "b=2"]
        assert response.content == (b"" if status in (204, 304) else b"content")
        assert len(response.headers.get_list("date")) <= 1
        assert response.headers.get_list("via") == ["1.1 kit"]
    assert client.get("/here").text == "the proxy itself"


def test_head(client: httpx.Client) -> None:
    response = client.head("/api/bytes/131072")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-length"] == "131072"


def test_encoded_bodies_stay_encoded(client: httpx.Client) -> None:
    with client.stream("GET", "/api/encoded") as response:
        assert response.headers["content-encoding"] == "br"
        assert b"".join(response.iter_raw()) == b"not really brotli"


def test_fields(served: ServedApp) -> None:
    head = [
        *("DELETE /api/fields/a%2Fb//c?x=%20 HTTP/1.1", "Host: public.example", "Cookie: a=1"),
        *("Connection: close, X-Named", "X-Named: 1", "Keep-Alive: 5", "TE: trailers"),
        *("Proxy-Authorization: Basic x", "X-Forwarded-For: 203.0.113.1", "Trailer: x-sum"),
        *("X-Forwarded-User: admin", "Accept-Encoding: br", "X-Other: 1", "", ""),
    ]
    with served.connect(PATIENCE_S) as connection:
        connection.sendall("\r\n".join(head).encode())
        raw = b""
        while part := connection.recv(65536):
            raw += part
    seen = json.loads(re.findall(rb"\{.*\}", raw)[0])
    fields = dict(seen["lines"])
    assert seen["method"] == "DELETE"
    assert len(seen["lines"]) == len(fields)
    assert not fields.keys() & HOP_BY_HOP
    assert fields["cookie"] == "a=1"
    assert fields["accept-encoding"] == "br"
    assert fields["x-other"] == "1"
    assert fields["x-forwarded-for"] == "127.0.0.1"
    assert fields["x-forwarded-host"] == "public.example"
    assert fields["x-forwarded-prefix"] == "/api"
    assert fields["forwarded"] == "for=127.0.0.1;host=public.example;proto=http"
    assert fields["via"] == "1.1 kit"
    assert fields["host"] != "public.example"
    assert not {"transfer-encoding", "content-length", "user-agent"} & fields.keys()
    # granian tells its RSGI apps a decoded path.
    expected = "/base/fields/a/b//c" if served.server == "granian-rsgi" else "/base/fields/a%2Fb//c"
    assert seen["path"] == expected


@pytest.mark.parametrize("has_length", [True, False])
def test_uploads_take_constant_memory(
    served: ServedApp, client: httpx.Client, has_length: bool
) -> None:
    chunk = bytes(range(256)) * 1024
    rounds = UPLOAD_BYTES // len(chunk)
    assert client.post("/api/count", content=chunk).json()["size"] == len(chunk)
    before = peak_bytes(served)

    def body() -> Iterator[bytes]:
        for _ in range(rounds):
            yield chunk

    headers = {"content-length": str(UPLOAD_BYTES)} if has_length else {}
    found = client.post("/api/count", content=body(), headers=headers).json()
    assert found == {
        "size": UPLOAD_BYTES,
        "sha256": sha256(chunk * rounds).hexdigest(),
        "length": str(UPLOAD_BYTES) if has_length else None,
    }
    assert peak_bytes(served) - before < MOST_GROWTH_BYTES


def test_downloads_take_constant_memory(served: ServedApp, client: httpx.Client) -> None:
    assert len(client.get("/api/bytes/65536").content) == 65536
    before = peak_bytes(served)
    with client.stream("GET", f"/api/bytes/{UPLOAD_BYTES}") as response:
        assert response.headers["content-length"] == str(UPLOAD_BYTES)
        parts = response.iter_raw()
        size = len(next(parts))
        time.sleep(0.5)  # what is not read here must not be kept there
        size += sum(map(len, parts))
    assert size == UPLOAD_BYTES
    if served.server != "granian-rsgi":  # it takes what an app sends without waiting for the client
        assert peak_bytes(served) - before < MOST_GROWTH_BYTES


def test_events_arrive_and_end_with_the_client(upstream: ServedApp, client: httpx.Client) -> None:
    with client.stream("GET", "/api/events") as response:
        assert response.headers["content-type"] == "text/event-stream"
        parts = response.iter_raw()
        assert b"data: tick\n\n" in next(parts)
        next(parts)
        assert count(upstream, "events") == 1
    until(lambda: count(upstream, "events") == 0, lambda: state(upstream))


def test_a_client_that_leaves_while_it_waits(served: ServedApp, upstream: ServedApp) -> None:
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(b"GET /api/never HTTP/1.1\r\nHost: a\r\n\r\n")
        until(lambda: count(upstream, "waiting") == 1, lambda: state(upstream))
    until(lambda: count(upstream, "waiting") == 0, lambda: state(upstream))


def test_a_client_that_leaves_during_its_upload(served: ServedApp, upstream: ServedApp) -> None:
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(
            b"POST /api/slow-count HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n"
            + b"x" * 1_000_000
        )
        until(lambda: count(upstream, "uploads") == 1, lambda: state(upstream))
    until(lambda: count(upstream, "uploads") == 0, lambda: state(upstream))


def test_a_response_that_breaks_off(served: ServedApp, client: httpx.Client) -> None:
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        client.get("/api/broken")
    assert client.get("/here").status_code == 200


def test_failures(client: httpx.Client) -> None:
    assert client.get("/nobody/x").status_code == 502
    assert client.get("/quick/never").status_code == 504


def test_connections_are_kept(served: ServedApp, upstream: ServedApp, client: httpx.Client) -> None:
    def established() -> set[str]:
        """The ends of the connections to the upstream server."""
        lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
        rows = [line.split() for line in lines]
        return {
            row[1] for row in rows if row[2].endswith(f":{upstream.port:04X}") and row[3] == "01"
        }

    client.get("/api/status/200")
    before = established()
    for _ in range(20):
        client.get("/api/status/200")
    assert established() & before


def test_websockets(served: ServedApp, upstream: ServedApp) -> None:
    async def main() -> None:
        url = f"ws://127.0.0.1:{served.port}/api"
        offered: Any = None if served.server == "granian-rsgi" else ["v1"]  # it can't choose one
        async with connect(f"{url}/echo", subprotocols=offered) as ws:
            assert ws.subprotocol == (offered and "v1")
            for message in ("text", b"bytes", "é" * 100_000):
                await ws.send(message)
                assert await ws.recv() == message
            await ws.close(4000)
        async with connect(f"{url}/closes") as ws:
            assert await ws.recv() == b"last"
            with pytest.raises(ConnectionClosed):
                await ws.recv()
            if served.server != "granian-rsgi":  # it can't send a code
                assert (ws.close_code, ws.close_reason) == (4321, "enough")
        with pytest.raises(InvalidStatus) as caught:
            async with connect(f"{url}/refuses"):
                pass
        assert caught.value.response.status_code in (401, 403)

    if served.server == "hypercorn-trio":
        pytest.skip("the worker ends if it answers a close frame while the app sends")
    earlier = len(state(upstream)["ends"])
    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))
    until(lambda: len(state(upstream)["ends"]) > earlier, lambda: state(upstream))
    # hypercorn tells 1006, whatever the code was; granian's RSGI tells none.
    others = {"hypercorn": 1001, "granian-rsgi": 1000}
    assert state(upstream)["ends"][-1] == others.get(served.server, 4000)


def test_a_websocket_client_that_is_lost(served: ServedApp, upstream: ServedApp) -> None:
    earlier = len(state(upstream)["ends"])
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(
            b"GET /api/echo HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert b" 101 " in connection.recv(65536)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    until(lambda: len(state(upstream)["ends"]) > earlier, lambda: state(upstream))
