# SPDX-License-Identifier: MIT
"""The two lines of a request."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import io
import re
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit.logger
from kit import Context, HTTPException, Kit, Response
from kit.logger import logger

LINES = re.compile(r"--> ([!-~]+ /[!-~]*)\n<-- ([!-~]+ /[!-~]*) (\d{3}) (\d{1,3}ms|[\d,]+s)")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Stands in for perf_counter_ns: each request takes `milliseconds`."""

    def __init__(self, milliseconds: float = 0) -> None:
        self.now = 0
        self.milliseconds = milliseconds

    def __call__(self) -> int:
        self.now += int(self.milliseconds * 1_000_000)
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of a copy of the package, which stands in its place during the test."""
    clock = Clock(3)
    monkeypatch.setattr(kit, "logger", None)  # to be restored, as the import sets it
    for name in [name for name in sys.modules if name.startswith("kit.logger")]:
        monkeypatch.delitem(sys.modules, name)
    with monkeypatch.context() as patch:
        patch.setattr(time, "perf_counter_ns", clock)
        copy = importlib.import_module("kit.logger")
    monkeypatch.setitem(globals(), "logger", copy.logger)
    return clock


@pytest.fixture(autouse=True)
def no_color_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


def app_with(lines: list[str], **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(logger(lines.append, **options))
    app.all("/*", lambda c: c.body(None, int(c.req.query("status") or 200)))
    return app


async def serve(app: Kit[Any, Any], **scope: Any) -> None:
    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        pass

    base = {"type": "http", "method": "GET", "scheme": "http", "headers": [], "root_path": ""}
    await app({**base, **scope}, receive, send)


# --- the lines ----------------------------------------------------------------------------------


async def test_two_lines_around_the_handler(clock: Clock) -> None:
    lines: list[str] = []

    def handler(c: Context) -> Response:
        lines.append("handler")
        return c.text("x", 201)

    app = Kit()
    app.use(logger(lines.append))
    app.get("/a", handler)
    await app.request("/a?q=1")
    assert lines == ["--> GET /a?q=1", "handler", "<-- GET /a?q=1 201 3ms"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PURGE"])
async def test_every_method(method: str, clock: Clock) -> None:
    lines: list[str] = []
    await app_with(lines).request("/", {"method": method})
    assert lines == [f"--> {method} /", f"<-- {method} / 200 3ms"]


@pytest.mark.parametrize(
    ("url", "logged", "without_query"),
    [
        ("/", "/", "/"),
        ("/a/b/", "/a/b/", "/a/b/"),
        ("/a?q=1&q=2", "/a?q=1&q=2", "/a"),
        ("/a?", "/a?", "/a"),
        ("/a?x=/?", "/a?x=/?", "/a"),
        ("/caf%C3%A9/%2F?q=%20+", "/caf%C3%A9/%2F?q=%20+", "/caf%C3%A9/%2F"),
        ("/あ?q=é", "/%E3%81%82?q=%C3%A9", "/%E3%81%82"),
        ("/%zz", "/%zz", "/%zz"),
        ("/a#frag?x", "/a#frag?x", "/a"),
        ("/a?q#frag", "/a?q#frag", "/a"),
        ("//a", "//a", "//a"),
        ("https://other.example:8443", "/", "/"),
        ("https://other.example/?q", "/?q", "/"),
    ],
)
async def test_path(url: str, logged: str, without_query: str, clock: Clock) -> None:
    for query, path in ((True, logged), (False, without_query)):
        lines: list[str] = []
        await app_with(lines, query=query).request(url)
        assert lines == [f"--> GET {path}", f"<-- GET {path} 200 3ms"]


@pytest.mark.parametrize(
    ("scope", "logged", "without_query"),
    [
        pytest.param(
            {"path": "/é", "raw_path": b"/%C3%A9", "query_string": b"q=%20"},
            "/%C3%A9?q=%20",
            "/%C3%A9",
            id="as it came",
        ),
        pytest.param(
            {"path": "/a", "raw_path": b"/a", "query_string": b""}, "/a", "/a", id="no query"
        ),
        pytest.param(
            {"path": "/b", "raw_path": b"/a/../b", "query_string": b""},
            "/a/../b",
            "/a/../b",
            id="dots",
        ),
        pytest.param(
            {"path": "/app/a", "raw_path": b"/app/a", "root_path": "/app", "query_string": b""},
            "/app/a",
            "/app/a",
            id="root_path",
        ),
        pytest.param(
            {"path": "/é x", "query_string": b"q"}, "/%C3%A9%20x?q", "/%C3%A9%20x", id="no raw_path"
        ),
        pytest.param(
            {"path": "/a", "raw_path": None, "query_string": b""}, "/a", "/a", id="raw_path None"
        ),
        pytest.param(
            {
                "path": "/x",
                "raw_path": b"/\x1b[31m\r\n 200 \x7f\xc3\xa9\x85\x00",
                "query_string": b"\x1b]0;x\x07 \n\xff",
            },
            "/%1B[31m%0D%0A%20200%20%7F%C3%A9%85%00?%1B]0;x%07%20%0A%FF",
            "/%1B[31m%0D%0A%20200%20%7F%C3%A9%85%00",
            id="control characters",
        ),
    ],
)
async def test_path_from_a_server(
    scope: dict[str, Any], logged: str, without_query: str, clock: Clock
) -> None:
    for query, path in ((True, logged), (False, without_query)):
        lines: list[str] = []
        await serve(app_with(lines, query=query), **scope)
        assert lines == [f"--> GET {path}", f"<-- GET {path} 200 3ms"]


@given(
    method=st.text(st.characters(max_codepoint=255), min_size=1),
    raw_path=st.binary(),
    query_string=st.binary(),
)
async def test_whatever_comes_each_line_is_one_line_of_visible_ascii(
    method: str, raw_path: bytes, query_string: bytes
) -> None:
    lines: list[str] = []
    app = Kit()
    app.use(logger(lines.append))
    app.all("*", lambda c: c.text("x"))
    raw_path = b"/" + raw_path.replace(b"#", b"")  # which no request target has
    path = raw_path.decode("latin-1")
    await serve(app, method=method, path=path, raw_path=raw_path, query_string=query_string)
    match = LINES.fullmatch("\n".join(lines))
    assert match is not None
    assert match[1] == match[2]


@given(path=st.text())
async def test_any_path_in_process(path: str) -> None:
    lines: list[str] = []
    try:
        await app_with(lines, query=False).request("http://localhost/" + path)
    except ValueError:  # no URL
        return
    assert LINES.fullmatch("\n".join(lines))


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "0ms"),
        (0.9, "0ms"),
        (1, "1ms"),
        (999, "999ms"),
        (999.9, "999ms"),
        (1000, "1s"),
        (1499, "1s"),
        (1500, "2s"),
        (2500, "3s"),
        (59_600, "60s"),
        (999_499, "999s"),
        (1_000_000, "1,000s"),
        (1_234_567_000, "1,234,567s"),
    ],
)
async def test_duration(milliseconds: float, shown: str, clock: Clock) -> None:
    clock.milliseconds = milliseconds
    lines: list[str] = []
    await app_with(lines).request("/")
    assert lines[1] == f"<-- GET / 200 {shown}"


async def test_duration_is_that_of_the_handlers(clock: Clock) -> None:
    clock.milliseconds = 0

    async def slow(c: Context) -> Response:
        clock.now += 50_000_000
        return c.text("x")

    lines: list[str] = []
    app = Kit()
    app.use(logger(lines.append))
    app.get("/", slow)
    await app.request("/")
    assert lines[1] == "<-- GET / 200 50ms"


async def test_not_found_and_errors(clock: Clock) -> None:
    def fail(c: Context) -> Response:
        raise RuntimeError("boom")

    def refuse(c: Context) -> Response:
        raise HTTPException(403)

    lines: list[str] = []
    app = Kit()
    app.use(logger(lines.append))
    app.get("/fail", fail)
    app.get("/refuse", refuse)
    app.on_error(
        lambda error, c: c.text("", error.status if isinstance(error, HTTPException) else 500)
    )
    for path in ("/fail", "/refuse", "/none"):
        await app.request(path)
    assert lines[1::2] == [
        "<-- GET /fail 500 3ms",
        "<-- GET /refuse 403 3ms",
        "<-- GET /none 404 3ms",
    ]


async def test_status_that_inner_middleware_made(clock: Clock) -> None:
    async def replace(c: Context, next: Callable[[], Awaitable[None]]) -> None:
        await next()
        c.res = c.text("teapot", 418)

    lines: list[str] = []
    app = Kit()
    app.use(logger(lines.append))
    app.use(replace)
    app.get("/", lambda c: c.text(""))
    await app.request("/")
    assert lines[1] == "<-- GET / 418 3ms"


async def test_handler_that_forgot_to_answer(clock: Clock) -> None:
    def forgets(c: Context) -> None:
        c.text("not returned")

    lines: list[str] = []
    app: Any = Kit()
    app.use(logger(lines.append))
    app.get("/", forgets)
    assert (await app.request("/")).status == 500
    assert lines == ["--> GET /", "<-- GET / 500 3ms"]


async def test_cancelled_before_an_answer(clock: Clock) -> None:
    async def hang(c: Context) -> Response:
        await asyncio.sleep(60)
        return c.text("")

    lines: list[str] = []
    app = Kit()
    app.use(logger(lines.append))
    app.get("/", hang)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await app.request("/")
    assert lines == ["--> GET /"]


async def test_cancelled_after_an_answer(clock: Clock) -> None:
    async def linger(c: Context, next: Callable[[], Awaitable[None]]) -> None:
        await next()
        await asyncio.sleep(60)

    lines: list[str] = []
    app = Kit()
    app.use(logger(lines.append))
    app.use(linger)
    app.get("/", lambda c: c.text("", 202))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await app.request("/")
    assert lines == ["--> GET /", "<-- GET / 202 3ms"]


async def test_part_of_an_app_and_several_loggers(clock: Clock) -> None:
    lines: list[str] = []
    app = Kit()
    app.use("/api/*", logger(lines.append))
    app.use("/api/deep/*", logger(lambda line: lines.append("  " + line)))
    app.get("*", lambda c: c.text(""))
    await app.request("/other")
    await app.request("/api/deep/x")
    assert lines == [
        "--> GET /api/deep/x",
        "  --> GET /api/deep/x",
        "  <-- GET /api/deep/x 200 3ms",
        "<-- GET /api/deep/x 200 9ms",  # the clock was asked twice in between
    ]


async def test_what_fn_raises_is_an_error_of_the_request() -> None:
    def fn(line: str) -> None:
        raise RuntimeError("the disk is full")

    app = Kit()
    app.use(logger(fn))
    app.get("/", lambda c: c.text(""))
    app.on_error(lambda error, c: c.text(str(error), 500))
    response = await app.request("/")
    assert (response.status, await response.text()) == (500, "the disk is full")


# --- print and colours --------------------------------------------------------------------------


async def test_print_is_the_default(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    app = Kit()
    app.use(logger())
    app.get("/a", lambda c: c.text(""))
    await app.request("/a")
    assert capsys.readouterr().out == "--> GET /a\n<-- GET /a 200 3ms\n"


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (200, "\x1b[32m200\x1b[0m"),
        (299, "\x1b[32m299\x1b[0m"),
        (304, "\x1b[36m304\x1b[0m"),
        (404, "\x1b[33m404\x1b[0m"),
        (500, "\x1b[31m500\x1b[0m"),
        (101, "101"),
    ],
)
async def test_colors(
    status: int, shown: str, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    app = Kit()
    app.use(logger())
    app.get("/", lambda c: c.body(None, status))
    await app.request("/")
    assert terminal.getvalue() == f"--> GET /\n<-- GET / {shown} 3ms\n"


@pytest.mark.parametrize(
    ("settings", "stream", "colored"),
    [
        ({}, Terminal, True),
        ({}, io.StringIO, False),
        ({"NO_COLOR": "1"}, Terminal, False),
        ({"NO_COLOR": ""}, Terminal, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, Terminal, False),
        ({"FORCE_COLOR": "1"}, io.StringIO, True),
        ({"TERM": "dumb"}, Terminal, False),
        ({"TERM": "xterm"}, Terminal, True),
    ],
)
async def test_where_colors_are_taken(
    settings: dict[str, str],
    stream: type[io.StringIO],
    colored: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    output = stream()
    monkeypatch.setattr(sys, "stdout", output)
    app = Kit()
    app.use(logger(print))
    app.get("/", lambda c: c.text(""))
    await app.request("/")
    assert ("\x1b[32m200\x1b[0m" in output.getvalue()) == colored
    assert ("\x1b" in output.getvalue()) == colored


async def test_output_that_is_redirected_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    app = Kit()
    app.use(logger())
    app.get("/", lambda c: c.text(""))
    with contextlib.redirect_stdout(io.StringIO()) as file:
        await app.request("/")
    assert "\x1b" not in file.getvalue()
    with contextlib.redirect_stdout(Terminal()) as terminal:
        await app.request("/")
    assert "\x1b[32m" in terminal.getvalue()


async def test_other_functions_get_plain_lines(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    lines: list[str] = []
    await app_with(lines).request("/")
    assert lines == ["--> GET /", "<-- GET / 200 3ms"]


async def test_a_function_with_more_parameters(clock: Clock) -> None:
    lines: list[str] = []

    def fn(line: str, *rest: str) -> None:
        assert rest == ()
        lines.append(line)

    app = Kit()
    app.use(logger(fn))
    await app.request("/")
    assert lines == ["--> GET /", "<-- GET / 404 3ms"]


# --- creation -----------------------------------------------------------------------------------


async def async_fn(line: str) -> None: ...


def nothing() -> None: ...


class AsyncFn:
    async def __call__(self, line: str) -> None: ...


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: logger(None),  # type: ignore[arg-type]
            "logger(fn=...) takes a function, not None",
        ),
        (lambda: logger(async_fn), "logger(fn=...) takes a plain function, not an async one"),
        (lambda: logger(partial(async_fn)), "takes a plain function, not an async one"),
        (lambda: logger(AsyncFn()), "logger(fn=...) takes a plain function, not an async one"),
        (
            lambda: logger(nothing),  # type: ignore[arg-type]
            "logger(fn=...) takes a function (line): got the signature nothing() -> 'None'",
        ),
        (
            lambda: logger(query="no"),  # type: ignore[arg-type]
            "logger(query=...) takes a bool, not 'no'",
        ),
    ],
)
def test_mistakes_are_errors_at_creation(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError) as caught:
        make()
    assert text in str(caught.value)


def test_query_is_keyword_only() -> None:
    with pytest.raises(TypeError):
        logger(print, False)  # type: ignore[call-arg]


def test_middleware_bears_the_name_of_its_factory() -> None:
    assert logger().__name__ == "logger"


def test_public_names() -> None:
    assert kit.logger.__all__ == ("access_log", "logger")
    assert callable(kit.logger.logger)


# --- README ----------------------------------------------------------------------------------


def readme_app(number: int) -> Kit[Any, Any]:
    """The app of a Python block of the README."""
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text()
    block = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)[number]
    namespace: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), namespace)
    app = namespace["app"]
    assert isinstance(app, Kit)
    return app


async def test_readme(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    await readme_app(0).request("/users/7?full=1")
    lines = "--> GET /users/7?full=1\n<-- GET /users/7?full=1 200 3ms\n"
    assert capsys.readouterr().out == lines
    with caplog.at_level("INFO", "access"):
        await readme_app(1).request("/reset?secret")
    assert caplog.messages == ["--> GET /reset", "<-- GET /reset 200 3ms"]
    assert capsys.readouterr().out == ""
