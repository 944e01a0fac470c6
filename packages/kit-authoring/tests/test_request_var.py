# SPDX-License-Identifier: MIT
"""Context variables that belong to a request; on asyncio and on trio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import anyio.from_thread
import pytest

from kit import Context, Kit, Next, Response, in_thread
from kit.authoring.request_var import RequestVar
from kit.streaming import StreamingApi, stream

LIMIT_S = 30.0


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function; a test that takes it runs once on each event loop."""

    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                return await function(*args)

        return anyio.run(bounded, backend=request.param)

    return run


path: RequestVar[str] = RequestVar("path")


def storing(c: Context, next: Next) -> Awaitable[None]:
    return path.run(c.req.path, c, next)


async def chunks(trace: list[str] | None = None) -> AsyncIterator[str]:
    try:
        yield f"{path.get()} "
        await anyio.lowlevel.checkpoint()
        yield f"{path.get()}"
    finally:
        if trace is not None:
            trace.append(f"closed {path.get()}")


def make_app() -> Kit:
    app = Kit().use(storing)
    app.get("/text", lambda c: c.text(str(path.get())))
    app.get("/generator", lambda c: c.body(chunks()))
    app.get("/plain", lambda c: c.body(f"{path.get()} " for _ in range(2)))

    @app.get("/callback")
    def callback(c: Context) -> Response:
        async def write(api: StreamingApi) -> None:
            await api.write(f"{path.get()} ")
            await anyio.lowlevel.checkpoint()
            await api.write(f"{path.get()}")

        return stream(c, write)

    @app.get("/thread")
    @in_thread
    def thread(c: Context) -> Response:
        return c.text(str(path.get()))

    @app.get("/task")
    async def task(c: Context) -> Response:
        found: list[str | None] = []

        async def look() -> None:
            found.append(path.get())

        async with anyio.create_task_group() as group:
            group.start_soon(look)
        return c.text(f"{found[0]}")

    return app


async def serve(app: Kit, path: str, **scope: Any) -> tuple[dict[str, Any], str]:
    """Serves a request in this task; returns the first message, and the body."""
    sent: list[dict[str, Any]] = []
    messages = [{"type": "http.request"}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    http = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
    await app({**http, "raw_path": path.encode(), "root_path": "", **scope}, receive, send)
    return sent[0], b"".join(message["body"] for message in sent[1:]).decode()


PATHS = ["/text", "/generator", "/plain", "/callback", "/thread", "/task"]


@pytest.mark.parametrize("where", PATHS)
def test_everything_that_a_request_runs_finds_its_value(run: Any, where: str) -> None:
    async def in_process() -> str:
        return await (await make_app().request(where)).text()

    async def served() -> str:
        return (await serve(make_app(), where))[1]

    for ask in (in_process, served):
        assert {*run(ask).split()} == {where}


@pytest.mark.parametrize("where", PATHS)
def test_the_caller_in_process_gets_its_own_back(run: Any, where: str) -> None:
    async def main() -> None:
        app = make_app()
        response = await app.request(where)
        assert path.get() is None
        await response.text()
        assert path.get() is None

    run(main)


def test_requests_side_by_side(run: Any) -> None:
    async def main() -> None:
        app = Kit().use(storing)
        both = anyio.Event()
        begun: list[str] = []

        @app.get("/:name")
        async def handler(c: Context) -> Response:
            begun.append(c.req.path)
            if len(begun) == 2:
                both.set()
            await both.wait()
            return c.text(str(path.get()))

        async def ask(where: str) -> None:
            assert await (await app.request(where)).text() == where

        async with anyio.create_task_group() as group:
            group.start_soon(ask, "/a")
            group.start_soon(ask, "/b")

    run(main)


@pytest.mark.parametrize("where", ["/generator", "/callback"])
def test_a_request_within_a_request(run: Any, where: str) -> None:
    app = Kit().use(storing)
    inner = make_app()
    seen: list[str | None] = []

    @app.get("/outer")
    async def outer(c: Context) -> Response:
        response = await inner.fetch(c.req.raw.replace(url=f"http://localhost{where}"))
        seen.append(path.get())
        return response

    async def main() -> None:
        head, body = await serve(app, "/outer")
        assert (head["status"], {*body.split()}) == (200, {where})

    run(main)
    assert seen == ["/outer"]


def test_a_served_request_keeps_it_for_what_the_server_does_afterwards(run: Any) -> None:
    async def main() -> None:
        app = make_app()
        await serve(app, "/text")
        assert path.get() == "/text"
        # A server may begin the next request of a connection in the task of the one before.
        assert {*(await serve(app, "/generator"))[1].split()} == {"/generator"}
        assert path.get() == "/generator"

    run(main)


def test_work_after_the_response(run: Any) -> None:
    found: list[str | None] = []

    async def work() -> None:
        found.append(path.get())

    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work())
        return c.text("x")

    inner = Kit().use(storing)
    inner.get("/inner", handler)
    app = Kit().use(storing)
    app.get("/outer", handler)

    @app.get("/both")
    async def both(c: Context) -> Response:
        request = c.req.raw.replace(url="http://localhost/inner")
        return await inner.fetch(request, None, c.execution_ctx)

    run(serve, app, "/outer")
    run(serve, app, "/both")
    assert found == ["/outer", "/inner"]


def test_a_streamed_body_keeps_its_headers_and_is_closed(run: Any) -> None:
    trace: list[str] = []
    app = Kit().use(storing)
    headers = {"content-length": "20", "etag": '"x"', "content-type": "a/b"}
    app.get("/x", lambda c: c.body(chunks(trace), 201, headers))

    async def main() -> None:
        response = await app.request("/x")
        assert (response.status, dict(response.headers.items())) == (201, headers)
        body: Any = response.body
        assert await anext(body) == b"/x "
        await body.aclose()
        unread = await app.request("/x", method="HEAD")
        assert dict(unread.headers.items()) == headers

    run(main)
    assert trace == ["closed /x"]


def test_a_cancelled_request_leaves_nothing(run: Any) -> None:
    app = Kit().use(storing)
    scopes: list[anyio.CancelScope] = []

    @app.get("/")
    async def handler(c: Context) -> Response:
        scopes[0].cancel()
        await anyio.sleep_forever()
        return c.text("never")

    async def main() -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await app.request("/")
        assert scope.cancelled_caught
        assert path.get() is None

    run(main)


def test_a_fault_after_the_response(run: Any) -> None:
    app = make_app()

    @app.get("/fault")
    def fault(c: Context) -> Response:
        raise ValueError(path.get())

    app.on_error(lambda error, c: c.text(f"{error} {path.get()}", 500))

    async def main() -> None:
        assert await (await app.request("/fault")).text() == "/fault /fault"
        assert path.get() is None

    run(main)
