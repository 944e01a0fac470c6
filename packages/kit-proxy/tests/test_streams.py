# SPDX-License-Identifier: MIT
"""Bodies are streamed as fast as they are read; clients that leave, timeouts, and faults."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest
from upstream_peer import Chunks, Upstream, http_scope

from kit import Kit, Limits
from kit.proxy import reverse_proxy


def app_of(upstream: Upstream, **options: Any) -> Kit:
    return Kit().all("*", reverse_proxy("http://backend", client=upstream.client, **options))


class Client:
    """A client of an ASGI app that sends chunks, reads slowly, and leaves if it is told to.

    Attributes:
        sent: The messages that the app has sent.
        received: How many messages the app has received.
    """

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = [*chunks]
        self._leaves = anyio.Event()
        self.wants_more = anyio.Event()
        self.sent: list[dict[str, Any]] = []
        self.received = 0
        self.changed = anyio.Event()

    def leave(self) -> None:
        self._leaves.set()

    async def receive(self) -> dict[str, Any]:
        self.received += 1
        if self._chunks:
            await anyio.lowlevel.checkpoint()
            body = self._chunks.pop(0)
            return {"type": "http.request", "body": body, "more_body": bool(self._chunks)}
        await self._leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(dict(message))
        self.changed.set()
        self.changed = anyio.Event()
        if message.get("body"):
            await self.wants_more.wait()

    async def until_sent(self, count: int) -> None:
        while len(self.sent) < count:
            await self.changed.wait()

    @property
    def body(self) -> bytes:
        return b"".join(each.get("body", b"") for each in self.sent[1:])


def post(**more: Any) -> dict[str, Any]:
    return http_scope(method="POST", headers=[(b"host", b"public")], **more)


def test_a_download_is_read_only_as_fast_as_the_client_reads(run: Any) -> None:
    async def main() -> None:
        read = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal read
            while True:
                read += 1
                yield b"x" * 65536

        chunks = Chunks(endless())

        async def respond(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, stream=chunks)

        client = Client(b"")
        async with anyio.create_task_group() as group:
            group.start_soon(app_of(Upstream(respond)), http_scope(), client.receive, client.send)
            await client.until_sent(2)
            await anyio.wait_all_tasks_blocked()
            assert read <= 3
            client.leave()
            client.wants_more.set()
        assert chunks.is_closed

    run(main)


def test_an_upload_is_read_only_as_fast_as_the_upstream_server_reads(run: Any) -> None:
    async def main() -> None:
        goes_on = anyio.Event()

        async def respond(request: httpx.Request) -> httpx.Response:
            assert request.headers["transfer-encoding"] == "chunked"
            assert "content-length" not in request.headers
            total = 0
            async for chunk in request.stream:  # type: ignore[union-attr]
                total += len(chunk)
                await goes_on.wait()
            return httpx.Response(200, text=str(total))

        client = Client(*[b"x" * 65536] * 100)
        client.wants_more.set()
        async with anyio.create_task_group() as group:
            group.start_soon(app_of(Upstream(respond)), post(), client.receive, client.send)
            await anyio.wait_all_tasks_blocked()
            assert client.received < 10
            goes_on.set()
            await client.until_sent(2)
            client.leave()
        assert client.body == b"6553600"

    run(main)


def test_events_arrive_at_once(run: Any) -> None:
    async def main() -> None:
        goes_on = anyio.Event()

        async def events() -> AsyncIterator[bytes]:
            yield b"data: 1\n\n"
            await goes_on.wait()
            yield b"data: 2\n\n"

        async def respond(request: httpx.Request) -> httpx.Response:
            headers = {"content-type": "text/event-stream"}
            return httpx.Response(200, headers=headers, stream=Chunks(events()))

        client = Client(b"")
        client.wants_more.set()
        async with anyio.create_task_group() as group:
            group.start_soon(app_of(Upstream(respond)), http_scope(), client.receive, client.send)
            await client.until_sent(2)
            assert client.body == b"data: 1\n\n"
            goes_on.set()
        assert client.body == b"data: 1\n\ndata: 2\n\n"

    run(main)


@pytest.mark.parametrize("sends", ["nothing", "a body"])
def test_a_client_that_leaves_before_the_response(run: Any, sends: str) -> None:
    async def main() -> None:
        is_waiting = anyio.Event()
        is_cancelled = False

        async def respond(request: httpx.Request) -> httpx.Response:
            nonlocal is_cancelled
            await request.aread()
            is_waiting.set()
            try:
                await anyio.sleep_forever()
            except BaseException:
                is_cancelled = True
                raise
            raise AssertionError

        client = Client(b"") if sends == "nothing" else Client(b"abc", b"")
        client.wants_more.set()
        async with anyio.create_task_group() as group:
            group.start_soon(app_of(Upstream(respond)), post(), client.receive, client.send)
            await is_waiting.wait()
            client.leave()
        assert is_cancelled

    run(main)


def test_a_client_that_leaves_during_its_upload(run: Any) -> None:
    async def main() -> None:
        failures: list[BaseException] = []

        async def respond(request: httpx.Request) -> httpx.Response:
            try:
                await request.aread()
            except BaseException as error:
                failures.append(error)
                raise
            return httpx.Response(200)

        class Leaving(Client):
            async def receive(self) -> dict[str, Any]:
                self.received += 1
                if self.received < 3:
                    return {"type": "http.request", "body": b"x", "more_body": True}
                return {"type": "http.disconnect"}

        client = Leaving()
        await app_of(Upstream(respond))(post(), client.receive, client.send)
        assert failures

    run(main)


def test_an_upload_that_is_too_large_for_the_app(run: Any) -> None:
    async def main() -> None:
        app = Kit(limits=Limits(max_body_size_bytes=100))
        app.all("*", reverse_proxy("http://backend", client=Upstream().client))
        client = Client(b"x" * 60, b"x" * 60, b"")
        client.wants_more.set()
        client.leave()
        await app(post(), client.receive, client.send)
        assert client.sent[0]["status"] == 413

    run(main)


def test_total_timeout_before_the_response(run: Any) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        await anyio.sleep_forever()
        raise AssertionError

    async def main() -> None:
        response = await app_of(Upstream(respond), total_timeout=0.01).request("/")
        assert response.status == 504

    run(main)


def test_total_timeout_before_the_first_chunk(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        client = Client()  # neither sends nor leaves
        client.wants_more.set()
        await app_of(upstream, total_timeout=0.01)(post(), client.receive, client.send)
        assert client.sent[0]["status"] == 504
        assert upstream.requests == []

    run(main)


def test_total_timeout_within_the_body(run: Any) -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"first"
        await anyio.sleep_forever()

    async def main() -> None:
        chunks = Chunks(slow())

        async def respond(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, stream=chunks)

        response = await app_of(Upstream(respond), total_timeout=0.05).request("/")
        assert response.status == 200
        with pytest.raises(TimeoutError):
            await response.bytes()
        assert chunks.is_closed

    run(main)


def test_a_body_that_breaks_off_breaks_off_for_the_client(run: Any) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"first"
        raise httpx.ReadError("reset")

    async def main() -> None:
        chunks = Chunks(broken())

        async def respond(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, stream=chunks)

        client = Client(b"")
        client.wants_more.set()
        with pytest.raises(httpx.ReadError):  # the server then closes the connection
            await app_of(Upstream(respond))(http_scope(), client.receive, client.send)
        assert client.body == b"first"
        assert client.sent[-1].get("more_body") is True
        assert chunks.is_closed

    run(main)


def test_a_response_that_nobody_reads_is_closed(run: Any) -> None:
    async def never() -> AsyncIterator[bytes]:
        yield b"first"

    async def main() -> None:
        for method, status in (("HEAD", 200), ("GET", 304)):
            chunks = Chunks(never())

            async def respond(
                request: httpx.Request, chunks: Chunks = chunks, status: int = status
            ) -> httpx.Response:
                return httpx.Response(status, stream=chunks)

            await app_of(Upstream(respond)).request("/", method=method)
            assert chunks.is_closed

    run(main)


def test_timeouts_reach_the_client(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        await app_of(upstream, connect_timeout=1, read_timeout=None).request("/")
        timeout = upstream.last.extensions["timeout"]
        assert timeout == {"connect": 1, "pool": 1, "read": None, "write": None}

    run(main)
