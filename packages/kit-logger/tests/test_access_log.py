# SPDX-License-Identifier: MIT
"""One line for each request, with fields."""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import pytest
import structlog
from anyio.lowlevel import checkpoint
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Next, Response
from kit.logger import access_log
from kit.request_id import request_id
from kit.streaming import stream
from kit.timeout import cancel_on_disconnect
from kit.websocket import upgrade_websocket

LIMIT_S = 30.0


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                return await function(*args)

        return anyio.run(bounded, backend=request.param)

    return run


class Lines(list[str]):
    """Lines of an access log, and what is in them."""

    def __call__(self, line: str) -> None:
        self.append(line)

    @property
    def entry(self) -> dict[str, Any]:
        """The only line; what differs from run to run is checked and left out."""
        [line] = self
        assert line.isascii()
        assert line.isprintable()
        entry: dict[str, Any] = json.loads(line)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry.pop("time"))
        duration = entry.pop("duration_ms")
        assert isinstance(duration, float)
        assert 0 <= duration < LIMIT_S * 1000
        return entry


async def serve(app: Any, *, leaves_after: int | None = None, **scope: Any) -> list[Any]:
    """Has an app answer a request as a server does; returns the messages."""
    messages: list[Any] = []
    gone = anyio.Event()
    received = False

    async def receive() -> Any:
        nonlocal received
        if not received:
            received = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        messages.append(message)
        if leaves_after is not None and len(messages) >= leaves_after:
            gone.set()
        await checkpoint()

    if leaves_after == 0:
        gone.set()
    whole = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "raw_path": scope.get("path", "/").encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [],
        "client": ("192.0.2.7", 50123),
        **scope,
    }
    await app(whole, receive, send)
    return messages


def app_of(lines: Any, handler: Any = None, **options: Any) -> Kit:
    app = Kit().use(access_log(to=lines, **options))
    app.get("/", handler or (lambda c: c.text("hello")))
    app.get("/users/:id", lambda c: c.text("hello"))
    return app


def ask(run: Any, app: Kit, **request: Any) -> list[Any]:
    messages: list[Any] = run(lambda: serve(app, **request))
    return messages


def test_route_below_a_mount_has_its_parameters_by_name(run: Any) -> None:
    lines = Lines()
    app = Kit().mount("/t/:tenant", app_of(lines).fetch)
    ask(run, app, path="/t/acme/users/7")
    assert lines.entry["route"] == "/t/:tenant/users/:id"


def test_all_fields(run: Any) -> None:
    lines = Lines()
    app = Kit().use(access_log(to=lines), request_id())
    app.get("/users/:id", lambda c: c.text("hello"))
    headers = [
        (b"user-agent", b"curl/8.0"),
        (b"x-request-id", b"abc"),
        (b"content-length", b"0"),
        (b"authorization", b"Bearer secret"),
        (b"cookie", b"session=secret"),
    ]
    ask(run, app, path="/users/7", query_string=b"token=secret", headers=headers)
    assert lines.entry == {
        "level": "info",
        "method": "GET",
        "path": "/users/7",
        "route": "/users/:id",
        "status": 200,
        "request_bytes": 0,
        "response_bytes": 5,
        "client": "192.0.2.7",
        "user_agent": "curl/8.0",
        "request_id": "abc",
    }
    assert "secret" not in lines[0]
    assert lines[0].startswith('{"time":"')


def test_text(run: Any) -> None:
    lines = Lines()
    app = app_of(lines, format="text", query=True, fields=lambda c: {"user": "ann lee"})
    ask(run, app, path="/users/7", query_string=b"a=1&sig=x")
    ask(run, app, path="/nowhere", client=None)
    seen = [re.sub(r" [\d.]+ms ", " _ ", line) for line in lines]
    assert seen == [
        "GET /users/7?a=1&sig=REDACTED 200 _ 5B 192.0.2.7 user=ann%20lee",
        "GET /nowhere 404 _ 13B - user=ann%20lee",
    ]


def test_query(run: Any) -> None:
    lines = Lines()
    ask(run, app_of(lines, query=True), query_string=b"q=1&access_token=secret")
    assert lines.entry["query"] == "q=1&access_token=REDACTED"


def test_not_found(run: Any) -> None:
    lines = Lines()
    ask(run, app_of(lines), path="/nowhere")
    assert lines.entry == {
        "level": "info",
        "method": "GET",
        "path": "/nowhere",
        "status": 404,
        "response_bytes": 13,
        "client": "192.0.2.7",
    }


def raising(error: Exception) -> Any:
    async def handler(c: Context) -> Response:
        raise error

    return handler


@pytest.mark.parametrize(
    ("error", "status", "level", "name"),
    [
        (ValueError("secret"), 500, "error", "ValueError"),
        (HTTPException(401, "x"), 401, "info", "kit.interface.HTTPException"),
        (HTTPException(503, "x"), 503, "error", "kit.interface.HTTPException"),
    ],
)
def test_errors(run: Any, error: Exception, status: int, level: str, name: str) -> None:
    lines = Lines()
    ask(run, app_of(lines, raising(error)))
    entry = lines.entry
    assert (entry["status"], entry["level"], entry["error"]) == (status, level, name)
    assert "secret" not in lines[0]
    assert "ended" not in entry


def test_error_that_is_answered_with_200(run: Any) -> None:
    lines = Lines()
    app = app_of(lines, raising(KeyError("x"))).on_error(lambda error, c: c.text("fine"))
    assert ask(run, app)[0]["status"] == 200
    assert (lines.entry["status"], lines.entry["error"]) == (200, "KeyError")


def test_tasks_that_were_promised_before_run(run: Any) -> None:
    ran = []

    async def task() -> None:
        ran.append(True)

    async def promising(c: Context, next: Next) -> None:
        c.execution_ctx.wait_until(task())
        await next()

    lines = Lines()
    app = Kit().use(promising, access_log(to=lines))
    ask(run, app)
    assert ran == [True]
    assert len(lines) == 1


def test_no_response(run: Any) -> None:
    lines = Lines()
    ask(run, app_of(lines, lambda c: None))
    entry = lines.entry
    assert (entry["status"], entry["error"]) == (500, "kit.interface.HandlerError")


def test_response_that_was_read_already(run: Any) -> None:
    lines = Lines()

    async def handler(c: Context) -> Response:
        response = c.text("read")
        await response.text()
        return response

    (start, *_) = ask(run, app_of(lines, handler))
    assert (start["status"], lines.entry["status"], lines.entry["level"]) == (500, 500, "error")


def test_stream(run: Any) -> None:
    lines = Lines()

    async def chunks() -> AsyncIterator[str]:
        yield "ab"
        await checkpoint()
        assert not lines
        yield "ä"

    ask(run, app_of(lines, lambda c: c.body(chunks())))
    assert lines.entry["response_bytes"] == 4


def test_stream_that_breaks(run: Any) -> None:
    lines = Lines()

    def chunks() -> Any:
        yield b"ab"
        raise ValueError("secret")

    with pytest.raises(ValueError, match="secret"):
        ask(run, app_of(lines, lambda c: c.body(chunks())))
    entry = lines.entry
    assert (entry["status"], entry["level"], entry["response_bytes"]) == (200, "error", 2)
    assert (entry["ended"], entry["error"]) == ("response failed", "ValueError")


@pytest.mark.parametrize("pushed", [False, True])
def test_client_leaves_a_stream(run: Any, pushed: bool) -> None:
    lines = Lines()

    async def chunks() -> AsyncIterator[bytes]:
        yield b"abc"
        await anyio.sleep_forever()

    async def write(api: Any) -> None:
        await api.write(b"abc")
        await anyio.sleep_forever()

    app = app_of(lines, lambda c: stream(c, write) if pushed else c.body(chunks()))
    ask(run, app, leaves_after=2)
    entry = lines.entry
    assert (entry["status"], entry["level"], entry["response_bytes"]) == (200, "info", 3)
    assert entry["ended"] == "client disconnected"


def test_client_leaves_before_the_first_chunk(run: Any) -> None:
    lines = Lines()

    async def chunks() -> AsyncIterator[bytes]:
        await anyio.sleep_forever()
        yield b""

    ask(run, app_of(lines, lambda c: c.body(chunks())), leaves_after=1)
    assert lines.entry["ended"] == "client disconnected"
    assert lines.entry["response_bytes"] == 0


def test_client_leaves_a_handler(run: Any) -> None:
    lines = Lines()
    app = Kit().use(access_log(to=lines), cancel_on_disconnect())

    @app.get("/")
    async def handler(c: Context) -> Response:
        await anyio.sleep_forever()
        raise AssertionError

    ask(run, app, leaves_after=0)
    assert lines.entry["status"] == 499
    assert lines.entry["ended"] == "client disconnected"


def test_client_leaves_while_its_body_is_read(run: Any) -> None:
    lines = Lines()
    app = app_of(lines)

    @app.post("/")
    async def handler(c: Context) -> Response:
        return c.text(await c.req.text())

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "query_string": b""}
    run(app, scope, receive, send)
    entry = lines.entry
    assert entry["ended"] == "client disconnected"
    assert entry["error"] == "kit.web.ClientDisconnectedError"


def test_cancelled(run: Any) -> None:
    lines = Lines()

    async def handler(c: Context) -> Response:
        scope.cancel()
        await checkpoint()
        raise AssertionError

    async def cancelled() -> None:
        nonlocal scope
        with anyio.CancelScope() as scope:
            await serve(app_of(lines, handler))

    scope: Any = None
    run(cancelled)
    entry = lines.entry
    assert (entry["level"], entry["ended"]) == ("warning", "cancelled")
    assert "status" not in entry


@pytest.mark.parametrize("streamed", [False, True])
def test_head(run: Any, streamed: bool) -> None:
    lines = Lines()

    async def chunks() -> AsyncIterator[bytes]:
        yield b"abc"

    app = app_of(lines, lambda c: c.body(chunks() if streamed else b"abc"))
    ask(run, app, method="HEAD")
    entry = lines.entry
    assert (entry["method"], entry["status"], entry["response_bytes"]) == ("HEAD", 200, 0)
    assert "ended" not in entry


def test_file_that_the_server_sends_by_its_path(run: Any) -> None:
    class File:
        send_path = "/srv/file"

        def __aiter__(self) -> Any:
            raise AssertionError

        async def aclose(self) -> None:
            pass

    lines = Lines()
    app = app_of(lines, lambda c: c.body(File(), headers={"content-length": "1234"}))
    messages = ask(run, app, extensions={"http.response.pathsend": {}})
    assert messages[1] == {"type": "http.response.pathsend", "path": "/srv/file"}
    assert lines.entry["response_bytes"] == 1234
    assert "ended" not in lines.entry


@pytest.mark.parametrize("fails", [False, True])
def test_websocket(run: Any, fails: bool) -> None:
    lines = Lines()
    app = Kit().use(access_log(to=lines))

    @app.get("/ws/:room")
    @upgrade_websocket
    async def talk(c: Context, ws: Any) -> None:
        assert not lines
        if fails:
            raise ValueError

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        pass

    run(app, {"type": "websocket", "path": "/ws/a", "headers": []}, receive, send)
    entry = lines.entry
    assert (entry["status"], entry["route"]) == (101, "/ws/:room")
    assert "response_bytes" not in entry
    assert entry.get("error") == ("ValueError" if fails else None)


def test_in_process(run: Any) -> None:
    lines = Lines()
    run(app_of(lines, query=True).request, "/users/7?a=1#b")
    assert lines.entry == {
        "level": "info",
        "method": "GET",
        "path": "/users/7",
        "query": "a=1",
        "route": "/users/:id",
        "status": 200,
        "response_bytes": 5,
    }


def test_client_behind_a_proxy(run: Any) -> None:
    lines = Lines()
    headers = [(b"x-forwarded-for", b"6.6.6.6, 198.51.100.9")]
    ask(run, app_of(lines, trusted_hops=1), headers=headers)
    assert lines.entry["client"] == "198.51.100.9"


def test_trace_ids_if_opentelemetry_is_there(run: Any) -> None:
    from opentelemetry.sdk.trace import TracerProvider

    from kit.opentelemetry import opentelemetry

    lines = Lines()
    app = Kit().use(opentelemetry(TracerProvider(shutdown_on_exit=False)), access_log(to=lines))
    headers = [(b"traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]
    ask(run, app, headers=headers)
    assert lines.entry["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    assert re.fullmatch("[0-9a-f]{16}", lines.entry["span_id"])


def test_it_imports_no_opentelemetry() -> None:
    code = """
import asyncio, sys
from kit import Kit
from kit.logger import access_log

lines = []
asyncio.run(Kit().use(access_log(to=lines.append)).request("/"))
print(len(lines), [name for name in sys.modules if "telemetry" in name])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "1 []\n"


async def async_fields(c: Context) -> dict[str, Any]:
    return {"tenant": "acme", "client": None, "ratio": float("nan"), "share": 0.5, "ids": [1]}


@pytest.mark.parametrize("is_async", [False, True])
def test_own_fields(run: Any, is_async: bool) -> None:
    lines = Lines()

    def fields(c: Context) -> Any:
        return async_fields(c) if is_async else {"tenant": "acme", "client": None}

    ask(run, app_of(lines, fields=fields))
    entry = lines.entry
    assert entry["tenant"] == "acme"
    assert "client" not in entry
    if is_async:
        assert (entry["ratio"], entry["share"], entry["ids"]) == (None, 0.5, [1])


class Meters(float):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1e300, "1e+300"),
        (float("nan"), "null"),
        (float("-inf"), "null"),
        (Meters(2.5), "2.5"),
        (Meters("nan"), "null"),
        (True, "true"),
        (12345678901234567890, "12345678901234567890"),
        ({"a": [1, "\n"]}, '{"a":[1,"\\n"]}'),
        ('"\u2028é\x7f\x00', '"\\"\\u2028\\u00e9\\u007f\\u0000"'),
    ],
)
def test_values_of_own_fields(run: Any, value: object, text: str) -> None:
    lines = Lines()
    ask(run, app_of(lines, fields=lambda c: {'a"\n': value}))
    assert lines[0].endswith(f',"a\\"\\n":{text}}}')


@pytest.mark.parametrize("fields", [lambda c: 1, lambda c: 1 / 0])
def test_own_fields_that_fail(run: Any, fields: Any, caplog: pytest.LogCaptureFixture) -> None:
    lines = Lines()
    messages = ask(run, app_of(lines, fields=fields))
    assert messages[0]["status"] == 200
    assert lines.entry["status"] == 200
    assert "access_log(fields=...) failed; the request was not affected" in caplog.text


@pytest.mark.parametrize("fields", [lambda c: {1: 2}, lambda c: 1 / 0])
def test_own_fields_that_always_fail(
    run: Any, fields: Any, caplog: pytest.LogCaptureFixture
) -> None:
    lines = Lines()
    app = app_of(lines, fields=fields)
    for _ in range(3):
        ask(run, app)
    assert len(lines) == 3
    # Once, not with each request.
    assert [record.message for record in caplog.records] == [
        "access_log(fields=...) failed; the request was not affected"
    ]


def test_failing_fields_do_not_hide_a_failing_target(
    run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def write(line: str) -> None:
        raise OSError

    ask(run, app_of(write, fields=lambda c: 1 / 0))
    assert [record.message for record in caplog.records] == [
        "access_log(fields=...) failed; the request was not affected",
        "access_log(to=...) failed; the request was not affected",
    ]


class Nameless:
    def __repr__(self) -> str:
        raise ValueError


_CIRCLE: list[Any] = []
_CIRCLE.append(_CIRCLE)


@pytest.mark.parametrize("format", ["json", "text"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([float("nan")], "[nan]"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (_CIRCLE, "[[...]]"),
        (Nameless(), "<Nameless>"),
    ],
)
def test_no_value_of_own_fields_loses_the_line(
    run: Any, format: Any, value: object, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    lines = Lines()
    ask(run, app_of(lines, format=format, fields=lambda c: {"own": value}))
    if format == "json":
        assert lines.entry["own"] == text
    else:
        assert lines[0].endswith(f" own={text.replace(' ', '%20')}")
    assert caplog.records == []


def test_own_duration_as_text(run: Any) -> None:
    lines = Lines()
    ask(run, app_of(lines, format="text", fields=lambda c: {"duration_ms": "3 ms"}))
    assert lines == ["GET / 200 3%20ms 5B 192.0.2.7"]


@pytest.mark.parametrize(
    "own", [{"level": "notice"}, {"time": "now"}, {"time": None}, {"time": "now", "level": "x"}]
)
def test_own_time_and_level(run: Any, own: dict[str, Any]) -> None:
    lines = Lines()
    ask(run, app_of(lines, fields=lambda c: own))
    pairs: list[tuple[str, Any]] = json.loads(lines[0], object_pairs_hook=list)
    assert [name for name, _ in pairs[:3]] == ["time", "level", "method"]
    assert len({name for name, _ in pairs}) == len(pairs)
    for name, value in own.items():
        assert value in (None, dict(pairs)[name])


def test_excluded(run: Any) -> None:
    async def is_probe(c: Context) -> bool:
        return c.req.header("user-agent") == "probe"

    lines = Lines()
    app = app_of(lines, exclude=["/livez", is_probe])
    ask(run, app, path="/livez")
    ask(run, app, headers=[(b"user-agent", b"probe")])
    ask(run, app)
    assert lines.entry["path"] == "/"


def test_standard_output(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    app = Kit().use(access_log())
    ask(run, app)
    assert json.loads(capsys.readouterr().out)["status"] == 404


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_closed_output(
    run: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit().use(access_log())
    app.get("/", lambda c: c.text("hello"))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Closed())
        for _ in range(3):
            assert ask(run, app)[0]["status"] == 200
    # Once, not with each request.
    assert [record.message for record in caplog.records] == [
        "access_log(to=...) failed; the request was not affected"
    ]


def test_failures_are_logged_again_after_a_success(
    run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    failing = [True, False, True]

    def write(line: str) -> None:
        if failing.pop(0):
            raise OSError

    app = app_of(write)
    for _ in range(3):
        ask(run, app)
    assert len(caplog.records) == 2


def test_standard_logger(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("kit.access")
    app = app_of(logger, raising(ValueError()), fields=lambda c: {"module": "shop"})
    with caplog.at_level(logging.INFO, "kit.access"):
        ask(run, app)
    [record] = [record for record in caplog.records if record.name == "kit.access"]
    assert record.levelno == logging.ERROR
    assert json.loads(record.getMessage())["status"] == 500
    assert record.__dict__["status"] == 500
    assert record.__dict__["module_"] == "shop"
    caplog.clear()
    with caplog.at_level(logging.CRITICAL, "kit.access"):
        ask(run, app)
    assert [record for record in caplog.records if record.name == "kit.access"] == []


def test_structlog(run: Any) -> None:
    capture = structlog.testing.LogCapture()
    logger = structlog.wrap_logger(None, processors=[capture])
    ask(run, app_of(logger))
    [entry] = capture.entries
    assert entry.pop("duration_ms") >= 0
    assert entry == {
        "event": "request",
        "log_level": "info",
        "method": "GET",
        "path": "/",
        "route": "/",
        "status": 200,
        "response_bytes": 5,
        "client": "192.0.2.7",
    }


@pytest.mark.parametrize("name", ["event", "self", "method_name"])
def test_own_fields_that_structlog_has_names_for(run: Any, name: str) -> None:
    capture = structlog.testing.LogCapture()
    logger = structlog.wrap_logger(None, processors=[capture])
    ask(run, app_of(logger, fields=lambda c: {name: "own"}))
    [entry] = capture.entries
    assert (entry["event"], entry[f"{name}_"]) == ("request", "own")


_TEXT = st.text(st.characters(max_codepoint=0xFF), max_size=40)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(method=_TEXT, path=_TEXT, query=_TEXT, agent=_TEXT, format=st.sampled_from(["json", "text"]))
def test_no_request_forges_a_line(
    method: str, path: str, query: str, agent: str, format: Any
) -> None:
    lines = Lines()
    path = path.replace("#", "")  # which no request target has
    app = app_of(lines, format=format, query=True, fields=lambda c: {"agent": agent})
    scope = {
        "method": method or "GET",
        "path": "/" + path,
        "raw_path": ("/" + path).encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": [(b"user-agent", agent.encode("latin-1"))],
    }
    anyio.run(lambda: serve(app, **scope))
    [line] = lines
    assert line.isascii()
    assert not re.search(r"[\x00-\x1f]", line)
    if format == "json":
        entry = json.loads(line)
        assert entry["agent"] == agent
        assert entry["path"].isascii()
    else:
        assert "\x7f" not in line
        assert len(line.split(" ")) == 7


def test_long_texts_are_cut(run: Any) -> None:
    lines = Lines()
    headers = [(b"user-agent", b"a" * 9000), (b"content-length", b"9" * 50)]
    app = app_of(lines, query=True)
    ask(run, app, path="/" + "b" * 9000, query_string=b"c" * 9000, headers=headers)
    entry = lines.entry
    assert (len(entry["path"]), len(entry["query"]), len(entry["user_agent"])) == (2048, 2048, 259)
    assert "request_bytes" not in entry


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"format": "xml"}, ValueError, "expected 'json' or 'text'"),
        ({"to": 5}, TypeError, "takes a plain function (line), a logging.Logger, or a logger"),
        ({"to": lambda: None}, TypeError, "takes a function (line): got the signature"),
        ({"query": 1}, TypeError, "access_log(query=...) takes a bool, not 1"),
        ({"fields": {}}, TypeError, "access_log(fields=...) takes a function (c), not {}"),
        ({"trusted_hops": 101}, ValueError, "expected at most 100"),
        ({"exclude": 1}, TypeError, "takes a path pattern, a function (c), or a list of them"),
    ],
)
def test_options_are_checked(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        access_log(**options)
    assert text in str(caught.value)


def test_async_functions_are_refused() -> None:
    async def write(line: str) -> None: ...

    with pytest.raises(TypeError, match=r"^access_log\(to=\.\.\.\) takes a plain function"):
        access_log(to=write)
