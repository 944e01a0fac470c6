# SPDX-License-Identifier: MIT
"""Upstream servers that answer byte by byte what a well-behaved one wouldn't, or seldom does."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import pytest
from anyio.abc import SocketAttribute, SocketStream

from kit import Kit, Response
from kit.proxy import reverse_proxy

CASES: dict[str, tuple[bytes, int, bytes]] = {
    "informational responses": (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
    ),
    "trailers": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
        b"2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
        200,
        b"ok",
    ),
    "a body until the end of the connection": (b"HTTP/1.0 200 OK\r\n\r\nok", 200, b"ok"),
    "no response": (b"", 502, b""),
    "no HTTP": (b"SSH-2.0-OpenSSH\r\n", 502, b""),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-", 502, b""),
    "an invalid length": (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", 502, b""),
    "an unknown status": (b"HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n", 502, b""),
    "a protocol switch": (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", 502, b""),
    "a length beside chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\nok\r\n0\r\n\r\n",
        200,
        b"ok",
    ),
    "a length without content": (
        b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok",
        204,
        b"",
    ),
    "an answer before the end of the upload": (
        b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        413,
        b"",
    ),
}
BROKEN = {
    "a length": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
}


async def ask(answer: bytes, **request: Any) -> tuple[Response, bytes]:
    """Asks through a proxy, whose upstream server sends an answer and closes the connection.

    Returns:
        The response and its content.
    """
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(SocketAttribute.local_port)

    async def handle(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(answer)

    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, handle)
        try:
            app = Kit().all("*", reverse_proxy(f"http://127.0.0.1:{port}"))
            async with app.running():
                response = await app.request("/", **request)
                return response, await response.bytes()
        finally:
            group.cancel_scope.cancel()


# httpx leaves the body of a request that it can't send to its end.
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.parametrize("case", CASES)
def test_unusual_answers(run: Any, case: str) -> None:
    answer, status, content = CASES[case]

    async def main() -> None:
        upload = {"method": "POST", "body": b"x" * 1_000_000} if status == 413 else {}
        response, found = await ask(answer, **upload)
        assert response.status == status
        assert response.headers.get("content-length") in (None, str(len(found)))
        assert found == content if status != 502 else b"upstream server" in found
        names = {*response.headers.keys()}
        assert not names & {"link", "trailer", "x-sum", "connection", "upgrade"}

    run(main)


@pytest.mark.parametrize("case", BROKEN)
def test_a_body_that_ends_too_early(run: Any, case: str) -> None:
    async def main() -> None:
        with pytest.raises(ExceptionGroup) as caught:  # of the task group
            await ask(BROKEN[case])
        assert caught.group_contains(httpx.RemoteProtocolError)

    run(main)
