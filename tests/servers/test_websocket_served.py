# SPDX-License-Identifier: MIT
"""WebSockets over real servers: one table of behaviours, which each server has to show.

What a server can't do is an entry of `CANNOT`, which fails once the server can.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import ServedApp
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

pytestmark = [pytest.mark.slow, pytest.mark.once]

MIB = 1024 * 1024
PATIENCE_S = 10.0
# For what a server can't do, by `CANNOT`: where it can, it takes no tenth of a second.
SHORT_PATIENCE_S = 2.0
# Options of the client: nothing that it does by itself disturbs the tests.
QUIET = {"ping_interval": None, "open_timeout": PATIENCE_S, "close_timeout": PATIENCE_S}

SERVERS = {
    "uvicorn-websockets": ("uvicorn", "--ws=websockets-sansio"),
    "uvicorn-wsproto": ("uvicorn", "--ws=wsproto"),
    "granian": ("granian",),
    "granian-rsgi": ("granian-rsgi",),
    "hypercorn": ("hypercorn",),
    # Not on trio: hypercorn answers a close frame while the app sends. There only one task may send
    # at a time, and the worker ends with a BusyResourceError.
}

# What a server can't do, and why.
_NO_HEADERS = "granian sends no headers with the acceptance"
_NO_REASON = "granian doesn't tell the reason of a close frame"
_NO_CODE = "hypercorn tells 1006, whatever code the client closed with"
_RSGI_HAS_NO = {
    "headers of the acceptance": """
        headers_before_and_after_next cookies_of_the_acceptance headers_of_a_mounted_application""",
    "headers and body of a refusal": """
        middleware_answers_401 middleware_redirects middleware_raises_403 middleware_fails
        not_found on_error_of_a_sub_app mounted_application_denies""",
    "escapes in the path": "encoded_path",
    "subprotocol": "protocol_by_preference_of_the_server only_protocol_in_common",
    "code of a close frame": """
        close_event client_closes_with_1000 client_closes_with_4000 client_closes_with_1001
        client_closes_with_4999 handler_closes handler_returns handler_raises
        handler_raises_an_answer handler_closes_with_a_code_that_may_not_be_sent
        another_task_closes malformed_json json_of_another_type message_beyond_the_limit
        message_beyond_the_limit_of_the_server""",
}
CANNOT = {
    ("granian", "headers_before_and_after_next"): _NO_HEADERS,
    ("granian", "cookies_of_the_acceptance"): _NO_HEADERS,
    ("granian", "headers_of_a_mounted_application"): _NO_HEADERS,
    ("granian", "close_event"): _NO_REASON,
    ("granian", "client_closes_with_1001"): _NO_REASON,
    ("granian", "client_closes_with_4999"): _NO_REASON,
    ("granian", "message_beyond_the_limit_of_the_server"): "granian closes without a code",
    **{
        ("hypercorn", name): _NO_CODE
        for name in (
            "client_closes_with_1000",
            "client_closes_with_1001",
            "client_closes_with_4000",
            "client_closes_with_4999",
            "client_closes_without_a_code",
            "close_event",
        )
    },
    ("hypercorn", "message_beyond_the_limit_of_the_server"): (
        "hypercorn sends a close frame, but then waits without reading on"
    ),
    **{
        ("granian-rsgi", name): reason
        for reason, names in _RSGI_HAS_NO.items()
        for name in names.split()
    },
}
# What a server can at times.
CAN_AT_TIMES = {("hypercorn", "message_beyond_the_limit_of_the_server")}


class Server:
    """A server that runs, and what its app tells within some seconds."""

    def __init__(self, served: ServedApp, patience_s: float = PATIENCE_S) -> None:
        self.served = served
        self.patience_s = patience_s
        self.http = f"http://127.0.0.1:{served.port}"
        self.ws = f"ws://127.0.0.1:{served.port}"

    @asynccontextmanager
    async def open(self, path: str, **options: Any) -> AsyncIterator[ClientConnection]:
        """Opens a connection."""
        given = {"max_size": None, "compression": None, **QUIET, **options}
        async with connect(self.ws + path, **given) as ws:
            yield ws

    async def refused(self, path: str, **options: Any) -> Any:
        """Opens a connection that must be refused, and returns the response."""
        with pytest.raises(InvalidStatus) as raised:
            async with self.open(path, **options):
                pass
        return raised.value.response

    async def state(self) -> dict[str, Any]:
        """What the app has seen so far."""
        async with httpx.AsyncClient(verify=False) as client:
            answer = await client.get(f"{self.http}/state")
        found: dict[str, Any] = answer.json()
        return found

    async def end(self, *begin: str) -> str:
        """Waits until a handler has noted its end, which begins with one of some texts."""
        until = time.monotonic() + self.patience_s
        while time.monotonic() < until:
            ends = (await self.state())["ends"]
            for each in ends:
                if each.startswith(begin):
                    return str(each)
            await asyncio.sleep(0.05)
        raise AssertionError(f"no end {begin}: {(await self.state())['ends']}")

    def raw(self, path: str, *headers: str) -> socket.socket:
        """Opens a connection by hand, and returns its socket after the handshake."""
        connection = self.served.connect(PATIENCE_S)
        lines = [
            f"GET {path} HTTP/1.1",
            "Host: 127.0.0.1",
            "Upgrade: WebSocket",
            "Connection: keep-alive, Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            *headers,
        ]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(1)
        assert answer.startswith(b"HTTP/1.1 101"), answer
        return connection


Behaviour = Callable[[Server], Awaitable[None]]
BEHAVIOURS: dict[str, Behaviour] = {}


def behaviour(function: Behaviour) -> Behaviour:
    BEHAVIOURS[function.__name__] = function
    return function


def frame(opcode: int, payload: bytes, *, final: bool = True) -> bytes:
    """A frame of a client, masked by zeros (RFC 6455, section 5.2)."""
    size = len(payload)
    head = bytes([opcode | (0x80 if final else 0)])
    if size < 126:
        head += bytes([size | 0x80])
    elif size < 1 << 16:
        head += bytes([126 | 0x80]) + struct.pack(">H", size)
    else:
        head += bytes([127 | 0x80]) + struct.pack(">Q", size)
    return head + b"\0\0\0\0" + payload


# --- the handshake -----------------------------------------------------------------------------


@behaviour
async def runs_through_middleware(server: Server) -> None:
    headers = {"cookie": "from=me"}
    async with server.open("/with/echo/den?name=Bob", additional_headers=headers) as ws:
        await ws.send("hi")
        assert await ws.recv() == "ann den Bob me 'hi'"


@behaviour
async def headers_before_and_after_next(server: Server) -> None:
    async with server.open("/with/echo/den") as ws:
        assert ws.response is not None
        assert ws.response.headers["x-before"] == "1"
        assert ws.response.headers["x-after"] == "2"


@behaviour
async def cookies_of_the_acceptance(server: Server) -> None:
    async with server.open("/with/echo/den") as ws:
        assert ws.response is not None
        cookies = ws.response.headers.get_all("set-cookie")
    assert cookies == ["session=abc; Path=/; HttpOnly", "last=xyz; Path=/"]


@behaviour
async def background_after_the_end(server: Server) -> None:
    async with server.open("/with/echo/later") as ws:
        await ws.close(4321)
    assert await server.end("background after room later")


@behaviour
async def middleware_answers_401(server: Server) -> None:
    response = await server.refused("/with/echo/x", additional_headers={"authorization": "refuse"})
    assert response.status_code == 401
    assert json.loads(response.body) == {"error": "unauthorized"}
    assert response.headers["www-authenticate"] == "Bearer"


@behaviour
async def middleware_redirects(server: Server) -> None:
    connection = server.served.connect(PATIENCE_S)
    with connection:
        connection.sendall(
            b"GET /with/echo/x HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: redirect\r\n\r\n"
        )
        answer = await asyncio.to_thread(connection.recv, 4096)
    assert answer.split(b"\r\n", 1)[0].startswith(b"HTTP/1.1 302")
    assert b"location: /elsewhere" in answer.lower()


@behaviour
async def middleware_raises_403(server: Server) -> None:
    response = await server.refused("/with/echo/x", additional_headers={"authorization": "raise"})
    assert (response.status_code, response.body) == (403, b"forbidden here")
    assert response.headers["x-why"] == "because"


@behaviour
async def middleware_fails(server: Server) -> None:
    response = await server.refused("/with/echo/x", additional_headers={"authorization": "fail"})
    assert (response.status_code, response.body) == (500, b"Internal Server Error")


@behaviour
async def any_refusal_is_no_acceptance(server: Server) -> None:
    for path in ("/nowhere", "/only", "/posted"):
        response = await server.refused(path)
        assert response.status_code in (200, 403, 404)


@behaviour
async def not_found(server: Server) -> None:
    response = await server.refused("/nowhere")
    assert (response.status_code, response.body) == (404, b"404 Not Found")


@behaviour
async def on_error_of_a_sub_app(server: Server) -> None:
    response = await server.refused("/books/refuse", origin="https://example.com")
    assert response.status_code == 409
    assert response.body == b"books: 403 Pages of this origin may not connect"


@behaviour
async def route_of_a_sub_app(server: Server) -> None:
    async with server.open("/books/ws") as ws:
        assert await ws.recv() == "books"


@behaviour
async def plain_get_is_426(server: Server) -> None:
    async with httpx.AsyncClient(verify=False) as client:
        response = await client.get(f"{server.http}/echo")
        assert response.status_code == 426
        assert response.headers["upgrade"] == "websocket"
        assert (await client.get(f"{server.http}/only")).text == "a page"


@behaviour
async def upgrade_in_any_letter_case(server: Server) -> None:
    with server.raw("/echo") as connection:
        connection.sendall(frame(1, b"hi"))
        assert await asyncio.to_thread(connection.recv, 100) == b"\x81\x02hi"


@behaviour
async def encoded_path(server: Server) -> None:
    async with server.open("/typed/a%2Fb%20%C3%A9") as ws:
        assert json.loads(await ws.recv()) == {"id": "a/b é"}


@behaviour
async def url_of_the_handshake(server: Server) -> None:
    async with server.open("/own?a=1") as ws:
        assert await ws.recv() == f"{server.ws}/own?a=1"


# --- Origin and subprotocols -------------------------------------------------------------------


@behaviour
async def origin_of_the_app(server: Server) -> None:
    async with server.open("/own", origin=server.http) as ws:
        assert await ws.recv()


@behaviour
async def other_origin(server: Server) -> None:
    response = await server.refused("/own", origin="https://evil.example")
    assert response.status_code == 403


@behaviour
async def null_origin(server: Server) -> None:
    response = await server.refused("/own", origin="null")
    assert response.status_code == 403


@behaviour
async def no_origin(server: Server) -> None:
    async with server.open("/listed") as ws:
        assert await ws.recv() == "in"


@behaviour
async def listed_origin(server: Server) -> None:
    async with server.open("/listed", origin="https://example.com") as ws:
        assert await ws.recv() == "in"
    response = await server.refused("/listed", origin=server.http)
    assert response.status_code == 403


@behaviour
async def any_origin(server: Server) -> None:
    async with server.open("/echo", origin="https://evil.example") as ws:
        await ws.send("in")
        assert await ws.recv() == "in"


@behaviour
async def protocol_by_preference_of_the_server(server: Server) -> None:
    async with server.open("/protocols", subprotocols=["v1.chat", "v2.chat"]) as ws:
        assert (ws.subprotocol, await ws.recv()) == ("v2.chat", "v2.chat")


@behaviour
async def only_protocol_in_common(server: Server) -> None:
    async with server.open("/protocols", subprotocols=["v3.chat", "v1.chat"]) as ws:
        assert (ws.subprotocol, await ws.recv()) == ("v1.chat", "v1.chat")


@behaviour
async def no_protocol_offered(server: Server) -> None:
    async with server.open("/protocols") as ws:
        assert (ws.subprotocol, await ws.recv()) == (None, "")


@behaviour
async def no_protocol_in_common(server: Server) -> None:
    response = await server.refused("/protocols", subprotocols=["v0.chat"])
    assert response.status_code in (400, 403)


@behaviour
async def no_protocol_chosen(server: Server) -> None:
    async with server.open("/echo", subprotocols=["v1.chat"]) as ws:
        assert ws.subprotocol is None


# --- messages ----------------------------------------------------------------------------------


def echoes(message: str | bytes) -> Behaviour:
    async def echoes_it(server: Server) -> None:
        async with server.open("/echo") as ws:
            await ws.send(message)
            assert await ws.recv() == message

    return echoes_it


for _name, _size in (("0", 0), ("1", 1), ("125", 125), ("126", 126), ("65536", 65536)):
    BEHAVIOURS[f"text_of_{_name}_bytes"] = echoes("x" * _size)
    BEHAVIOURS[f"binary_of_{_name}_bytes"] = echoes(b"\xff" * _size)
BEHAVIOURS["text_of_all_planes"] = echoes("aé€\U0001f600\0\uffff")
BEHAVIOURS["text_of_1_mib"] = echoes("é" * (MIB // 2))
BEHAVIOURS["binary_of_16_mib"] = echoes(bytes(range(256)) * (16 * MIB // 256))
BEHAVIOURS["text_of_16_mib"] = echoes("x" * 16 * MIB)


@behaviour
async def many_messages_in_order(server: Server) -> None:
    async with server.open("/echo") as ws:
        for number in range(500):
            await ws.send(str(number))
        assert [await ws.recv() for _ in range(500)] == [str(n) for n in range(500)]


@behaviour
async def fragments(server: Server) -> None:
    async with server.open("/echo") as ws:
        await ws.send(["one ", "two ", "three"])
        assert await ws.recv() == "one two three"
        await ws.send([b"a"] * 1000)
        assert await ws.recv() == b"a" * 1000


@behaviour
async def fragments_within_a_character(server: Server) -> None:
    with server.raw("/echo") as connection:
        text = "é€".encode()
        connection.sendall(frame(1, text[:1], final=False))
        connection.sendall(frame(9, b"ping between"))
        connection.sendall(frame(0, text[1:3], final=False) + frame(0, text[3:]))
        got = b""
        while len(got) < 2 + len(text) + 2 + 12:
            got += await asyncio.to_thread(connection.recv, 100)
        assert b"\x8a\x0cping between" in got
        assert bytes([0x81, len(text)]) + text in got


@behaviour
async def compressed_messages(server: Server) -> None:
    async with server.open("/echo", compression="deflate") as ws:
        for message in ("x" * 100_000, "short", b"\0" * 100_000):
            await ws.send(message)
            assert await ws.recv() == message


@behaviour
async def pings_are_answered(server: Server) -> None:
    async with server.open("/echo") as ws:
        for payload in (b"", b"x" * 125):
            await asyncio.wait_for(await ws.ping(payload), PATIENCE_S)


@behaviour
async def pings_are_answered_while_the_handler_waits(server: Server) -> None:
    async with server.open("/cancelled") as ws:
        assert await ws.recv() == "ready"
        await asyncio.wait_for(await ws.ping(), PATIENCE_S)


@behaviour
async def json_messages(server: Server) -> None:
    async with server.open("/json") as ws:
        await ws.send('{"a": 1}')
        assert json.loads(await ws.recv()) == {"a": 1, "seen": True}
        await ws.send(b'{"b": 2}')
        assert json.loads(await ws.recv()) == {"b": 2, "seen": True}


@behaviour
async def two_tasks_send(server: Server) -> None:
    async with server.open("/both") as ws:

        async def send() -> None:
            for number in range(200):
                await ws.send(str(number))

        async with asyncio.TaskGroup() as group:
            group.create_task(send())
            got = [await ws.recv() for _ in range(400)]
    for kind in ("sent", "echo"):
        assert [x for x in got if str(x).startswith(kind)] == [f"{kind} {n}" for n in range(200)]


@behaviour
async def timeouts_lose_no_message(server: Server) -> None:
    async with server.open("/impatient") as ws:
        assert await ws.recv() == "ready"
        for number in range(100):
            await ws.send(str(number))
            await asyncio.sleep(0.003)
        got = await asyncio.wait_for(ws.recv(), PATIENCE_S)
        assert json.loads(got) == [str(n) for n in range(100)]


@behaviour
async def functions_for_events(server: Server) -> None:
    async with server.open("/events?name=all") as ws:
        assert await ws.recv() == "open"
        await ws.send(b"\x01")
        assert await ws.recv() == b"\x01"
    assert await server.end("events all")


@behaviour
async def close_event(server: Server) -> None:
    async with server.open("/events?name=closed") as ws:
        await ws.close(4003, "bye")
    assert await server.end("events closed") == "events closed 4003 bye True"


# --- closing -----------------------------------------------------------------------------------


def closed_by_client(code: int, reason: str) -> Behaviour:
    async def closed(server: Server) -> None:
        async with server.open("/echo") as ws:
            await ws.close(code, reason)
            assert ws.close_code == code
        assert await server.end(f"echo {code} {reason}")

    return closed


BEHAVIOURS["client_closes_with_1000"] = closed_by_client(1000, "")
BEHAVIOURS["client_closes_with_4000"] = closed_by_client(4000, "")
BEHAVIOURS["client_closes_with_1001"] = closed_by_client(1001, "going")
BEHAVIOURS["client_closes_with_4999"] = closed_by_client(4999, "é" * 61)


@behaviour
async def client_closes_without_a_code(server: Server) -> None:
    with server.raw("/echo") as connection:
        connection.sendall(frame(8, b""))
        assert (await asyncio.to_thread(connection.recv, 100))[:1] == b"\x88"
    assert await server.end("echo 1005")


async def receive_all(ws: ClientConnection) -> None:
    while True:
        await asyncio.wait_for(ws.recv(), PATIENCE_S)


async def closing(server: Server, path: str, *sent: str | bytes) -> tuple[int, str]:
    """Sends messages, and returns code and reason with which the server closes."""
    async with server.open(path) as ws:
        for each in sent:
            await ws.send(each)
        with pytest.raises(ConnectionClosed) as raised:
            await receive_all(ws)
    received = raised.value.rcvd
    assert received is not None
    return received.code, received.reason


@behaviour
async def handler_closes(server: Server) -> None:
    for code, reason in (
        (1000, ""),
        (1001, "away"),
        (1008, "policy"),
        (3000, ""),
        (4999, "é" * 61),
    ):
        assert await closing(server, f"/close/{code}?reason={reason}") == (code, reason)


@behaviour
async def handler_returns(server: Server) -> None:
    assert (await closing(server, "/own"))[0] == 1000


@behaviour
async def handler_raises(server: Server) -> None:
    assert await closing(server, "/raise/fault") == (1011, "Internal Server Error")
    assert "ValueError: a fault in a handler" in server.served.printed()


@behaviour
async def handler_raises_an_answer(server: Server) -> None:
    assert await closing(server, "/raise/http") == (1008, "not for you")


@behaviour
async def handler_closes_with_a_code_that_may_not_be_sent(server: Server) -> None:
    assert (await closing(server, "/close/1006"))[0] == 1011


@behaviour
async def another_task_closes(server: Server) -> None:
    assert await closing(server, "/close-elsewhere", "go") == (4002, "elsewhere")
    assert await server.end("close-elsewhere 4002")


@behaviour
async def malformed_json(server: Server) -> None:
    code, reason = await closing(server, "/json", '{"a": 1')
    assert (code, reason) == (
        1007,
        "Malformed JSON in the message: Input data was truncated (byte 7)",
    )


@behaviour
async def json_of_another_type(server: Server) -> None:
    code, reason = await closing(server, "/json", '{"a": "b"}')
    assert (code, reason.partition(":")[0]) == (1007, "Unexpected JSON in the message")


@behaviour
async def message_beyond_the_limit(server: Server) -> None:
    async with server.open("/small") as ws:
        await ws.send(b"x" * 1000)
        assert await ws.recv() == "1000"
    code, reason = await closing(server, "/small", "é" * 501)
    assert (code, reason) == (1009, "The message has 1002 bytes, more than the 1000 allowed")
    assert await server.end("small 1009")


@behaviour
async def message_beyond_the_limit_of_the_server(server: Server) -> None:
    async def send_too_much() -> None:
        async with server.open("/echo") as ws:
            await ws.send(b"x" * (17 * MIB))
            await receive_all(ws)

    with pytest.raises(ConnectionClosed) as raised:
        await send_too_much()
    assert raised.value.rcvd is None or raised.value.rcvd.code == 1009


# --- clients that leave ------------------------------------------------------------------------


@behaviour
async def abrupt_end(server: Server) -> None:
    with server.raw("/echo") as connection:
        connection.sendall(frame(1, b"hi"))
        await asyncio.to_thread(connection.recv, 100)
    assert await server.end("echo 1006", "echo 1005")


@behaviour
async def abrupt_end_by_a_reset(server: Server) -> None:
    with server.raw("/events?name=reset") as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert (await server.end("events reset")).split()[2] in ("1005", "1006")


@behaviour
async def client_leaves_a_handler_that_only_sends(server: Server) -> None:
    async with server.open("/pushing") as ws:
        assert [await ws.recv() for _ in range(5)] == ["tick"] * 5
        await ws.close(4004)
    assert await server.end("pushing")


@behaviour
async def client_breaks_off_from_a_handler_that_only_sends(server: Server) -> None:
    with server.raw("/pushing") as connection:
        await asyncio.to_thread(connection.recv, 6)
        before = sum(each.startswith("pushing") for each in (await server.state())["ends"])
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        ends = (await server.state())["ends"]
        if sum(each.startswith("pushing") for each in ends) > before:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the handler goes on")


@behaviour
async def client_leaves_a_handler_that_is_cancelled(server: Server) -> None:
    async with server.open("/cancelled") as ws:
        assert await ws.recv() == "ready"
    assert await server.end("cancelled")


@behaviour
async def invalid_utf8_ends_the_connection(server: Server) -> None:
    with server.raw("/echo") as connection:
        connection.sendall(frame(1, b"\xff\xfe"))
        answer = await asyncio.to_thread(connection.recv, 100)
    assert answer[:1] in (b"", b"\x88")


# --- load --------------------------------------------------------------------------------------


@behaviour
async def slow_reader(server: Server) -> None:
    with server.raw("/flooding?mib=256") as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        before = server.served.memory_bytes()
        sent, still = -1, 0
        while still < 10:  # until nothing moves any more
            await asyncio.sleep(0.1)
            now = (await server.state())["counts"].get("flooded", 0)
            still = still + 1 if now == sent else 0
            sent = now
        assert sent < 200
        assert server.served.memory_bytes() - before < 100 * MIB
    assert await server.end("flooding")


@behaviour
async def slow_handler(server: Server) -> None:
    """A handler that doesn't receive makes the client wait."""
    before = server.served.memory_bytes()
    async with server.open("/slow") as ws:
        sent = 0

        async def flood() -> None:
            nonlocal sent
            while sent < 256:
                await ws.send(b"x" * MIB)
                sent += 1

        flooding = asyncio.create_task(flood())
        seen, still = -1, 0
        while still < 10:
            await asyncio.sleep(0.1)
            still = still + 1 if sent == seen else 0
            seen = sent
        assert sent < 200
        assert server.served.memory_bytes() - before < 150 * MIB
        async with httpx.AsyncClient(verify=False) as client:
            await client.post(f"{server.http}/go")
        await asyncio.wait_for(flooding, 60)
    assert await server.end("slow")
    assert (await server.state())["counts"]["slow"] == 256


@behaviour
async def a_thousand_clients(server: Server) -> None:
    async with asyncio.timeout(120):
        opened: list[ClientConnection] = []
        for _ in range(10):
            these = [connect(f"{server.ws}/crowd", compression=None, **QUIET) for _ in range(100)]
            opened += await asyncio.gather(*these)
        assert {await ws.recv() for ws in opened} == {"in"}
        assert (await server.state())["clients"] == 1000
        await opened[0].send("to all")
        assert {await ws.recv() for ws in opened} == {"to all"}
        await asyncio.gather(*(ws.close() for ws in opened))
        while (await server.state())["clients"]:
            await asyncio.sleep(0.05)


# --- other frameworks --------------------------------------------------------------------------


@behaviour
async def mounted_application(server: Server) -> None:
    async with server.open("/foreign/a/b") as ws:
        assert await ws.recv() == "/foreign /foreign/a/b"
        await ws.send("echo")
        assert await ws.recv() == "echo"
    assert await server.end("foreign")


@behaviour
async def headers_of_a_mounted_application(server: Server) -> None:
    async with server.open("/foreign/a") as ws:
        assert ws.response is not None
        assert ws.response.headers["x-foreign"] == "1"


@behaviour
async def mounted_application_denies(server: Server) -> None:
    response = await server.refused("/foreign/denied")
    assert (response.status_code, response.body) == (402, b"pay")


def _cases() -> Iterator[Any]:
    for server in SERVERS:
        for name in BEHAVIOURS:
            reason = CANNOT.get((server, name))
            run = server != "granian-rsgi"  # some would wait long for what never comes
            strict = (server, name) not in CAN_AT_TIMES
            marks = [pytest.mark.xfail(reason=reason, strict=strict, run=run)] if reason else []
            yield pytest.param(server, name, marks=marks, id=f"{server}-{name}")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], ServedApp]]:
    """Starts a server when it is first asked for; only one runs at a time."""
    running: dict[str, ServedApp] = {}

    def start(name: str) -> ServedApp:
        if name not in running:
            for each in running.values():
                each.kill()
            running.clear()
            log: Path = tmp_path_factory.mktemp(name) / "log"
            server, *options = SERVERS[name]
            running[name] = ServedApp(server, "websocket_app:app", log, *options).__enter__()
        return running[name]

    yield start
    for each in running.values():
        each.kill()


@pytest.mark.parametrize(("server", "name"), [*_cases()])
def test_behaviour(server: str, name: str, servers: Callable[[str], ServedApp]) -> None:
    served = servers(server)
    patience_s = SHORT_PATIENCE_S if (server, name) in CANNOT else PATIENCE_S
    asyncio.run(asyncio.wait_for(BEHAVIOURS[name](Server(served, patience_s)), 150))
    assert served.is_running
