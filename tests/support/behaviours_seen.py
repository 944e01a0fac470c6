# SPDX-License-Identifier: MIT
"""The behaviours that take a connection, several requests, or a whole process to observe."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

import wire
from behaviours import ENDINGS, Behaviour, seen
from behaviours_modes import Mode, Served
from behaviours_wire import Request, read
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

# How long to read a response that may never end.
ENDLESS_S = 2.0

# --- bodies and streams over a connection ------------------------------------------------------


@seen("Bodies", "Expect: 100-continue", '100, then 200 "6162"', needs="keep-alive")
def expect(mode: Served) -> str:
    request = Request("/bytes", "POST", (("expect", "100-continue"),), b"ab")
    with mode.connect() as connection:
        connection.sendall(request.head())
        stream = connection.makefile("rb")
        first = wire.read_response(stream).status
        connection.sendall(request.body)
        return f"{first}, then {read(stream).shown()}"


@seen("Bodies", "Expect: 100-continue, body not read", "200 not read")
def expect_unread(mode: Served) -> str:
    request = Request("/ignored", "POST", (("expect", "100-continue"),), b"ab")
    with mode.connect() as connection:
        connection.sendall(request.head())
        first = connection.makefile("rb").readline().split()[1].decode()
        return "200 not read" if first == "200" else first


@seen("Bodies", "client disconnects during the body", "broken-off ClientDisconnectedError")
def broken_off(mode: Served) -> str:
    head = Request("/broken-off", "POST", (("content-length", "1000"),)).head()
    with mode.connect() as connection:
        connection.sendall(head + b"x" * 10)
        mode.until_noted("broken-off begins")
    return mode.until_noted("broken-off ClientDisconnectedError")


@seen("Responses", "stream arrives chunk by chunk", "first; then second;", needs="streaming")
def gated(mode: Served) -> str:
    with mode.connect() as connection:
        connection.sendall(Request("/gated/chunks").message())
        received = b""
        while b"first;" not in received:
            received += connection.recv(65536)
        mode.ask(Request("/open/chunks"))
        early = b"second;" in received
        while b"second;" not in received:
            received += connection.recv(65536)
        return "at once" if early else "first; then second;"


@seen("Responses", "stream that fails is cut off", "200, cut off")
def broken(mode: Served) -> str:
    with mode.connect() as connection:
        connection.sendall(Request("/broken").message())
        connection.settimeout(ENDLESS_S)
        received = b""
        is_open = False
        try:
            while chunk := connection.recv(65536):
                received += chunk
        except TimeoutError:
            is_open = True
        except ConnectionError:
            pass
    status = received.split()[1].decode()
    if is_open:
        return f"{status}, left open"
    is_whole = received.endswith(b"0\r\n\r\n") or b"chunked" not in received.lower()
    return f"{status}, {'whole' if is_whole else 'cut off'}"


# --- disconnecting clients ------------------------------------------------------------------------

G = "Disconnecting clients"


def _leave_amid(mode: Served, target: str) -> None:
    with mode.connect() as connection:
        connection.sendall(Request(target).message())
        connection.recv(1000)


@seen(G, "async stream: its `finally` runs", "endless closed", needs="streaming")
def leaves_stream(mode: Served) -> str:
    _leave_amid(mode, "/endless")
    return mode.until_noted("endless closed")


@seen(G, "plain generator: its `finally` runs", "endless-generator closed", needs="streaming")
def leaves_generator(mode: Served) -> str:
    _leave_amid(mode, "/endless-generator")
    return mode.until_noted("endless-generator closed")


@seen(G, "`cancel_on_disconnect` cancels a handler", "waiting cancelled", needs="noticing")
def leaves_handler(mode: Served) -> str:
    with mode.connect() as connection:
        connection.sendall(Request("/waiting").message())
        mode.until_noted("waiting begins")
    return mode.until_noted("waiting cancelled")


# --- background work ---------------------------------------------------------------------------

G = "Background work"


@seen(G, "`wait_until` after a response", "200 now; later done", needs="")
def later(mode: Mode) -> str:
    answer = mode.ask(Request("/later/done"))
    return f"{answer.shown()}; {mode.until_noted('later done')}"


@seen(G, "`wait_until` after an error", "500 Internal Server Error; later failing", needs="")
def later_failing(mode: Mode) -> str:
    answer = mode.ask(Request("/later/failing"))
    return f"{answer.shown()}; {mode.until_noted('later failing')}"


# --- keep-alive --------------------------------------------------------------------------------

G = "Keep-alive"


def _in_turn(mode: Served, *requests: Request) -> str:
    shown = []
    with mode.connect() as connection:
        stream = connection.makefile("rb")
        for request in requests:
            connection.sendall(request.message(keep=True))
            shown.append(read(stream, request.method).shown())
    return ", ".join(shown)


TEXT = Request("/text")


@seen(G, "two requests", "200 hello, 200 hello", needs="keep-alive")
def in_turn(mode: Served) -> str:
    return _in_turn(mode, TEXT, TEXT)


@seen(G, "after an error", "500 Internal Server Error, 200 hello", needs="keep-alive")
def after_error(mode: Served) -> str:
    return _in_turn(mode, Request("/boom"), TEXT)


@seen(G, "after HEAD, 204 and 304", "200, 204, 304, 200 hello", needs="keep-alive")
def after_empty(mode: Served) -> str:
    head = Request("/text", "HEAD")
    return _in_turn(mode, head, Request("/empty"), Request("/unchanged"), TEXT)


@seen(G, "after a stream", "200 0;1;2;3;4;, 200 hello", needs="keep-alive")
def after_stream(mode: Served) -> str:
    return _in_turn(mode, Request("/stream"), TEXT)


@seen(G, "after an unread body", "200 not read, 200 hello", needs="keep-alive")
def after_unread(mode: Served) -> str:
    return _in_turn(mode, Request("/ignored", "POST", (), b"unread"), TEXT)


@seen(
    G,
    "three pipelined requests, answered in order",
    "200 POST, 200 hello, 200 PUT",
    needs="keep-alive",
)
def pipelined(mode: Served) -> str:
    requests = (Request("/method", "POST"), TEXT, Request("/method", "PUT"))
    with mode.connect() as connection:
        connection.sendall(b"".join(request.message(keep=True) for request in requests))
        stream = connection.makefile("rb")
        return ", ".join(read(stream).shown() for _ in requests)


def _ends(mode: Served, data: bytes) -> str:
    """Returns the first response, and whether the connection is closed after it."""
    with mode.connect() as connection:
        connection.sendall(data)
        stream = connection.makefile("rb")
        shown = read(stream).shown()
        connection.settimeout(2)
        try:
            return f"{shown}, closed" if stream.read(1) == b"" else f"{shown}, more"
        except TimeoutError:
            return f"{shown}, open"


@seen(G, "`Connection: close`", "200 hello, closed")
def closing(mode: Served) -> str:
    return _ends(mode, TEXT.message())


@seen(G, "HTTP/1.0", "200 hello, closed")
def http_1_0(mode: Served) -> str:
    return _ends(mode, b"GET /text HTTP/1.0\r\nhost: example.com\r\n\r\n")


@seen(G, "target with scheme and host", "200 hello, closed")
def absolute_form(mode: Served) -> str:
    return _ends(mode, Request(f"http://example.com{TEXT.target}").message())


# --- malformed requests ------------------------------------------------------------------------

G = "Malformed requests"
_HEAD = b"POST /bytes HTTP/1.1\r\nhost: example.com\r\nconnection: close\r\n"
_MALFORMED = {
    "no request line": b"nonsense\r\n\r\n",
    "no Host": b"GET /text HTTP/1.1\r\nconnection: close\r\n\r\n",
    "two Hosts": b"GET /text HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n",
    "space before a colon": _HEAD + b"x-value : 1\r\ncontent-length: 0\r\n\r\n",
    "no colon": _HEAD + b"x-value\r\ncontent-length: 0\r\n\r\n",
    "NUL in a value": _HEAD + b"x-value: a\0b\r\ncontent-length: 0\r\n\r\n",
    "length that isn't a number": _HEAD + b"content-length: ten\r\n\r\n0123456789",
    "negative length": _HEAD + b"content-length: -1\r\n\r\n",
    "two lengths": _HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab",
    "length and chunks": _HEAD
    + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    "chunk without a size": _HEAD + b"transfer-encoding: chunked\r\n\r\nxx\r\n\r\n0\r\n\r\n",
    "head of 4 MB": _HEAD + b"x-value: " + b"x" * 4_000_000 + b"\r\ncontent-length: 0\r\n\r\n",
}


def _refused(data: bytes) -> object:
    def see(mode: Served) -> str:
        received = b""
        with mode.connect() as connection:
            with contextlib.suppress(OSError):
                connection.sendall(data)
            with contextlib.suppress(ConnectionError):
                while chunk := connection.recv(65536):
                    received += chunk
        if not received:
            return "refused"
        status = received.split()[1].decode()
        return "refused" if status.startswith("4") else f"answered with {status}"

    return see


for _name, _data in _MALFORMED.items():
    seen(G, _name, "refused")(_refused(_data))


# --- several requests at once ------------------------------------------------------------------

G = "Concurrency"


def _both(mode: Served, *targets: str) -> str:
    with ThreadPoolExecutor(len(targets)) as pool:
        return ", ".join(pool.map(lambda target: mode.ask(Request(target)).shown(), targets))


@seen(G, "async handlers that wait for each other", "200 met, 200 met", needs="concurrency")
def meet(mode: Served) -> str:
    return _both(mode, "/meet/two/a", "/meet/two/b")


@seen(G, "handlers in threads", "200 met, 200 met", needs="concurrency")
def meet_in_thread(mode: Served) -> str:
    return _both(mode, "/meet-in-thread/a", "/meet-in-thread/b")


# --- WebSocket ---------------------------------------------------------------------------------

G = "WebSocket"


def _socket(mode: Served, target: str = "/ws", **options: object) -> ClientConnection:
    url = f"ws://127.0.0.1:{mode.server.port}{target}"
    return connect(url, proxy=None, open_timeout=20, **options)


@seen(G, "text and bytes", "text hallo ✓, bytes 00ff", needs="websocket")
def echo(mode: Served) -> str:
    with _socket(mode) as ws:
        ws.send("hallo ✓")
        text = ws.recv()
        ws.send(b"\x00\xff")
        data = ws.recv()
    assert isinstance(data, bytes)
    return f"text {text!s}, bytes {data.hex()}"


@seen(G, "subprotocol", "chat", needs="websocket")
def subprotocol(mode: Served) -> str:
    with _socket(mode, subprotocols=["other", "chat"]) as ws:
        return str(ws.subprotocol)


def _close_code(mode: Served, message: str) -> str:
    with _socket(mode) as ws:
        ws.send(message)
        try:
            return f"answered {ws.recv()!r}"
        except ConnectionClosed as closed:
            close = closed.rcvd
            return f"{close.code} {close.reason}".strip() if close else "closed without a frame"


@seen(G, "closed by the app", "4000 as asked", needs="websocket")
def closed(mode: Served) -> str:
    return _close_code(mode, "close")


@seen(G, "handler that fails", "1011 Internal Server Error", needs="websocket")
def failing(mode: Served) -> str:
    return _close_code(mode, "fail")


@seen(G, "client disconnects: the loop ends", "ws over", needs="websocket")
def leaves_websocket(mode: Served) -> str:
    with _socket(mode):
        pass
    return mode.until_noted("ws over")


@seen(G, "handshake refused by middleware", "401", needs="websocket")
def refused_handshake(mode: Served) -> str:
    try:
        with _socket(mode, "/guarded-ws"):
            return "opened"
    except InvalidStatus as refused:
        return str(refused.response.status_code)


@seen(G, "headers of the handshake", '"me"', needs="websocket")
def handshake_headers(mode: Served) -> str:
    with _socket(mode, "/guarded-ws", additional_headers={"x-pass": "me"}) as ws:
        return str(ws.recv())


@seen(G, "plain GET of the route", "426", needs="")
def plain_get(mode: Mode) -> str:
    return str(mode.ask(Request("/ws")).status)


# --- shutdown; observed last, in this order ----------------------------------------------------

G = "Connection and lifespan"


@seen(G, "startup runs before the first request", "startup", needs="")
def startup(mode: Mode) -> str:
    mode.ask(TEXT)
    return mode.trace[0]


@seen(G, "startup that fails", "fails, says why", needs="signals")
def failing_start(mode: Served) -> str:
    return mode.failing_start()


def at_the_end(mode: Served) -> dict[str, str]:
    """Stops the server during a request; returns what is observed, by name of the behaviour."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(mode.ask, Request("/slow/last"))
        mode.until_noted("slow last begins")
        code = mode.end()
        try:
            told = answer.result().shown()
        except (AssertionError, OSError, ValueError):
            told = "not answered"
    last = [note for note in mode.trace if note in ("later last", "shutdown")]
    return dict(zip((each.name for each in ENDINGS), (told, ", ".join(last), code), strict=True))


for _name, _expected in (
    ("a request in flight is answered", "200 slow"),
    ("its `wait_until` task finishes, then the lifespan", "later last, shutdown"),
    ("exit code of the process", "exit code 0"),
):
    ENDINGS.append(Behaviour("Shutdown on SIGTERM", _name, _expected, at_the_end, "signals"))
