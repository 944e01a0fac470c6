# SPDX-License-Identifier: MIT
"""The lifespan: under ASGI and with running(), what it yields, and how it fails."""

from __future__ import annotations

import asyncio
from collections import UserDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.interface import MissingBindingError


class Server:
    """The server's side of the lifespan protocol."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.sent: list[dict[str, Any]] = []
        self.stop = anyio.Event()
        self.asked = 0
        self.raised: Exception | None = None

    async def receive(self) -> dict[str, Any]:
        self.asked += 1
        if self.asked == 1:
            return {"type": "lifespan.startup"}
        await self.stop.wait()
        return {"type": "lifespan.shutdown"}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    async def life(self, between: Callable[[], Any] | None = None) -> list[str]:
        """Starts the app, does something, stops it; gives the types of what it sent."""

        async def serve() -> None:
            try:
                await self.app({"type": "lifespan"}, self.receive, self.send)
            except Exception as error:
                self.raised = error

        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            while not self.sent:
                await anyio.sleep(0.001)
            if between is not None:
                await between()
            self.stop.set()
        has_failed = self.sent[-1]["type"].endswith(".failed")
        assert has_failed == (self.raised is not None)
        return [message["type"].removeprefix("lifespan.") for message in self.sent]


def recording(trace: list[str], value: Any = None, **failing: Exception) -> Kit:
    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[Any]:
        trace.append("startup")
        if "startup" in failing:
            raise failing["startup"]
        try:
            yield value
        finally:
            await anyio.lowlevel.checkpoint()
            trace.append("shutdown")
        if "shutdown" in failing:
            raise failing["shutdown"]

    return Kit(lifespan=lifespan).get("/", lambda c: c.json(dict(c.env)))


def test_startup_requests_shutdown(run: Any, client: Any) -> None:
    trace: list[str] = []
    app = recording(trace, {"db": "open"})

    async def main() -> list[str]:
        server = Server(app)

        async def between() -> None:
            assert trace == ["startup"]
            assert (await client().ask(app)).body == b'{"db":"open"}'

        return await server.life(between)

    assert run(main) == ["startup.complete", "shutdown.complete"]
    assert trace == ["startup", "shutdown"]


def test_lifespan_gets_the_app(run: Any) -> None:
    seen: list[Any] = []

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        seen.append(app)
        yield

    app = Kit(lifespan=lifespan)
    assert run(lambda: Server(app).life()) == ["startup.complete", "shutdown.complete"]
    assert seen == [app]


def test_without_a_lifespan_the_protocol_is_answered(run: Any) -> None:
    assert run(lambda: Server(Kit()).life()) == ["startup.complete", "shutdown.complete"]


def test_failure_at_startup_is_reported_with_its_traceback(run: Any) -> None:
    trace: list[str] = []
    server: list[Server] = []

    async def main() -> list[str]:
        server.append(Server(recording(trace, startup=ValueError("no database"))))
        return await server[0].life()

    assert run(main) == ["startup.failed"]
    message = server[0].sent[0]["message"]
    assert message.startswith("Traceback")
    assert message.rstrip().endswith("ValueError: no database")
    assert repr(server[0].raised) == "ValueError('no database')"
    assert trace == ["startup"]
    assert server[0].asked == 1


def test_failure_at_shutdown_is_reported_with_its_traceback(run: Any) -> None:
    trace: list[str] = []
    server: list[Server] = []

    async def main() -> list[str]:
        server.append(Server(recording(trace, shutdown=ValueError("no goodbye"))))
        return await server[0].life()

    assert run(main) == ["startup.complete", "shutdown.failed"]
    assert server[0].sent[1]["message"].rstrip().endswith("ValueError: no goodbye")
    assert repr(server[0].raised) == "ValueError('no goodbye')"
    assert trace == ["startup", "shutdown"]


def test_crash_of_a_task_of_the_lifespan_is_reported(run: Any) -> None:
    crash: list[anyio.Event] = []

    async def worker() -> None:
        await crash[0].wait()
        raise ValueError("worker crashed")

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        crash.append(anyio.Event())
        async with anyio.create_task_group() as group:
            group.start_soon(worker)
            yield
            group.cancel_scope.cancel()

    async def main() -> list[dict[str, Any]]:
        server = Server(Kit(lifespan=lifespan))

        async def between() -> None:
            crash.pop().set() if not crash else crash[0].set()
            while len(server.sent) < 2:
                await anyio.sleep(0.001)

        await server.life(between)
        return server.sent

    sent = run(main)
    assert [m["type"] for m in sent] == ["lifespan.startup.complete", "lifespan.shutdown.failed"]
    assert "ValueError: worker crashed" in sent[1]["message"]


def test_crash_while_served_is_logged_at_once(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    stop: list[anyio.Event] = []

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        stop.append(anyio.Event())
        async with anyio.create_task_group() as group:
            group.start_soon(crash)
            yield

    async def crash() -> None:
        await stop[-1].wait()
        raise ValueError("worker crashed")

    async def main() -> None:
        server = Server(Kit(lifespan=lifespan))

        async def between() -> None:
            assert not caplog.records
            stop[-1].set()
            while len(server.sent) < 2:
                await anyio.sleep(0.001)
            assert not server.stop.is_set()

        await server.life(between)

    run(main)
    [record] = caplog.records
    assert (record.name, record.levelname) == ("kit", "ERROR")
    assert record.getMessage().startswith("The lifespan ended while the app was served: ")
    assert "ValueError('worker crashed')" in record.getMessage()


@pytest.mark.parametrize("exit", [SystemExit("no DATABASE_URL"), KeyboardInterrupt()], ids=repr)
async def test_exit_at_startup_is_reported(exit: BaseException) -> None:
    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        raise exit
        yield

    server = Server(Kit(lifespan=lifespan))
    with pytest.raises(type(exit)) as caught:
        await server.app({"type": "lifespan"}, server.receive, server.send)
    assert caught.value is exit
    [message] = server.sent
    assert message["type"] == "lifespan.startup.failed"
    assert message["message"].rstrip().splitlines()[-1].startswith(type(exit).__name__)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_exit_and_cancellation_at_startup_on_each_event_loop(backend: str) -> None:
    sent: list[Any] = []
    ways: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        if ways[-1] == "exit":
            raise SystemExit("no DATABASE_URL")
        await anyio.sleep_forever()
        yield

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def start(way: str) -> None:
        ways.append(way)
        await Kit(lifespan=lifespan)({"type": "lifespan"}, receive, send)

    async def cancelled() -> None:
        with anyio.move_on_after(0.01):
            await start("wait")

    with pytest.raises(SystemExit, match="no DATABASE_URL"):
        anyio.run(start, "exit", backend=backend)
    assert sent == ["lifespan.startup.failed"]
    anyio.run(cancelled, backend=backend)
    assert sent == ["lifespan.startup.failed"]


async def test_stray_cancellation_at_startup_is_reported() -> None:
    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        task = asyncio.ensure_future(asyncio.sleep(0))
        task.cancel()
        await task
        yield

    server = Server(Kit(lifespan=lifespan))
    with pytest.raises(asyncio.CancelledError):
        await server.app({"type": "lifespan"}, server.receive, server.send)
    assert [message["type"] for message in server.sent] == ["lifespan.startup.failed"]


# --- what it yields ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "env", "expected"),
    [
        pytest.param(None, None, {}, id="nothing, no env"),
        pytest.param(None, {"a": 1}, {"a": 1}, id="nothing, env"),
        pytest.param({"db": 1}, None, {"db": 1}, id="mapping, no env"),
        pytest.param({"db": 1, "a": 0}, {"a": 1}, {"db": 1, "a": 1}, id="env on top"),
        pytest.param(UserDict(db=1), {"a": 1}, {"db": 1, "a": 1}, id="any mapping"),
        pytest.param({}, None, {}, id="empty mapping"),
    ],
)
def test_env(run: Any, value: Any, env: Any, expected: Any) -> None:
    app = recording([], value)

    async def main() -> Any:
        async with app.running():
            return await (await app.request("/", None, env)).json()

    assert run(main) == expected


def test_env_without_more_is_the_mapping_itself(run: Any) -> None:
    bindings = {"db": object()}
    seen: list[Any] = []
    app = recording([], bindings).get("/env", lambda c: seen.append(c.env) or c.text("ok"))

    async def main() -> None:
        async with app.running():
            await app.request("/env")
            await app.request("/env", None, {"a": 1})

    run(main)
    assert seen[0] is bindings
    assert list(bindings) == ["db"]


@pytest.mark.parametrize("value", [5, "text", [("a", 1)], object], ids=repr)
def test_yielding_something_else_is_told_and_unwound(run: Any, value: Any) -> None:
    trace: list[str] = []
    app = recording(trace, value)

    async def main() -> None:
        async with app.running():
            raise AssertionError("never")

    with pytest.raises(TypeError) as caught:
        run(main)
    text = str(caught.value)
    assert text.startswith("The lifespan recording.<locals>.lifespan")
    assert text.endswith(f" must yield a mapping for c.env or nothing, not {type(value).__name__}")
    assert trace == ["startup", "shutdown"]
    assert run(lambda: Server(recording([], value)).life()) == ["startup.failed"]


def test_lifespan_without_a_parameter_is_refused() -> None:
    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        yield

    with pytest.raises(TypeError) as caught:
        Kit(lifespan=lifespan)  # type: ignore[arg-type]
    assert "is called with the app, but its signature is" in str(caught.value)


async def test_lifespan_that_is_a_method() -> None:
    class Resources:
        @asynccontextmanager
        async def lifespan(self, app: Kit) -> AsyncIterator[dict[str, Any]]:
            yield {"db": self}

        @asynccontextmanager
        async def without_app(self) -> AsyncIterator[None]:
            yield

        @classmethod
        @asynccontextmanager
        async def of_class(cls, app: Kit) -> AsyncIterator[dict[str, Any]]:
            yield {"db": cls}

    for lifespan in (Resources().lifespan, Resources.of_class):
        async with Kit(lifespan=lifespan).running():
            pass
    with pytest.raises(TypeError, match="is called with the app"):
        Kit(lifespan=Resources().without_app)  # type: ignore[arg-type]


def test_lifespan_that_is_no_context_manager_is_told(run: Any) -> None:
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        yield

    async def main() -> None:
        async with Kit(lifespan=lifespan).running():  # type: ignore[arg-type]
            pass

    with pytest.raises(TypeError, match=r"lifespan.*@asynccontextmanager"):
        run(main)


def test_app_without_its_lifespan_running_has_an_empty_env(run: Any, client: Any) -> None:
    trace: list[str] = []
    app = recording(trace, {"db": 1})

    async def main() -> Any:
        return await (await app.request("/")).json(), (await client().ask(app)).body

    assert run(main) == ({}, b"{}")
    assert trace == []


# --- running() ---------------------------------------------------------------------------------


def test_running_nested_starts_and_stops_once(run: Any) -> None:
    trace: list[str] = []
    app = recording(trace, {"db": 1})

    async def main() -> None:
        async with app.running():
            async with app.running():
                assert trace == ["startup"]
            assert trace == ["startup"]
            assert await (await app.request("/")).json() == {"db": 1}
        assert trace == ["startup", "shutdown"]
        assert await (await app.request("/")).json() == {}

    run(main)


def test_running_again_after_it_ended(run: Any) -> None:
    trace: list[str] = []
    app = recording(trace, {"db": 1})

    async def main() -> None:
        for _ in range(2):
            async with app.running():
                assert await (await app.request("/")).json() == {"db": 1}

    run(main)
    run(main)  # in another loop
    assert trace == ["startup", "shutdown"] * 4


def test_running_again_after_it_failed(run: Any) -> None:
    failures = [ValueError("first time")]

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[dict[str, int]]:
        if failures:
            raise failures.pop()
        yield {"db": 1}

    app = Kit(lifespan=lifespan).get("/", lambda c: c.json(c.env))

    async def main() -> None:
        with pytest.raises(ValueError, match=r"^first time$"):
            async with app.running():
                raise AssertionError("never")
        async with app.running():
            assert await (await app.request("/")).json() == {"db": 1}

    run(main)


def test_running_under_a_server_counts(run: Any) -> None:
    trace: list[str] = []
    app = recording(trace)

    async def main() -> None:
        server = Server(app)
        async with app.running():
            assert await server.life() == ["startup.complete", "shutdown.complete"]
            assert trace == ["startup"]
        assert trace == ["startup", "shutdown"]

    run(main)


def test_error_within_running_passes_and_unwinds(run: Any) -> None:
    trace: list[str] = []

    async def main() -> None:
        async with recording(trace).running():
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(main)
    assert trace == ["startup", "shutdown"]


def test_error_within_running_is_seen_by_the_lifespan(run: Any) -> None:
    seen: list[Any] = []

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[None]:
        try:
            yield
        except KeyError as error:
            seen.append(error.args)
            raise

    async def main() -> None:
        async with Kit(lifespan=lifespan).running():
            raise KeyError("mine")

    with pytest.raises(KeyError):
        run(main)
    assert seen == [("mine",)]


def test_second_one_waits_until_the_first_has_started(run: Any) -> None:
    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[dict[str, int]]:
        await may_start.wait()
        yield {"db": 1}

    app = Kit(lifespan=lifespan).get("/", lambda c: c.json(c.env))
    seen: list[Any] = []
    may_start, may_end = anyio.Event(), anyio.Event()

    async def one() -> None:
        async with app.running():
            seen.append(await (await app.request("/")).json())
            await may_end.wait()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(one)
            group.start_soon(one)
            await anyio.wait_all_tasks_blocked()
            assert seen == []
            may_start.set()
            await anyio.wait_all_tasks_blocked()
            may_end.set()

    run(main)
    assert seen == [{"db": 1}, {"db": 1}]


def test_handlers_see_what_the_lifespan_opened_until_it_closes(run: Any) -> None:
    class Database:
        is_open = False

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[dict[str, Database]]:
        database = Database()
        database.is_open = True
        yield {"db": database}
        database.is_open = False

    app = Kit(lifespan=lifespan)

    @app.get("/")
    async def handler(c: Context) -> Response:
        return c.json(c.env["db"].is_open)

    async def main() -> Any:
        async with app.running():
            return await (await app.request("/")).json()

    assert run(main) is True


def noting(events: list[str], name: str, bindings: Any = None, *, fail: bool = False) -> Any:
    @asynccontextmanager
    async def lifespan(app: Kit[Any, Any]) -> AsyncIterator[Any]:
        events.append(f"{name} starts")
        if fail:
            raise RuntimeError(f"{name} fails")
        try:
            yield bindings
        finally:
            events.append(f"{name} stops")

    return lifespan


async def test_lifespans_of_routed_apps_run_in_order_of_registration() -> None:
    events: list[str] = []
    inner = Kit(lifespan=noting(events, "inner", {"inner": 1, "shared": "inner"}))
    first = Kit(lifespan=noting(events, "first", {"first": 1, "shared": "first"}))
    first.route("/inner", inner)
    second = Kit().get("/", lambda c: c.json(c.env))
    third = Kit(lifespan=noting(events, "third"))
    app = Kit(lifespan=noting(events, "app", {"app": 1, "shared": "app"}))
    app.route("/1", first).base_path("/x").route("/2", second).route("/3", third)
    async with app.running():
        assert events == ["app starts", "first starts", "inner starts", "third starts"]
        env = await (await app.request("/x/2")).json()
        assert env == {"app": 1, "first": 1, "inner": 1, "shared": "app"}
    assert events[4:] == ["third stops", "inner stops", "first stops", "app stops"]
    assert await (await app.request("/x/2")).json() == {}


async def test_an_app_without_lifespan_runs_that_of_its_parts() -> None:
    events: list[str] = []
    part = Kit(lifespan=noting(events, "part", {"a": 1})).get("/", lambda c: c.json(c.env))
    app = Kit().route("/x", part).route("/y", part)
    async with app.running():
        assert events == ["part starts"]
        assert await (await app.request("/x")).json() == {"a": 1}
        assert await (await app.request("/y")).json() == {"a": 1}
    assert events == ["part starts", "part stops"]


async def test_a_later_lifespan_that_fails_unwinds_those_before() -> None:
    events: list[str] = []
    app = Kit(lifespan=noting(events, "app"))
    app.route("/1", Kit(lifespan=noting(events, "first")))
    app.route("/2", Kit(lifespan=noting(events, "second", fail=True)))
    app.route("/3", Kit(lifespan=noting(events, "third")))
    with pytest.raises(RuntimeError, match="second fails"):
        async with app.running():
            raise AssertionError("it does not get here")
    assert events == [
        "app starts",
        "first starts",
        "second starts",
        "first stops",
        "app stops",
    ]


async def test_lifespan_of_a_mounted_application_runs_too() -> None:
    events: list[str] = []

    def handler(request: Any, env: Any, _: Any) -> Response:
        return Response(str(env))

    handler.lifespan = lambda: noting(events, "mounted", {"not": "ours"})(None)  # type: ignore[attr-defined]
    app = Kit().mount("/m", handler)
    async with app.running():
        assert events == ["mounted starts"]
        assert await (await app.request("/m")).text() == "{}"
    assert events == ["mounted starts", "mounted stops"]


def read_db(c: Context) -> Response:
    return c.text(c.env["db"])


@asynccontextmanager
async def with_db(app: Kit) -> AsyncIterator[dict[str, Any]]:
    yield {"db": "a database"}


@asynccontextmanager
async def without_bindings(app: Kit) -> AsyncIterator[None]:
    yield


@pytest.mark.parametrize(
    ("app", "reason"),
    [
        (Kit(), "the app has no lifespan"),
        (Kit(lifespan=with_db), "isn't running"),
        (Kit().route("/", Kit(lifespan=with_db)), "its lifespan isn't running"),
        (Kit(lifespan=without_bindings), "yields nothing"),
    ],
)
async def test_env_without_bindings(app: Kit, reason: str) -> None:
    raised: list[Exception] = []
    app.get("/", read_db).on_error(lambda error, c: raised.append(error) or c.text("", 500))
    if reason == "yields nothing":
        async with app.running():
            await app.request("/")
    else:
        await app.request("/")
    assert isinstance(raised[0], MissingBindingError)
    assert "c.env has no 'db'" in str(raised[0])
    assert reason in str(raised[0])


async def test_env_without_bindings_is_an_empty_mapping() -> None:
    def read(c: Context) -> Response:
        assert (dict(c.env), c.env.get("db"), "db" in c.env) == ({}, None, False)
        with pytest.raises(KeyError):
            c.env["db"]
        return c.text("read")

    assert await (await Kit().get("/", read).request("/")).text() == "read"
