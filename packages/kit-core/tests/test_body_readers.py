# SPDX-License-Identifier: MIT
"""Tasks that read the body of one request at the same time, and are cancelled; asyncio and trio."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import File, HTTPException, KitRequest, Limits, Request
from kit.request import clone_raw_request
from kit.web import _multipart
from kit.web._received import ReceivedBody

MULTIPART = "multipart/form-data; boundary=XX"
URLENCODED = "application/x-www-form-urlencoded"
FORM = (
    b'--XX\r\nContent-Disposition: form-data; name="f"; filename="n"\r\n\r\n' + b"x" * 50,
    b"y" * 50,
    b"\r\n--XX--\r\n",
)


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function within 5 seconds; what was dropped is then collected."""

    def run(function: Any, *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(5):
                result = await function(*args)
            gc.collect()  # under trio, a generator dropped half-way is a ResourceWarning
            await checkpoint()
            return result

        return anyio.run(bounded, backend=request.param)

    return run


class Body:
    """A body whose chunks come when the test says so.

    Args:
        chunks: The chunks; an exception is raised in its place.
    """

    def __init__(self, *chunks: bytes | Exception) -> None:
        self.waiting = list(chunks)
        self.trace: list[str] = []
        self.free = anyio.Semaphore(0)

    def let(self, count: int) -> None:
        for _ in range(count):
            self.free.release()

    async def _next(self) -> bytes:
        await self.free.acquire()
        chunk = self.waiting[0]
        if isinstance(chunk, Exception):
            raise chunk
        del self.waiting[0]
        return chunk

    async def generate(self) -> AsyncIterator[bytes]:
        try:
            while self.waiting:
                yield await self._next()
        finally:
            self.trace.append("closed")

    async def receive(self) -> dict[str, Any]:
        if not self.waiting:
            await anyio.sleep_forever()
        return {
            "type": "http.request",
            "body": await self._next(),
            "more_body": bool(self.waiting),
        }

    def request(self, how: str, kind: str) -> KitRequest:
        if how == "streamed":
            headers = {"content-type": kind}
            body = self.generate()
            return KitRequest(Request("http://x/", method="POST", headers=headers, body=body))
        scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/", "raw_path": b"/"}
        scope |= {"query_string": b"", "headers": [(b"content-type", kind.encode())]}
        req = KitRequest(Request._from_scope(scope, self.receive))
        if how == "cloned":
            self.other = req.raw.clone()
        return req


HOW = pytest.mark.parametrize("how", ["streamed", "served", "cloned"])
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


@HOW
@KIND
@pytest.mark.parametrize("cancelled", [0, 1, 2])
def test_one_of_three_is_cancelled(
    run: Any, how: str, kind: str, chunks: Any, expected: Any, cancelled: int
) -> None:
    async def main() -> None:
        body = Body(*chunks)
        req = body.request(how, kind)
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
        req._close()

    run(main)


@HOW
@KIND
def test_the_reader_is_cancelled_before_another_asks(
    run: Any, how: str, kind: str, chunks: Any, expected: Any
) -> None:
    """Another reads on, unless the body is a generator, which ends when it is cancelled."""

    async def main() -> None:
        body = Body(*chunks)
        req = body.request(how, kind)
        async with anyio.create_task_group() as group:
            reading = Reading(group, req)
            body.let(2)
            await turns()
            reading.scope.cancel()
        assert reading.result == "cancelled"
        body.let(1)
        if how == "streamed":
            text = r"^The body is lost: the task that read it was cancelled$"
            for ask in (req.bytes, lambda: read(req), lambda: clone_raw_request(req)):
                with pytest.raises(TypeError, match=text):
                    await ask()
            assert body.trace == ["closed"]
        elif kind == MULTIPART:
            clone = await clone_raw_request(req)
            assert await read(req) == expected
            assert await read(KitRequest(clone)) == expected
        else:
            assert not req.raw.body_used
            clone = await clone_raw_request(req)
            assert await read(req) == expected
            assert await clone.bytes() == b"".join(chunks)
        if how == "cloned":
            assert await self_of(body) == b"".join(chunks)

    async def self_of(body: Body) -> bytes:
        return await body.other.bytes()

    run(main)


@HOW
@pytest.mark.parametrize("cancelled", [0, 1])
def test_a_form_that_comes_in_one_piece(run: Any, how: str, cancelled: int) -> None:
    async def main() -> None:
        body = Body(b"".join(FORM))
        req = body.request(how, MULTIPART)
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
def test_all_are_cancelled_together(run: Any, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[Any] = []
    make = tempfile.TemporaryFile

    def watched(*args: Any, **kwargs: Any) -> Any:
        files.append(make(*args, **kwargs))
        return files[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", watched)
    monkeypatch.setattr(_multipart, "_WRITE_BYTES", 1)

    async def main() -> None:
        body = Body(*FORM)
        req = body.request(how, MULTIPART)
        req._limits = Limits(spool_size_bytes=10)
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
            req._close()
        assert [file.closed for file in files] == [True]

    run(main)


@HOW
@KIND
def test_what_the_reader_meets_all_meet(
    run: Any, how: str, kind: str, chunks: Any, expected: Any
) -> None:
    async def main() -> None:
        body = Body(chunks[0], ConnectionError("gone"))
        req = body.request(how, kind)
        body.let(5)
        async with anyio.create_task_group() as group:
            readings = [Reading(group, req) for _ in range(2)]
        for reading in readings:
            assert isinstance(reading.result, ConnectionError), reading.result
        with pytest.raises(ConnectionError, match="gone"):
            await read(req)

    run(main)


@HOW
def test_too_large_for_all(run: Any, how: str) -> None:
    async def main() -> None:
        body = Body(b"123", b"456", b"7")
        req = body.request(how, "text/plain")
        req._limits = Limits(max_body_size_bytes=5)
        body.let(3)
        async with anyio.create_task_group() as group:
            readings = [Reading(group, req, KitRequest.text), Reading(group, req)]
        for reading in readings:
            assert isinstance(reading.result, HTTPException)
            assert reading.result.status == 413
        with pytest.raises(HTTPException, match="413"):
            await clone_raw_request(req)

    run(main)


@HOW
def test_different_readers_at_once(run: Any, how: str) -> None:
    async def main() -> None:
        body = Body(b"a=", b"1")
        req = body.request(how, URLENCODED)
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
def test_it_can_not_be_cloned_while_it_is_read(run: Any, how: str) -> None:
    async def main() -> None:
        body = Body(b"a", b"b")
        req = body.request(how, "text/plain")
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


class Server:
    """Messages of a server, one for each time it is let go on."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.free = anyio.Semaphore(0)
        self.asked = 0

    async def receive(self) -> dict[str, Any]:
        self.asked += 1
        await self.free.acquire()
        return self.messages.pop(0)


EMPTY = {"type": "http.request", "body": b"", "more_body": False}
GONE = {"type": "http.disconnect"}


class Waiter:
    """A task that waits for the client to leave, which can be cancelled."""

    def __init__(self, group: Any, body: ReceivedBody) -> None:
        self.scope = anyio.CancelScope()
        self.result: bool | None = None
        self._body = body
        group.start_soon(self._run)

    async def _run(self) -> None:
        with self.scope:
            self.result = await self._body.wait_for_disconnect()


@pytest.mark.parametrize("cancelled", [0, 1])
def test_one_of_two_that_wait_for_the_end_is_cancelled(run: Any, cancelled: int) -> None:
    async def main() -> None:
        server = Server(EMPTY, GONE)
        body = ReceivedBody(server.receive)
        server.free.release()
        assert await body.read() == b""
        async with anyio.create_task_group() as group:
            waiters = [Waiter(group, body) for _ in range(2)]
            await turns()
            waiters[cancelled].scope.cancel()
            await turns()
            other = waiters[1 - cancelled]
            assert (waiters[cancelled].result, other.result) == (None, None)
            server.free.release()
        assert other.result is True

    run(main)


def test_two_wait_where_the_server_gives_other_messages(run: Any) -> None:
    """A server that gives the empty end again and again can't be waited for, by neither."""

    async def main() -> None:
        server = Server(EMPTY, EMPTY, EMPTY, EMPTY)
        body = ReceivedBody(server.receive)
        for _ in range(4):
            server.free.release()
        await body.read()
        async with anyio.create_task_group() as group:
            waiters = [Waiter(group, body) for _ in range(2)]
        assert [waiter.result for waiter in waiters] == [False, False]
        assert server.asked == 3

    run(main)


def test_two_wait_while_the_body_is_read(run: Any) -> None:
    async def main() -> None:
        more = {"type": "http.request", "body": b"a", "more_body": True}
        server = Server(more, more, EMPTY, GONE)
        body = ReceivedBody(server.receive)
        read: list[bytes] = []

        async def read_body() -> None:
            read.append(await body.read())

        async with anyio.create_task_group() as group:
            first, second = Waiter(group, body), Waiter(group, body)
            group.start_soon(read_body)
            for _ in range(2):
                await turns()
                server.free.release()
            await turns()
            first.scope.cancel()
            await turns()
            assert (first.result, second.result, read) == (None, None, [])
            server.free.release()
            await turns()
            assert (second.result, read) == (None, [b"aa"])
            server.free.release()
        assert second.result is True

    run(main)
