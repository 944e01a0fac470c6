# SPDX-License-Identifier: MIT
"""Tasks that read the body of one request at the same time, and are cancelled; asyncio and trio."""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import File, HTTPException, KitRequest, Limits, Request
from kit.request import clone_raw_request

MULTIPART = "multipart/form-data; boundary=XX"
URLENCODED = "application/x-www-form-urlencoded"
FORM = (
    b'--XX\r\nContent-Disposition: form-data; name="f"; filename="n"\r\n\r\n' + b"x" * 50,
    b"y" * 50,
    b"\r\n--XX--\r\n",
)
# Uploads are written to their temporary file once so much of them came.
WRITTEN_BYTES = 1024 * 1024


class Body:
    """A body whose chunks come when the test says so.

    Args:
        chunks: The chunks; an exception is raised in its place.
    """

    def __init__(self, *chunks: bytes | Exception) -> None:
        self.waiting = list(chunks)
        self.trace: list[str] = []
        self.free = anyio.Semaphore(0)
        self.other: Request | None = None

    def let(self, count: int) -> None:
        for _ in range(count):
            self.free.release()

    async def next(self) -> bytes:
        await self.free.acquire()
        chunk = self.waiting[0]
        if isinstance(chunk, Exception):
            raise chunk
        del self.waiting[0]
        return chunk

    async def generate(self) -> AsyncIterator[bytes]:
        try:
            while self.waiting:
                yield await self.next()
        finally:
            self.trace.append("closed")


@pytest.fixture
def open_request(held: Any, client: Any, preamble: bytes) -> Any:
    """Opens a request that is made in process, served, served as a large one, or cloned."""

    @asynccontextmanager
    async def open_request(
        body: Body, how: str, kind: str, limits: Limits = Limits()
    ) -> AsyncIterator[KitRequest]:
        if how == "streamed":
            headers = {"content-type": kind}
            chunks = body.generate()
            request = Request("http://x/", method="POST", headers=headers, body=chunks)
            async with held(request, limits=limits) as req:
                yield req
            return

        is_large = how == "served as large" and kind == MULTIPART
        first = [preamble] if is_large else []

        class Server(client):
            async def receive(self) -> dict[str, Any]:
                if first:
                    return {"type": "http.request", "body": first.pop(), "more_body": True}
                if not body.waiting:
                    await anyio.sleep_forever()
                chunk = await body.next()
                return {"type": "http.request", "body": chunk, "more_body": bool(body.waiting)}

        lines = [(b"content-type", kind.encode())]
        async with held(Server(), headers=lines, limits=limits) as req:
            if how == "cloned":
                body.other = req.raw.clone()
            yield req

    return open_request


RESUMABLE = pytest.mark.parametrize("how", ["served", "served as large", "cloned"])
HOW = pytest.mark.parametrize("how", ["served", "served as large", "cloned", "streamed"])
LOST = "The body is lost: the task that read it was cancelled"
KIND = pytest.mark.parametrize(
    ("kind", "chunks", "expected"),
    [
        pytest.param("text/plain", (b"a", b"b", b"c"), b"abc", id="bytes"),
        pytest.param(URLENCODED, (b"a=", b"1", b"2"), [("a", "12")], id="urlencoded"),
        pytest.param(MULTIPART, FORM, b"x" * 50 + b"y" * 50, id="multipart"),
    ],
)


async def read(req: KitRequest) -> Any:
    if req.header("content-type") == "text/plain":
        return await req.bytes()
    form = await req.form_data()
    file = form.get("f")
    return await file.bytes() if isinstance(file, File) else list(form)


async def turns(count: int = 20) -> None:
    """Lets other tasks run as far as they can."""
    for _ in range(count):
        await checkpoint()


class Reading:
    """A task that reads a request, which can be cancelled."""

    def __init__(self, group: Any, req: KitRequest, reader: Any = read) -> None:
        self.scope = anyio.CancelScope()
        self.result: Any = "cancelled"
        self._req = req
        self._reader = reader
        group.start_soon(self._run)

    async def _run(self) -> None:
        with self.scope:
            try:
                self.result = await self._reader(self._req)
            except Exception as error:
                self.result = error


@RESUMABLE
@KIND
@pytest.mark.parametrize("cancelled", [0, 1, 2])
def test_one_of_three_is_cancelled(
    run: Any, open_request: Any, how: str, kind: str, chunks: Any, expected: Any, cancelled: int
) -> None:
    async def main() -> None:
        body = Body(*chunks)
        async with open_request(body, how, kind) as req:
            async with anyio.create_task_group() as group:
                readings = [Reading(group, req) for _ in range(3)]
                body.let(2)
                await turns()
                readings[cancelled].scope.cancel()
                await turns()
                body.let(1)
            results = [reading.result for reading in readings]
            assert results.pop(cancelled) == "cancelled"
            assert results == [expected, expected]
            assert await read(req) == expected

    run(main)


@HOW
@KIND
def test_the_reader_is_cancelled_before_another_asks(
    run: Any, open_request: Any, how: str, kind: str, chunks: Any, expected: Any
) -> None:
    """Another reads on, unless the body is a generator, which ends when it is cancelled."""

    async def main() -> None:
        body = Body(*chunks)
        async with open_request(body, how, kind) as req:
            async with anyio.create_task_group() as group:
                reading = Reading(group, req)
                body.let(2)
                await turns()
                reading.scope.cancel()
            assert reading.result == "cancelled"
            body.let(1)
            if how == "streamed":
                for ask in (req.bytes, lambda: read(req), lambda: clone_raw_request(req)):
                    with pytest.raises(TypeError, match=f"^{LOST}$"):
                        await ask()
                assert body.trace == ["closed"]
                return
            clone = KitRequest(await clone_raw_request(req))
            assert await read(req) == await read(clone) == expected
            assert req.raw.body_used
            if how == "cloned":
                assert await self_of(body) == b"".join(chunks)

    async def self_of(body: Body) -> bytes:
        return await body.other.bytes()

    run(main)


@KIND
def test_the_body_is_lost_if_the_task_that_reads_a_generator_is_cancelled(
    run: Any, open_request: Any, kind: str, chunks: Any, expected: Any
) -> None:
    async def main() -> None:
        body = Body(*chunks)
        async with open_request(body, "streamed", kind) as req:
            async with anyio.create_task_group() as group:
                first = Reading(group, req)
                body.let(1)
                await turns()
                second = Reading(group, req)
                await turns()
                first.scope.cancel()
            assert isinstance(second.result, TypeError)
            assert str(second.result) == LOST

    run(main)


@RESUMABLE
@pytest.mark.parametrize("cancelled", [0, 1])
def test_a_form_that_comes_in_one_piece(
    run: Any, open_request: Any, how: str, cancelled: int
) -> None:
    async def main() -> None:
        body = Body(b"".join(FORM))
        async with open_request(body, how, MULTIPART) as req:
            async with anyio.create_task_group() as group:
                readings = [Reading(group, req) for _ in range(2)]
                await turns()
                readings[cancelled].scope.cancel()
                await turns()
                body.let(1)
            assert readings[cancelled].result == "cancelled"
            assert readings[1 - cancelled].result == b"x" * 50 + b"y" * 50
            if how == "served":  # there was no need to write it anew
                assert await req.bytes() == b"".join(FORM)

    run(main)


@HOW
def test_all_are_cancelled_together(
    run: Any, open_request: Any, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[Any] = []
    make = tempfile.TemporaryFile

    def watched(*args: Any, **kwargs: Any) -> Any:
        files.append(make(*args, **kwargs))
        return files[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", watched)

    async def main() -> None:
        body = Body(FORM[0], b"y" * WRITTEN_BYTES, FORM[2])
        async with open_request(body, how, MULTIPART, Limits(spool_size_bytes=10)) as req:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:
                    readings = [Reading(group, req) for _ in range(3)]
                    body.let(2)
                    while not files:
                        await anyio.sleep(0.001)
                    await turns()
                    scope.cancel()
            assert [reading.result for reading in readings] == ["cancelled"] * 3
            if how != "streamed":  # somebody may read on, as long as the request lasts
                assert [file.closed for file in files] == [False]
        assert [file.closed for file in files] == [True]

    run(main)


@HOW
@KIND
def test_what_the_reader_meets_all_meet(
    run: Any, open_request: Any, how: str, kind: str, chunks: Any, expected: Any
) -> None:
    async def main() -> None:
        body = Body(chunks[0], ConnectionError("gone"))
        async with open_request(body, how, kind) as req:
            body.let(5)
            async with anyio.create_task_group() as group:
                readings = [Reading(group, req) for _ in range(2)]
            for reading in readings:
                assert isinstance(reading.result, ConnectionError), reading.result
            with pytest.raises(ConnectionError, match="gone"):
                await read(req)

    run(main)


@HOW
def test_too_large_for_all(run: Any, open_request: Any, how: str) -> None:
    async def main() -> None:
        body = Body(b"123", b"456", b"7")
        limits = Limits(max_body_size_bytes=5)
        async with open_request(body, how, "text/plain", limits) as req:
            body.let(3)
            async with anyio.create_task_group() as group:
                readings = [Reading(group, req, KitRequest.text), Reading(group, req)]
            for reading in readings:
                assert isinstance(reading.result, HTTPException)
                assert reading.result.status == 413
            with pytest.raises(HTTPException, match="413"):
                await clone_raw_request(req)

    run(main)


@RESUMABLE
def test_different_readers_at_once(run: Any, open_request: Any, how: str) -> None:
    async def main() -> None:
        body = Body(b"a=", b"1")
        async with open_request(body, how, URLENCODED) as req:
            async with anyio.create_task_group() as group:
                readers: list[Any] = [KitRequest.parse_body, KitRequest.text, KitRequest.blob]
                readings = [Reading(group, req, reader) for reader in readers]
                await turns()
                readings[0].scope.cancel()
                body.let(2)
            assert readings[0].result == "cancelled"
            assert (readings[1].result, await readings[2].result.text()) == ("a=1", "a=1")
            assert await req.parse_body() == {"a": "1"}

    run(main)


@HOW
def test_it_can_not_be_cloned_while_it_is_read(run: Any, open_request: Any, how: str) -> None:
    async def main() -> None:
        body = Body(b"a", b"b")
        async with open_request(body, how, "text/plain") as req:
            async with anyio.create_task_group() as group:
                Reading(group, req)
                body.let(1)
                await turns()
                assert req.raw.body_used
                with pytest.raises(TypeError, match="its body was read, or is being read"):
                    req.raw.clone()
                body.let(1)
            assert await req.text() == "ab"

    run(main)


@pytest.mark.parametrize("reader", ["bytes", "form_data"])
async def test_a_body_that_a_server_loses_is_never_taken_for_whole(reader: str) -> None:
    """granian, whose `receive` is no Python function, drops what a cancelled task waits for."""
    loop = asyncio.get_running_loop()
    messages = [loop.create_future() for _ in range(3)]
    receive: Any = deque(messages).popleft
    headers = [(b"content-type", MULTIPART.encode())]
    req = KitRequest(None, scope={"type": "http", "headers": headers}, receive=receive)
    with anyio.move_on_after(0.01) as timeout:
        await getattr(req, reader)()
    assert timeout.cancelled_caught
    for message in messages[1:]:
        message.set_result({"type": "http.request", "body": b"", "more_body": False})
    for again in (req.bytes, req.form_data, req.text):
        with pytest.raises(TypeError, match="The body is lost"):
            await again()
