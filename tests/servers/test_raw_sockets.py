# SPDX-License-Identifier: MIT
"""Attacks on a served app, byte by byte, while another client goes on asking.

What a server lets through must have its right answer; all that comes back must be valid HTTP.
Which requests it lets through is a matter of the server.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from serving import ServedApp
from wire import WireResponse, exchange, request, responses

pytestmark = pytest.mark.once

PATIENCE_S = 20  # how long anything may take before the test gives up
SERVERS = ("uvicorn", "uvicorn-h11", "granian", "granian-rsgi", "hypercorn")
# What a server answers by itself to what it doesn't take.
REFUSALS = (400, 404, 405, 408, 411, 413, 414, 417, 431, 501, 505)
KIB = 1024


class Witness:
    """Another client, with a connection of its own that stays open."""

    def __init__(self, served: ServedApp) -> None:
        self._served = served
        self._connection = served.connect(PATIENCE_S)
        self._count = 0

    def sees_right_answers(self) -> None:
        """Asks on the old connection and on a new one."""
        self._count += 1
        target = b"/users/%d?w=%d" % (self._count, self._count)
        self._connection.sendall(request(target, keep=True))
        response = read_one(self._connection)
        assert (response.status, shown(response)["param"]) == (200, {"id": str(self._count)})
        with self._served.connect(PATIENCE_S) as connection:
            [response] = responses(exchange(connection, request(b"/users/me")))
        assert (response.status, response.body) == (200, b"me")
        assert self._served.is_running

    def close(self) -> None:
        self._connection.close()


def read_one(connection: socket.socket) -> WireResponse:
    """Reads one response with a length from a connection that stays open."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += received(connection)
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = [line.lower() for line in head.split(b"\r\n")]
    [length] = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
    while len(body) < length:
        body += received(connection)
    [response] = responses(head + b"\r\n\r\n" + body)
    return response


def received(connection: socket.socket) -> bytes:
    chunk = connection.recv(65536)
    assert chunk, "the server closed the connection"
    return chunk


def shown(response: WireResponse) -> Any:
    """What the app told of a request."""
    assert response.header(b"content-type") == [b"application/json"]
    return json.loads(response.body)


@pytest.fixture(scope="module", params=SERVERS)
def served(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp(request.param) / "log"
    with ServedApp(request.param, "everything:app", log) as served:
        yield served


@pytest.fixture
def witness(served: ServedApp) -> Iterator[Witness]:
    """Sees that others are served, during the test and after it, and that nothing failed."""
    before = len(served.printed())
    witness = Witness(served)
    witness.sees_right_answers()
    yield witness
    witness.sees_right_answers()
    witness.close()
    printed = served.printed()[before:]
    assert "Traceback" not in printed, printed
    assert "Exception in" not in printed, printed


def send(served: ServedApp, raw: bytes, *methods: str) -> list[WireResponse]:
    with served.connect(PATIENCE_S) as connection:
        return responses(exchange(connection, raw), *methods)


# --- what every server lets through --------------------------------------------------------------


def has(**expected: Any) -> Callable[[WireResponse], bool]:
    """Checks what the app told of the request."""

    def check(response: WireResponse) -> bool:
        told = shown(response)
        return {name: told[name] for name in expected} == expected

    return check


def says(body: bytes, status: int = 200) -> Callable[[WireResponse], bool]:
    return lambda response: (response.status, response.body) == (status, body)


WELL_FORMED = [
    pytest.param(request(b"/files/%FF%FE"), has(path="/files/%FF%FE"), id="no UTF-8 in the path"),
    pytest.param(request(b"/users/%C3%28"), has(param={"name": "%C3("}), id="no UTF-8 in a param"),
    pytest.param(request(b"/files/%ED%A0%80"), has(path="/files/%ED%A0%80"), id="half a surrogate"),
    pytest.param(request(b"/files/%00"), has(path="/files/\0"), id="NUL in the path"),
    pytest.param(request(b"/files/%0d%0ax:y"), has(path="/files/\r\nx:y"), id="line in the path"),
    pytest.param(request(b"/users/a%2Fb"), has(param={"name": "a/b"}), id="slash in a param"),
    pytest.param(
        request(b"/users/me2?a=%FF&b=%00&%C3=1&=x&&"),
        has(query={"a": "%FF", "b": "\0", "%C3": "1"}),
        id="no UTF-8 in the query",
    ),
    pytest.param(
        request(b"/files/x?" + b"q" * 60_000), has(query={"q" * 60_000: ""}), id="long query"
    ),
    pytest.param(
        request(b"/users/" + b"a" * 60_000), has(param={"name": "a" * 60_000}), id="long path"
    ),
    pytest.param(
        request(b"/users/" + b"%41" * 20_000), has(param={"name": "A" * 20_000}), id="escapes"
    ),
    pytest.param(
        request(b"/files" + b"/a" * 25_000), has(path="/files" + "/a" * 25_000), id="deep path"
    ),
    pytest.param(
        request(b"/files/../users/me"), has(path="/files/../users/me"), id="dots in the path"
    ),
    pytest.param(request(b"//evil.example/x"), says(b"nothing at //evil.example/x", 404), id="//"),
    pytest.param(request(b"*", method=b"OPTIONS"), lambda r: r.status == 400, id="*"),
    pytest.param(
        request(b"/users/x", host=b"a b/<>"), has(param={"name": "x"}), id="a host that is none"
    ),
    pytest.param(request(b"/users/x", host=b""), has(param={"name": "x"}), id="empty host"),
    pytest.param(
        request(b"/users/x", host=b"\xff\xfe"), has(param={"name": "x"}), id="bytes as host"
    ),
    pytest.param(
        request(b"/users/x", host=b"a:99999"), has(param={"name": "x"}), id="port as host"
    ),
    pytest.param(b"GET /users/x HTTP/1.0\r\n\r\n", has(param={"name": "x"}), id="HTTP/1.0"),
    pytest.param(
        request(b"/misuse/reflected?a=x%0d%0aset-cookie:%20a=b"),
        lambda r: r.status == 400,
        id="CRLF",
    ),
    pytest.param(
        request(b"/misuse/redirect?to=a%0d%0ax:%20y"),
        lambda r: r.status == 400,
        id="CRLF in Location",
    ),
    pytest.param(
        request(
            b"/read/bytes",
            b"transfer-encoding: chunked",
            method=b"POST",
            body=b'3;a=b;c="d"\r\nabc\r\n0;x\r\n\r\n',
        ),
        says(b'["616263"]'),
        id="chunk extensions",
    ),
    pytest.param(
        request(
            b"/read/bytes",
            b"content-length: 3",
            b"expect: 100-continue",
            method=b"POST",
            body=b"abc",
        ),
        says(b'["616263"]'),
        id="100-continue",
    ),
    pytest.param(
        request(b"/users/me", b"content-length: 3", body=b"abc"), says(b"me"), id="GET with a body"
    ),
]


# RSGI gives the decoded path alone.
LOST_ESCAPES = re.compile(rb"%(?:2F|FF|ED|C3%28)")


@pytest.mark.parametrize(("raw", "is_right"), WELL_FORMED)
def test_answer(served: ServedApp, witness: Witness, raw: bytes, is_right: Any) -> None:
    if served.server == "granian-rsgi" and LOST_ESCAPES.search(raw.partition(b"?")[0]):
        pytest.skip("RSGI gives the decoded path alone, so these escapes are lost")
    [response] = send(served, raw)
    assert is_right(response), response


# --- a body that a server drops ------------------------------------------------------------------


def test_a_body_beside_an_upgrade_to_h2c(served: ServedApp, witness: Witness) -> None:
    """Java's client sends one; uvicorn drops the body, which is not one of no bytes."""
    if served.server == "hypercorn":
        pytest.skip("hypercorn goes on with HTTP/2")
    raw = request(
        b"/read/bytes",
        b"connection: upgrade, http2-settings, close",
        b"upgrade: h2c",
        b"http2-settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA",
        b"content-length: 3",
        method=b"POST",
        body=b"abc",
        keep=True,
    )
    [response] = send(served, raw)
    # The app tells what its reader raised.
    refused = b'[[400,"The body is incomplete: it has 0 bytes, but its Content-Length is 3"]]'
    assert response.status == 400 or READ_ABC(response) or says(refused)(response), response


# --- what a server may refuse --------------------------------------------------------------------

SMUGGLED = request(b"/users/smuggled")
IN_CHUNKS = b"3\r\nabc\r\n0\r\n\r\n"


def post(*lines: bytes, body: bytes) -> bytes:
    return request(b"/read/bytes", *lines, method=b"POST", body=body + SMUGGLED, keep=True)


READ_ABC = says(b'["616263"]')
CHUNKED = b"transfer-encoding: chunked"

HOSTILE = [
    pytest.param(request(b"/files/\xff\xfe"), None, id="bytes in the path"),
    pytest.param(request("/users/é".encode()), has(param={"name": "é"}), id="UTF-8 in the path"),
    pytest.param(request(b"/users/x?a=\xff"), has(param={"name": "x"}), id="bytes in the query"),
    pytest.param(request(b"/users/\0"), None, id="NUL"),
    pytest.param(request(b"/users/\x01\x7f"), None, id="control characters"),
    pytest.param(request(b"/users/a b"), None, id="blank"),
    pytest.param(request(b"http://evil.example/users/me"), says(b"me"), id="absolute form"),
    pytest.param(request(b"http://[/users/me"), None, id="broken absolute form"),
    pytest.param(request(b"users/me"), says(b"me"), id="no slash"),
    pytest.param(request(b"@evil.example/users/me"), None, id="user info"),
    pytest.param(request(b"example.com:443", method=b"CONNECT"), None, id="CONNECT"),
    pytest.param(request(b"/users/x", host=None), has(param={"name": "x"}), id="no host"),
    pytest.param(request(b"/users/x", b"host: evil"), has(param={"name": "x"}), id="two hosts"),
    pytest.param(b"GET /users/me\r\n\r\n", says(b"me"), id="HTTP/0.9"),
    pytest.param(request(b"/users/me").replace(b"1.1", b"9.9", 1), says(b"me"), id="HTTP/9.9"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00" + bytes(range(256)) + b"\r\n\r\n", None, id="TLS"),
    pytest.param(request(b"/", method=b"G(T"), None, id="method"),
    pytest.param(request(b"/all/a/b", method=b"F!#$%&'*+"), has(path="/all/a/b"), id="odd method"),
    pytest.param(request(b"/users/me", b"no colon"), says(b"me"), id="no colon"),
    pytest.param(request(b"/users/me", b"a b: c"), says(b"me"), id="blank in a header name"),
    pytest.param(request(b"/users/me", b"x: a\x01b"), says(b"me"), id="control in a header"),
    pytest.param(request(b"/users/me", b"x: a\0b"), says(b"me"), id="NUL in a header"),
    pytest.param(request(b"/users/me", b"x: a\rb"), says(b"me"), id="CR in a header"),
    pytest.param(request(b"/users/me", b"x: a", b" b"), says(b"me"), id="folded header"),
    pytest.param(request(b"/users/me", b"x: " + b"y" * 70_000), says(b"me"), id="long header"),
    pytest.param(request(b"/users/me", b"x: " + b"y" * 1_000_000), says(b"me"), id="1 MB header"),
    pytest.param(
        request(b"/users/x", *[b"x%d: y" % n for n in range(20_000)]),
        has(param={"name": "x"}),
        id="20,000 headers",
    ),
    pytest.param(
        request(b"/users/x", *[b"x: y"] * 20_000), has(param={"name": "x"}), id="one 20,000 times"
    ),
    pytest.param(request(b"/users/x?" + b"q" * 1_000_000), has(path="/users/x"), id="1 MB query"),
    pytest.param(
        request(b"/users/x?" + b"&".join(b"%d=" % n for n in range(100_000))),
        has(path="/users/x"),
        id="100,000 keys",
    ),
    pytest.param(request(b"/users/" + b"a" * 1_000_000), has(query={}), id="1 MB path"),
    pytest.param(request(b"/users/me").replace(b"\r\n", b"\n"), says(b"me"), id="bare LF"),
    pytest.param(b"\r\n\r\n" + request(b"/users/me"), says(b"me"), id="lines before"),
    pytest.param(
        post(b"content-length: 4", CHUNKED, body=b"0\r\n\r\n"), says(b'[""]'), id="CL and TE"
    ),
    pytest.param(post(CHUNKED, b"content-length: 99", body=IN_CHUNKS), READ_ABC, id="TE and CL"),
    pytest.param(post(b"content-length: 0", b"content-length: 9", body=b""), None, id="two CL"),
    pytest.param(
        post(b"content-length: 3", b"content-length: 3", body=b"abc"), READ_ABC, id="CL twice"
    ),
    pytest.param(post(b"content-length: 3, 3", body=b"abc"), READ_ABC, id="CL list"),
    pytest.param(post(b"content-length: +3", body=b"abc"), None, id="CL plus"),
    pytest.param(post(b"content-length: -3", body=b"abc"), None, id="CL minus"),
    pytest.param(post(b"content-length: 0x3", body=b"abc"), None, id="CL hex"),
    pytest.param(post(b"content-length: 9" + b"9" * 30, body=b"abc"), None, id="CL huge"),
    pytest.param(post(b"content-length : 3", body=b"abc"), None, id="CL blank"),
    pytest.param(post(b"transfer-encoding : chunked", body=IN_CHUNKS), None, id="TE blank"),
    pytest.param(post(b"transfer-encoding: xchunked", body=IN_CHUNKS), None, id="TE unknown"),
    pytest.param(post(b"transfer-encoding: gzip, chunked", body=IN_CHUNKS), READ_ABC, id="TE list"),
    pytest.param(
        post(b"transfer-encoding: chunked, identity", body=IN_CHUNKS), None, id="TE not last"
    ),
    pytest.param(post(CHUNKED, b"transfer-encoding: identity", body=IN_CHUNKS), None, id="two TE"),
    pytest.param(post(b"transfer-encoding:\tchunked", body=IN_CHUNKS), READ_ABC, id="TE tab"),
    pytest.param(
        post(b"transfer-encoding:", b" chunked", body=IN_CHUNKS), READ_ABC, id="TE folded"
    ),
    pytest.param(post(b"x: y\n" + CHUNKED, body=IN_CHUNKS), READ_ABC, id="TE behind LF"),
    pytest.param(
        post(CHUNKED, body=b"3;a\nabc\r\n0\r\n\r\n"), READ_ABC, id="LF behind a chunk size"
    ),
    pytest.param(
        post(CHUNKED, body=b"3;" + b"a" * 200_000 + b"\r\nabc\r\n0\r\n\r\n"),
        READ_ABC,
        id="extension",
    ),
    pytest.param(post(CHUNKED, body=b"0x3\r\nabc\r\n0\r\n\r\n"), None, id="chunk size hex"),
    pytest.param(post(CHUNKED, body=b"-3\r\nabc\r\n0\r\n\r\n"), None, id="chunk size minus"),
    pytest.param(post(CHUNKED, body=b"3\r\nabcXX0\r\n\r\n"), None, id="no end of a chunk"),
    pytest.param(
        post(CHUNKED, body=b"3\r\nabc\r\n0\r\ncontent-length: 9\r\n\r\n"), READ_ABC, id="trailers"
    ),
]


@pytest.mark.parametrize(("raw", "is_right"), HOSTILE)
def test_refused_or_right(served: ServedApp, witness: Witness, raw: bytes, is_right: Any) -> None:
    answers = send(served, raw)
    if not answers:  # the connection was closed
        return
    first = answers[0]
    if first.status not in REFUSALS:
        assert is_right is not None, first
        assert is_right(first), first
    # What stands behind is either refused with it, or a request of its own.
    assert [a.status for a in answers[1:]] in ([], [200], [400])
    for answer in answers[1:]:
        assert answer.status == 400 or shown(answer)["param"] == {"name": "smuggled"}


# --- what takes its time -------------------------------------------------------------------------


def drip(connections: list[socket.socket], data: bytes) -> None:
    """Sends the same to each connection, byte by byte."""
    for index in range(len(data)):
        for connection in connections:
            connection.sendall(data[index : index + 1])
        time.sleep(0.002)


def test_slow_clients(served: ServedApp, witness: Witness) -> None:
    raw = request(b"/read/bytes", b"content-length: 6", method=b"POST", body=b"abcdef")
    half = len(raw) // 2
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(served.connect(PATIENCE_S)) for _ in range(20)]
        drip(slow, raw[:half])
        witness.sees_right_answers()
        drip(slow, raw[half:-3])
        witness.sees_right_answers()
        drip(slow, raw[-3:])
        for connection in slow:
            [response] = responses(exchange(connection, b""))
            assert response.body == b'["616263646566"]'


def test_slow_chunks(served: ServedApp, witness: Witness) -> None:
    head = request(b"/stream/both-ways", CHUNKED, method=b"POST")
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(head)
        for number in range(10):
            connection.sendall(b"3\r\na%02d\r\n" % number)
            time.sleep(0.01)
        witness.sees_right_answers()
        [response] = responses(exchange(connection, b"0\r\n\r\n"))
    assert response.body == b"".join(b"A%02d" % number for number in range(10)) + b"!"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"GET", id="method"),
        pytest.param(b"GET / HTTP/1.1\r\nhost: a\r\nx: ", id="head"),
        pytest.param(post(b"content-length: 100000", body=b"")[:-20], id="body"),
        pytest.param(
            request(b"/stream/both-ways", CHUNKED, method=b"POST", body=b"5\r\nab"), id="chunk"
        ),
        pytest.param(
            request(b"/json", CHUNKED, method=b"POST", body=b"FFFFFFFFFFFFFFFFF\r\n{"), id="size"
        ),
        pytest.param(
            request(
                b"/checked/form",
                b"content-type: multipart/form-data; boundary=B",
                b"content-length: 1000",
                method=b"POST",
                body=b'--B\r\ncontent-disposition: form-data; name="a"; filename="a"\r\n\r\nxx',
            ),
            id="file",
        ),
    ],
)
def test_clients_that_stop_in_the_middle(served: ServedApp, witness: Witness, raw: bytes) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(served.connect(PATIENCE_S)).sendall(raw)
        witness.sees_right_answers()


def test_clients_that_do_not_read(served: ServedApp, witness: Witness) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            connection = stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * KIB)
            connection.settimeout(PATIENCE_S)
            connection.connect(("127.0.0.1", served.port))
            connection.sendall(request(b"/large", keep=True) * 3)
            connection.sendall(request(b"/stream/endless"))
        witness.sees_right_answers()


def test_pipelining(served: ServedApp, witness: Witness) -> None:
    kinds = [
        (request(b"/users/%d", keep=True), "GET"),
        (request(b"/users/me", method=b"HEAD", keep=True), "HEAD"),
        (request(b"/raise/refused", keep=True), "GET"),
        (request(b"/stream/counted", keep=True), "GET"),
        (request(b"/unchanged", keep=True), "GET"),
        (request(b"/read/bytes", CHUNKED, method=b"POST", body=IN_CHUNKS, keep=True), "POST"),
        (request(b"/fetch/x", method=b"PUT", body=b"", keep=True), "PUT"),
    ] * 3
    raw = b"".join(data for data, _ in kinds) + request(b"/users/me")
    answers = send(served, raw, *(method for _, method in kinds))
    statuses = [200, 200, 403, 200, 304, 200, 200] * 3
    assert [answer.status for answer in answers] == [*statuses, 200]
    assert [answer.body for answer in answers[1:7]] == [
        b"",
        b"refused",
        b"n0;n1;n2;n3;n4;",
        b"",
        b'["616263"]',
        b"PUT http://example.com/x 2 ",
    ]
    assert answers[-1].body == b"me"
