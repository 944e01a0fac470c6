# SPDX-License-Identifier: MIT
"""What happens to handlers whose client leaves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import Context, HTTPException, Kit, Next, Response
from kit.interface import plugins
from kit.timeout import cancel_on_disconnect, timeout

LONG_S = 20.0
SHORT_S = 0.01
LEFT = "The client disconnected; the handlers of its request were cancelled"


class Client:
    """A client, and the server between it and the app.

    Args:
        app: The app.
        chunks: The body of the request.

    Attributes:
        sent: The messages that the app sent.
        received: How many messages of the body the app took.
    """

    def __init__(self, app: Any, chunks: list[bytes] | None = None) -> None:
        self.app = app
        self.chunks = [b""] if chunks is None else chunks
        self.sent: list[dict[str, Any]] = []
        self.received = 0
        self._left = anyio.Event()
        self._complete = anyio.Event()
        self._receiving = False

    def leave(self) -> None:
        self._left.set()

    async def play(self) -> None:
        scope = {
            "type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [],
        }  # fmt: skip
        await self.app(scope, self._receive, self._send)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent[1:])

    async def _receive(self) -> dict[str, Any]:
        assert not self._receiving, "receive() was called twice at once"
        self._receiving = True
        try:
            await checkpoint()
            if self.received < len(self.chunks):
                self.received += 1
                chunk = self.chunks[self.received - 1]
                more = self.received < len(self.chunks)
                return {"type": "http.request", "body": chunk, "more_body": more}
            async with anyio.create_task_group() as group:
                for event in (self._left, self._complete):
                    group.start_soon(self._end_with, event, group.cancel_scope)
            return {"type": "http.disconnect"}
        finally:
            self._receiving = False

    async def _end_with(self, event: anyio.Event, scope: anyio.CancelScope) -> None:
        await event.wait()
        scope.cancel()

    async def _send(self, message: dict[str, Any]) -> None:
        await checkpoint()
        self.sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._complete.set()


def app_with(handler: Any, *before: Any) -> Kit:
    app = Kit()
    app.post("/", *before, cancel_on_disconnect(), handler)
    return app


async def computing(c: Context) -> Response:
    await anyio.sleep_forever()
    raise AssertionError


async def play_and_leave(app: Kit, running: anyio.Event, **options: Any) -> Client:
    """Serves a request whose client leaves once the handler says that it is running."""
    client = Client(app, **options)
    async with anyio.create_task_group() as group:
        group.start_soon(client.play)
        await running.wait()
        client.leave()
    return client


# --- a client that leaves ------------------------------------------------------------------------


def test_the_handler_is_cancelled(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    steps: list[str] = []

    async def main() -> Client:
        running = anyio.Event()

        async def handler(c: Context) -> Response:
            try:
                running.set()
                return await computing(c)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(0)
                    steps.append("finally")

        async def outer(c: Context, next: Next) -> None:
            await next()
            steps.append(f"saw {c.res.status}")

        return await play_and_leave(app_with(handler, outer), running)

    with caplog.at_level(logging.DEBUG, logger="kit"):
        assert run(main).status == 499
    assert steps == ["finally", "saw 499"]
    records = [record for record in caplog.records if record.name.startswith("kit")]
    assert [(record.levelno, record.getMessage()) for record in records] == [(logging.DEBUG, LEFT)]


def test_clean_up_may_await_on_asyncio() -> None:
    steps: list[str] = []

    async def main() -> Client:
        running = anyio.Event()

        async def handler(c: Context) -> Response:
            try:
                running.set()
                return await computing(c)
            finally:
                for _ in range(3):
                    await anyio.sleep(0.001)
                steps.append("rolled back")

        return await play_and_leave(app_with(handler), running)

    assert asyncio.run(main()).status == 499
    assert steps == ["rolled back"]


def test_work_for_later_is_done(run: Callable[..., Any]) -> None:
    steps: list[str] = []

    async def later() -> None:
        await anyio.sleep(0)
        steps.append("later")

    async def main() -> Client:
        running = anyio.Event()

        async def handler(c: Context) -> Response:
            c.execution_ctx.wait_until(later())
            running.set()
            return await computing(c)

        return await play_and_leave(app_with(handler), running)

    assert run(main).status == 499
    assert steps == ["later"]


def test_what_it_shields_is_done(run: Callable[..., Any]) -> None:
    steps: list[str] = []

    async def main() -> Client:
        running = anyio.Event()

        async def handler(c: Context) -> Response:
            with anyio.CancelScope(shield=True):
                running.set()
                for _ in range(20):
                    await checkpoint()
                steps.append("saved")
            return await computing(c)

        return await play_and_leave(app_with(handler), running)

    assert run(main).status == 499
    assert steps == ["saved"]


def test_an_answer_that_comes_all_the_same_stands(run: Callable[..., Any]) -> None:
    async def main() -> Client:
        running = anyio.Event()

        async def handler(c: Context) -> Response:
            running.set()
            try:
                await anyio.sleep_forever()
            except BaseException:
                return c.text("saved", 202)
            raise AssertionError

        return await play_and_leave(app_with(handler), running)

    assert run(main).status == 202


def test_without_it_the_handler_goes_on(run: Callable[..., Any]) -> None:
    async def main() -> Client:
        running, may_end = anyio.Event(), anyio.Event()
        app = Kit()

        @app.post("/")
        async def handler(c: Context) -> Response:
            running.set()
            await may_end.wait()
            return c.text("done")

        client = Client(app)
        async with anyio.create_task_group() as group:
            group.start_soon(client.play)
            await running.wait()
            client.leave()
            for _ in range(20):
                await checkpoint()
            # Nobody asked the server whether the client is there.
            assert client.received == 0
            may_end.set()
        return client

    assert run(main).status == 200


def test_a_client_that_leaves_while_its_body_is_read(run: Callable[..., Any]) -> None:
    async def main() -> int:
        running = anyio.Event()

        async def receive() -> dict[str, Any]:
            if not running.is_set():
                running.set()
                return {"type": "http.request", "body": b"a", "more_body": True}
            await checkpoint()
            return {"type": "http.disconnect"}

        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        async def handler(c: Context) -> Response:
            await c.req.text()
            raise AssertionError

        scope = {
            "type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [],
        }  # fmt: skip
        await app_with(handler)(scope, receive, send)
        return int(sent[0]["status"])

    # Either the reader hears of it first, or the one that watches.
    assert run(main) in (400, 499)


# --- a client that stays -------------------------------------------------------------------------


async def waits(c: Context) -> Response:
    for _ in range(10):
        await checkpoint()
    return c.text("done")


def plain(c: Context) -> Response:
    return c.text("done")


async def fails(c: Context) -> Response:
    await checkpoint()
    raise HTTPException(418, "teapot")


@pytest.mark.parametrize(
    ("handler", "expected"),
    [(waits, (200, b"done")), (plain, (200, b"done")), (fails, (418, b"teapot"))],
)
def test_a_client_that_stays(
    run: Callable[..., Any], handler: Any, expected: tuple[int, bytes]
) -> None:
    async def main() -> tuple[int, bytes]:
        client = Client(app_with(handler))
        await client.play()
        return client.status, client.body

    assert run(main) == expected


@pytest.mark.parametrize("waits_first", [False, True])
@pytest.mark.parametrize("chunks", [[b"abc"], [b"a", b"", b"b", b"c"], [b"x" * 50_000] * 9])
@pytest.mark.parametrize("reader", ["text", "bytes", "raw"])
def test_the_body_can_be_read(
    run: Callable[..., Any], reader: str, chunks: list[bytes], waits_first: bool
) -> None:
    async def handler(c: Context) -> Response:
        if waits_first:
            await waits(c)
        if reader == "text":
            return c.text(await c.req.text())
        if reader == "bytes":
            return c.body(await c.req.bytes())
        body: Any = c.req.raw.body
        found = b""
        async for chunk in body:
            found += chunk
            await checkpoint()
        return c.body(found)

    async def main() -> tuple[int, bytes]:
        client = Client(app_with(handler), chunks)
        await client.play()
        return client.status, client.body

    assert run(main) == (200, b"".join(chunks))


def test_much_of_a_body_is_not_taken_before_it_is_read(run: Callable[..., Any]) -> None:
    async def main() -> None:
        client = Client(None, [b"x" * 30_000] * 20)

        async def handler(c: Context) -> Response:
            for _ in range(100):
                await checkpoint()
            assert client.received == 3
            return c.json(len(await c.req.bytes()))

        client.app = app_with(handler)
        await client.play()
        assert (client.status, client.body) == (200, b"600000")

    run(main)


def test_a_streamed_answer(run: Callable[..., Any]) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for number in range(5):
            await checkpoint()
            yield str(number).encode()

    async def handler(c: Context) -> Response:
        await checkpoint()
        return c.body(chunks())

    async def main() -> tuple[int, bytes]:
        client = Client(app_with(handler))
        await client.play()
        return client.status, client.body

    assert run(main) == (200, b"01234")


def test_a_request_made_in_process(run: Callable[..., Any]) -> None:
    async def main() -> tuple[int, str]:
        response = await app_with(waits).request("/", method="POST", body="x")
        return response.status, await response.text()

    assert run(main) == (200, "done")


# --- errors and other cancellations --------------------------------------------------------------


def test_an_error_of_what_is_behind(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def nothing(c: Context) -> Any:
        await checkpoint()
        return None

    async def main() -> int:
        app = Kit()
        app.use(cancel_on_disconnect())
        app.not_found(nothing)  # so that next() itself raises
        client = Client(app)
        await client.play()
        return client.status

    assert run(main) == 500
    assert "returned nothing: return a Response" in caplog.text
    assert "ExceptionGroup" not in caplog.text


def test_an_error_of_the_server(run: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> int:
        async def receive() -> dict[str, Any]:
            await checkpoint()
            raise OSError("no connection")

        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [],
        }  # fmt: skip
        await app_with(computing)(scope, receive, send)
        return int(sent[0]["status"])

    assert run(main) == 500
    assert "OSError: no connection" in caplog.text
    assert "ExceptionGroup" not in caplog.text


def test_with_a_timeout(run: Callable[..., Any]) -> None:
    async def late(*middleware: Any) -> int:
        app = Kit()
        app.post("/", *middleware, computing)
        client = Client(app)
        await client.play()
        return client.status

    async def gone(*middleware: Any) -> int:
        running = anyio.Event()

        async def handler(c: Context) -> Response:
            running.set()
            return await computing(c)

        app = Kit()
        app.post("/", *middleware, handler)
        return (await play_and_leave(app, running)).status

    assert run(late, timeout(SHORT_S), cancel_on_disconnect()) == 504
    assert run(late, cancel_on_disconnect(), timeout(SHORT_S)) == 504
    assert run(gone, timeout(LONG_S), cancel_on_disconnect()) == 499
    assert run(gone, cancel_on_disconnect(), timeout(LONG_S)) == 499
    assert run(gone, cancel_on_disconnect(), cancel_on_disconnect()) == 499


def test_a_cancellation_from_outside_stays_one(run: Callable[..., Any]) -> None:
    async def main() -> None:
        running = anyio.Event()

        async def handler(c: Context) -> Response:
            running.set()
            return await computing(c)

        client = Client(app_with(handler))
        async with anyio.create_task_group() as group:
            group.start_soon(client.play)
            await running.wait()
            group.cancel_scope.cancel()
        assert group.cancel_scope.cancelled_caught
        assert client.sent == []

    run(main)


def test_a_cancelled_task_of_asyncio() -> None:
    async def main() -> None:
        running = asyncio.Event()

        async def handler(c: Context) -> Response:
            running.set()
            return await computing(c)

        client = Client(app_with(handler))
        task = asyncio.create_task(client.play())
        async with asyncio.timeout(LONG_S):
            await running.wait()
            task.cancel()
            await asyncio.wait([task])
        assert task.cancelled()
        assert client.sent == []

    asyncio.run(main())


# --- creation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        ((True,), {}, "cancel_on_disconnect() takes 0 positional arguments but 1 was given"),
        ((5,), {}, "cancel_on_disconnect() takes 0 positional arguments but 1 was given"),
        ((), {"status": 499}, "cancel_on_disconnect() got an unexpected keyword argument"),
        ((), {"seconds": 5}, "cancel_on_disconnect() got an unexpected keyword argument"),
        ((plain, computing), {}, "takes 0 positional arguments but 2 were given"),
    ],
)
def test_wrong_calls(arguments: tuple[Any, ...], options: dict[str, Any], text: str) -> None:
    with pytest.raises(TypeError) as raised:
        cancel_on_disconnect(*arguments, **options)
    assert text in str(raised.value)


def test_name() -> None:
    middleware: Any = cancel_on_disconnect()
    assert middleware.__name__ == "cancel_on_disconnect"
    assert plugins.load("kit.middleware", "cancel-on-disconnect") is cancel_on_disconnect
