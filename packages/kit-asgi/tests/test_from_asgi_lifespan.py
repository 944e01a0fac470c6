# SPDX-License-Identifier: MIT
"""`from_asgi`: lifespans, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kit import Kit, Request
from kit.asgi import from_asgi

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]

START: dict[str, Any] = {"type": "http.response.start", "status": 200, "headers": []}
END: dict[str, Any] = {"type": "http.response.body"}


# --- lifespans ---------------------------------------------------------------------------------


class Living:
    """An application with a lifespan, which writes down what happens."""

    def __init__(self, name: str, events: list[str], fail_at: str = "") -> None:
        self.name = name
        self.events = events
        self.fail_at = fail_at

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            scope["state"]["name"] = self.name
            for event in ("startup", "shutdown"):
                assert await receive() == {"type": f"lifespan.{event}"}
                self.events.append(f"{self.name} {event}")
                if event == self.fail_at:
                    await send({"type": f"lifespan.{event}.failed", "message": "out of order"})
                    raise LookupError(event)
                await send({"type": f"lifespan.{event}.complete"})
            return
        await send(START)
        await send({**END, "body": scope["state"].get("name", "not started").encode()})
        scope["state"]["name"] = "changed"


def test_lifespans_nest_and_give_their_state(run: Any) -> None:
    @asynccontextmanager
    async def own(app: Kit) -> AsyncIterator[dict[str, str]]:
        events.append("own startup")
        yield {"own": "binding"}
        events.append("own shutdown")

    async def main() -> None:
        handler = from_asgi(Living("a", events))
        kit = Kit(lifespan=own).mount("/a", handler).mount("/b", from_asgi(Living("b", events)))
        kit.mount("/again", handler)
        assert await (await kit.request("/a")).text() == "not started"
        async with kit.running():
            for path in ("/a", "/b", "/a", "/again"):
                name = path[1:].replace("again", "a")
                assert await (await kit.request(path)).text() == name
        assert await (await kit.request("/a")).text() == "not started"

    events: list[str] = []
    run(main)
    assert events == [
        *("own startup", "a startup", "b startup"),
        *("b shutdown", "a shutdown", "own shutdown"),
    ]


def test_kit_in_kit(run: Any) -> None:
    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[dict[str, str]]:
        yield {"name": "inner"}

    async def main() -> str:
        inner = Kit(lifespan=lifespan).get("/a", lambda c: c.text(c.env["name"]))
        kit = Kit().mount("/m", from_asgi(inner))
        async with kit.running():
            return await (await kit.request("/m/a")).text()

    assert run(main) == "inner"


def test_startup_that_fails(run: Any) -> None:
    async def main() -> None:
        kit = Kit().mount("/a", from_asgi(Living("a", events)))
        kit.mount("/b", from_asgi(Living("b", events, "startup")))
        with pytest.raises(RuntimeError, match=r"Living failed at startup: out of order$") as info:
            async with kit.running():
                pytest.fail("it runs")
        assert isinstance(info.value.__cause__, LookupError)

    events: list[str] = []
    run(main)
    assert events == ["a startup", "b startup", "a shutdown"]


def test_shutdown_that_fails(run: Any) -> None:
    async def main() -> None:
        kit = Kit().mount("/a", from_asgi(Living("a", events)))
        kit.mount("/b", from_asgi(Living("b", events, "shutdown")))
        with pytest.raises(RuntimeError, match=r"Living failed at shutdown: out of order$"):
            async with kit.running():
                pass

    events: list[str] = []
    run(main)
    assert events == ["a startup", "b startup", "b shutdown", "a shutdown"]


@pytest.mark.parametrize("way", ["raises", "returns", "raises late", "raises later"])
def test_applications_without_a_lifespan(
    run: Any, caplog: pytest.LogCaptureFixture, way: str
) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            if way == "raises":
                raise ValueError("no lifespan")
            if way == "raises late":
                await receive()
                raise ValueError("broken")
            if way == "raises later":
                await receive()
                await send({"type": "lifespan.startup.complete"})
                raise ValueError("broken")
            return
        await send(START)
        await send({**END, "body": b"works"})

    async def main() -> None:
        kit = Kit().mount("/m", from_asgi(app))
        async with kit.running():
            await anyio.wait_all_tasks_blocked()
            assert await (await kit.request("/m")).text() == "works"

    run(main)
    levels = [record.levelname for record in caplog.records]
    # One that has begun and broke is no different to a server, but its author wants to know.
    assert levels == {"raises late": ["WARNING"], "raises later": ["ERROR"]}.get(way, [])


def test_lifespan_that_starts_in_one_task_and_ends_in_another(run: Any) -> None:
    """As in fixtures; a cancel scope must not be open in between."""

    async def main() -> None:
        manager = from_asgi(Living("a", events)).lifespan()
        async with anyio.create_task_group() as group:
            group.start_soon(manager.__aenter__)
        async with anyio.create_task_group() as group:
            group.start_soon(manager.__aexit__, None, None, None)

    events: list[str] = []
    run(main)
    assert events == ["a startup", "a shutdown"]


@pytest.mark.parametrize("stuck_at", ["startup", "shutdown"])
def test_lifespan_that_is_cancelled(run: Any, stuck_at: str) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        try:
            for event in ("startup", "shutdown"):
                await receive()
                if event == stuck_at:
                    outer.cancel()
                    await anyio.sleep_forever()
                await send({"type": f"lifespan.{event}.complete"})
        finally:
            ended.append(True)

    async def main() -> None:
        nonlocal outer
        with anyio.CancelScope() as outer:
            async with from_asgi(app).lifespan():
                assert stuck_at == "shutdown"
            pytest.fail("it was not cancelled")
        assert outer.cancelled_caught
        assert ended == [True]

    ended: list[bool] = []
    outer: Any = None
    run(main)


async def test_an_answer_that_is_none() -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        with pytest.raises(RuntimeError) as caught:
            await send({"type": "lifespan.shutdown.complete"})
        errors.append(str(caught.value))

    errors: list[str] = []
    async with from_asgi(app).lifespan():
        pass
    [text] = errors
    assert text.endswith(
        ") sent 'lifespan.shutdown.complete', which isn't a reply to a lifespan event"
    )


# --- what is refused ---------------------------------------------------------------------------


def plain(scope: Any, receive: Any, send: Any) -> None:
    pass


def wsgi(environ: Any, start_response: Any) -> list[bytes]:
    return []


def test_what_is_no_application() -> None:
    takes = "from_asgi() takes an ASGI 3 application (scope, receive, send), not "
    with pytest.raises(TypeError) as caught:
        from_asgi(1)  # type: ignore[arg-type]
    assert str(caught.value) == takes + "1"
    with pytest.raises(TypeError) as caught:
        from_asgi(wsgi)  # type: ignore[arg-type]
    assert str(caught.value) == (
        takes + "wsgi(environ: 'Any', start_response: 'Any') -> 'list[bytes]': "
        "use from_wsgi() for a WSGI application"
    )
    with pytest.raises(TypeError) as caught:
        from_asgi(Kit)  # type: ignore[arg-type]
    assert str(caught.value).startswith(takes + "Kit(*, strict: ")


def test_compiled_code_that_does_not_say_what_it_takes() -> None:
    handler = from_asgi(dict.update)  # type: ignore[arg-type]
    assert repr(handler) == "<AsgiHandler of ?.dict.update>"


async def test_what_looks_like_an_application() -> None:
    with pytest.raises(RuntimeError) as caught:
        await from_asgi(plain)(Request("http://x/"))  # type: ignore[arg-type]
    assert str(caught.value).endswith(
        ") gave NoneType, expected an awaitable: it must be an ASGI 3 application, "
        "async (scope, receive, send)"
    )


async def test_a_handler_in_the_wrong_place() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        pytest.fail("it is called")

    handler = from_asgi(app)
    with pytest.raises(TypeError) as caught:
        await handler("request")  # type: ignore[arg-type]
    assert str(caught.value).startswith(
        "The handler of test_a_handler_in_the_wrong_place.<locals>.app ("
    )
    assert str(caught.value).endswith(
        ") takes a Request, not str: give it to app.mount(path, handler)"
    )
    assert repr(handler).startswith("<AsgiHandler of test_a_handler_in_the_wrong_place.<locals>.")


def test_nothing_is_loaded_before_it_is_needed() -> None:
    program = """
import sys
import kit.asgi
handler = kit.asgi.from_asgi(kit.Kit())
print(sorted({"anyio", "asyncio", "a2wsgi"} & set(sys.modules)))
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"
