# SPDX-License-Identifier: MIT
"""The header Server-Timing: what is in it, and who may read it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Next, Response
from kit.interface import plugins
from kit.streaming import StreamingApi, stream
from kit.timing import end_timer, set_metric, start_timer, timing, wrap_time

Run = Callable[..., Any]
TOTAL = ("total", "Total Response Time")


class FakeContext:
    """As much of a context as metrics need."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.sent: dict[str, str] = {}
        self.get = self.variables.get
        self.set = self.variables.__setitem__

    def header(self, name: str, value: str, *, append: bool) -> None:
        assert append
        self.sent[name] = value


def server_timing(value: str) -> list[tuple[str, float | None, str | None]]:
    """Reads the header as a browser does (W3C Server Timing, section 4): name, dur and desc."""
    read = []
    while value:
        found = re.match(r"[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)", value)
        assert found, value
        name, value = found[1], value[found.end() :]
        params: dict[str, str] = {}
        while found := re.match(r';([a-z]+)=(?:([0-9.-]+)|"((?:[^"\\]|\\.)*)")', value):
            quoted = found[3]
            text = found[2] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            assert found[1] not in params
            params[found[1]] = text
            value = value[found.end() :]
        assert not value or value.startswith(","), value
        value = value[1:]
        duration = params.get("dur")
        read.append((name, None if duration is None else float(duration), params.get("desc")))
    return read


def names_in(response: Response) -> list[tuple[str, str | None]]:
    value = response.headers.get("server-timing")
    assert value is not None
    return [(name, description) for name, _, description in server_timing(value)]


def app_with(handler: Callable[[Context], Any], **options: Any) -> Kit:
    app = Kit()
    app.use(timing(**options))
    app.get("/", handler)
    return app


def text(c: Context) -> Response:
    return c.text("Hello")


def fail(c: Context) -> Response:
    raise ValueError("a fault")


# --- the header ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/absent", 404)])
def test_total_is_measured(run: Run, path: str, status: int) -> None:
    response = run(app_with(text).request, path)
    assert response.status == status
    assert names_in(response) == [TOTAL]
    value = response.headers.get("server-timing")
    assert re.fullmatch(r'total;dur=\d+\.\d;desc="Total Response Time"', value)
    assert not response.headers.has("timing-allow-origin")


def test_total_is_measured_of_errors_too(run: Run) -> None:
    response = run(app_with(fail).request, "/")
    assert response.status == 500
    assert names_in(response) == [TOTAL]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"total_description": ""}, [("total", None)]),
        ({"total_description": 'say "hi" \\'}, [("total", 'say "hi" \\')]),
        ({"total": False}, []),
    ],
)
def test_total_is_an_option(
    run: Run, options: dict[str, Any], names: list[tuple[str, str | None]]
) -> None:
    assert names_in(run(app_with(text, **options).request, "/")) == names


async def enabled_async(c: Context) -> bool:
    return c.req.query("debug") is not None


@pytest.mark.parametrize("enabled", [enabled_async, lambda c: c.req.query("debug") is not None])
def test_enabled_is_asked(run: Run, enabled: Any) -> None:
    app = app_with(text, enabled=enabled, cross_origin=True)
    response = run(app.request, "/?debug")
    assert names_in(response) == [TOTAL]
    assert response.headers.get("timing-allow-origin") == "*"
    response = run(app.request, "/")
    assert not response.headers.has("server-timing")
    assert not response.headers.has("timing-allow-origin")


def test_enabled_is_asked_after_the_handlers(run: Run) -> None:
    app = app_with(lambda c: c.text("slow", 503), enabled=lambda c: c.res.status == 503)
    assert run(app.request, "/").headers.has("server-timing")


def test_not_enabled(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    def handler(c: Context) -> Response:
        set_metric(c, "a", 1)
        return c.text("Hello")

    assert not run(app_with(handler, enabled=False).request, "/").headers.has("server-timing")
    assert caplog.messages == []


async def origin_async(c: Context) -> str | None:
    return c.req.header("origin")


@pytest.mark.parametrize(
    ("cross_origin", "allowed"),
    [
        (True, "*"),
        ("https://a.example", "https://a.example"),
        (lambda c: True, "*"),
        (lambda c: False, None),
        (lambda c: None, None),
        (lambda c: c.req.header("origin"), "https://b.example"),
        (origin_async, "https://b.example"),
    ],
)
def test_cross_origin(run: Run, cross_origin: Any, allowed: str | None) -> None:
    app = app_with(text, cross_origin=cross_origin)
    response = run(app.request, "/", {"headers": {"origin": "https://b.example"}})
    assert response.headers.get("timing-allow-origin") == allowed


def test_lines_of_the_handler_stay(run: Run) -> None:
    own = {"server-timing": "own;dur=1", "timing-allow-origin": "https://own.example"}
    app = app_with(lambda c: c.text("own", 200, own), cross_origin="https://a.example")
    headers = run(app.request, "/").headers
    assert headers.get_all("server-timing")[0] == "own;dur=1"
    assert headers.get_all("server-timing")[1].startswith("total;dur=")
    assert headers.get_all("timing-allow-origin") == ["https://own.example", "https://a.example"]


def test_the_outermost_one_sends_all(run: Run) -> None:
    app = Kit()
    app.use(timing(total_description="outer"))
    app.use(timing(total_description="inner", cross_origin=True))

    @app.get("/")
    def handler(c: Context) -> Response:
        set_metric(c, "a")
        return c.text("Hello")

    response = run(app.request, "/")
    assert names_in(response) == [("a", None), ("total", "outer")]
    assert not response.headers.has("timing-allow-origin")


# --- metrics ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "member"),
    [
        (("plain",), "plain"),
        (("plain", None), "plain"),
        (("plain", ""), "plain"),
        (("region", "europe-west3"), 'region;desc="europe-west3"'),
        (("region", None, "europe"), 'region;desc="europe"'),
        (("zero", 0, "none"), 'zero;dur=0.0;desc="none"'),
        (("zero", -0.0), "zero;dur=0.0"),
        (("five", 0.005), "five;dur=5.0"),
        (("one", 1), "one;dur=1000.0"),
        # Seconds that are no whole milliseconds in floating point.
        (("custom", 0.0238, "Mine"), 'custom;dur=23.8;desc="Mine"'),
        (("precise", 0.00123456, None, 3), "precise;dur=1.235"),
        (("whole", 0.01234, "d", 0), 'whole;dur=12;desc="d"'),
        # Halves are rounded up, as in JavaScript.
        (("half", 0.01225), "half;dur=12.3"),
        (("half", 0.0125, None, 0), "half;dur=13"),
        (("a!#$%&'*+-.^_`|~9Z", 0.001), "a!#$%&'*+-.^_`|~9Z;dur=1.0"),
        (("quoted", 'a"b\\c,d;e=f\té'), 'quoted;desc="a\\"b\\\\c,d;e=f\té"'),
    ],
)
def test_set_metric(run: Run, arguments: tuple[Any, ...], member: str) -> None:
    def handler(c: Context) -> Response:
        set_metric(c, *arguments)
        return c.text("Hello")

    response = run(app_with(handler, total=False).request, "/")
    assert response.headers.get("server-timing") == member


descriptions = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"])) | st.none()


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", fullmatch=True),
            st.none() | st.floats(min_value=0, max_value=1e6),
            descriptions,
        )
    )
)
async def test_browsers_read_what_was_set(metrics: list[tuple[str, Any, str | None]]) -> None:
    c: Any = FakeContext()

    async def handler() -> None:
        for name, value, description in metrics:
            set_metric(c, name, value, description, None if value is None else 6)

    await timing(total=False)(c, handler)
    read = server_timing(c.sent["Server-Timing"])
    assert [(name, desc or None) for name, _, desc in read] == [
        (name, desc or None) for name, _, desc in metrics
    ]
    for (_, duration, _), (_, value, _) in zip(read, metrics, strict=True):
        assert duration == (None if value is None else pytest.approx(value * 1000, abs=1e-6))


def test_timers(run: Run) -> None:
    def handler(c: Context) -> Response:
        start_timer(c, "db", "Database")
        start_timer(c, "open")
        end_timer(c, "db", 3)
        return c.text("Hello")

    value = run(app_with(handler).request, "/").headers.get("server-timing")
    db = r'db;dur=\d+\.\d{3};desc="Database"'
    total = r'total;dur=\d+\.\d;desc="Total Response Time"'
    # Those that still run end with the response.
    assert re.fullmatch(rf"{db}, {total}, open;dur=\d+\.\d", value)
    value = run(app_with(handler, auto_end=False).request, "/").headers.get("server-timing")
    assert re.fullmatch(rf"{db}, {total}", value)


def test_total_may_be_ended_and_started_by_handlers(run: Run) -> None:
    def ended(c: Context) -> Response:
        end_timer(c, "total")
        set_metric(c, "after")
        return c.text("Hello")

    assert names_in(run(app_with(ended).request, "/")) == [TOTAL, ("after", None)]

    def started(c: Context) -> Response:
        start_timer(c, "total", "mine")
        return c.text("Hello")

    assert names_in(run(app_with(started).request, "/")) == [("total", "mine")]
    assert names_in(run(app_with(started, total=False).request, "/")) == [("total", "mine")]


def test_durations_grow(run: Run) -> None:
    async def durations() -> list[float | None]:
        c: Any = FakeContext()

        async def handler() -> None:
            start_timer(c, "outer")
            start_timer(c, "inner")
            end_timer(c, "inner", 9)
            end_timer(c, "outer", 9)

        await timing(total=False)(c, handler)
        return [duration for _, duration, _ in server_timing(c.sent["Server-Timing"])]

    inner, outer = run(durations)
    assert 0 < inner < outer


def test_wrap_time(run: Run) -> None:
    async def read(book: str) -> str:
        return book

    async def break_down() -> str:
        raise LookupError("no book")

    async def handler(c: Context) -> Response:
        book = await wrap_time(c, "db", read("Dune"), "Database", 4)
        with pytest.raises(LookupError, match=r"^no book$"):
            await wrap_time(c, "failed", break_down())
        return c.text(book)

    response = run(app_with(handler, total=False).request, "/")
    assert run(response.text) == "Dune"
    value = response.headers.get("server-timing")
    assert re.fullmatch(r'db;dur=\d+\.\d{4};desc="Database", failed;dur=\d+\.\d', value)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("a b",), ValueError, "wrap_time(name='a b') can't be used: expected a token such as "
         "'db-read'"),
        ((7,), TypeError, "wrap_time(name=...) takes a str, not 7"),
        (("db", 7), TypeError, "wrap_time(description=...) takes a str, not 7"),
        (("db", "\n"), ValueError, "wrap_time(description='\\n') can't be used: expected latin-1 "
         "text without control characters"),
        (("db", None, 101), ValueError, "wrap_time(precision=101) can't be used: expected 0 to "
         "100"),
        (("db", None, 1.0), TypeError, "wrap_time(precision=...) takes an int, not 1.0"),
    ],
)  # fmt: skip
def test_wrap_time_awaits_nothing_if_the_metric_can_not_be_sent(
    run: Run, arguments: tuple[Any, ...], error: type[Exception], text: str
) -> None:
    paid = []

    async def pay() -> None:
        paid.append(1)

    async def handler(c: Context) -> Response:
        name, *others = arguments
        with pytest.raises(error) as raised:
            await wrap_time(c, name, pay(), *others)
        return c.text(str(raised.value))

    assert run(run(app_with(handler).request, "/").text) == text
    assert paid == []


def test_wrap_time_of_one_name_at_the_same_time(run: Run) -> None:
    async def handler(c: Context) -> Response:
        first_runs, second_ended = anyio.Event(), anyio.Event()

        async def first() -> None:
            first_runs.set()
            await second_ended.wait()

        async with anyio.create_task_group() as group:
            group.start_soon(wrap_time, c, "db", first(), None, 9)
            await first_runs.wait()
            await wrap_time(c, "db", checkpoint(), None, 9)
            second_ended.set()
        return c.text("Hello")

    value = run(app_with(handler, total=False).request, "/").headers.get("server-timing")
    (_, second, _), (_, first, _) = server_timing(value)
    assert first > second > 0


# --- what is lost -------------------------------------------------------------------------------


def test_without_the_middleware_metrics_are_lost(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit()

    @app.get("/")
    async def handler(c: Context) -> Response:
        set_metric(c, "a", 1)
        start_timer(c, "b")
        end_timer(c, "b")
        return c.text("Hello")

    response = run(app.request, "/")
    assert run(response.text) == "Hello"
    assert not response.headers.has("server-timing")
    assert [(each.name, each.levelno, each.getMessage()) for each in caplog.records] == [
        ("kit.timing", logging.WARNING, f"{call} is dropped; register timing() before the handler")
        for call in ("set_metric(): 'a'", "start_timer(): 'b'", "end_timer(): 'b'")
    ]


def test_a_timer_that_does_not_run(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    def handler(c: Context) -> Response:
        end_timer(c, "never\n")
        return c.text("Hello")

    assert names_in(run(app_with(handler).request, "/")) == [TOTAL]
    assert caplog.messages == [r"end_timer(): no timer 'never\n' is running"]


def test_metrics_that_come_too_late(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    app = Kit()

    @app.use()
    async def outer(c: Context, next: Next) -> None:
        await next()
        set_metric(c, "outer")

    app.use(timing(total=False))

    @app.get("/")
    def handler(c: Context) -> Response:
        async def write(api: StreamingApi) -> None:
            set_metric(c, "written")
            await api.write("Hello")

        return stream(c, write)

    async def ask() -> tuple[str, str | None]:
        response = await app.request("/")
        return await response.text(), response.headers.get("server-timing")

    assert run(ask) == ("Hello", "")
    assert caplog.messages == [
        "set_metric(): 'outer' is dropped; Server-Timing has already been set",
        "set_metric(): 'written' is dropped; Server-Timing has already been set",
    ]


# --- mistakes -----------------------------------------------------------------------------------

UNSENDABLE = "can't be used: expected latin-1 text without control characters"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"total": 1}, TypeError, "timing(total=...) takes a bool, not 1"),
        ({"auto_end": None}, TypeError, "timing(auto_end=...) takes a bool, not None"),
        ({"enabled": "yes"}, TypeError, "takes a bool or a function (c), not 'yes'"),
        ({"enabled": lambda: True}, TypeError, "takes a function (c): got the signature"),
        ({"cross_origin": lambda: True}, TypeError, "takes a function (c): got the signature"),
        ({"total_description": None}, TypeError, "takes a str, not None"),
        ({"total_description": "a\r\nb"}, ValueError, "expected latin-1 text without control"),
        ({"cross_origin": None}, TypeError, "takes a bool, an origin such as"),
        ({"cross_origin": ""}, ValueError, "expected latin-1 text without control characters"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        timing(**options)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "text"),
    [
        (set_metric, ("a b",), ValueError, "expected a token such as 'db-read'"),
        (set_metric, ("",), ValueError, "expected a token such as 'db-read'"),
        (set_metric, ("é",), ValueError, "expected a token such as 'db-read'"),
        (set_metric, (7,), TypeError, "set_metric(name=...) takes a str, not 7"),
        (set_metric, ("a", "☃"), ValueError, f"set_metric(description='☃') {UNSENDABLE}"),
        (
            set_metric,
            ("a", 1, "x\r\ny: z"),
            ValueError,
            rf"set_metric(description='x\r\ny: z') {UNSENDABLE}",
        ),
        (set_metric, ("a", 1, 7), TypeError, "set_metric(description=...) takes a str, not 7"),
        (set_metric, ("a", True), TypeError, "takes seconds or a str, not True"),
        (set_metric, ("a", b"x"), TypeError, "takes seconds or a str, not b'x'"),
        (set_metric, ("a", float("nan")), ValueError, "expected a finite number"),
        (set_metric, ("a", float("-inf")), ValueError, "expected a finite number"),
        (set_metric, ("a", 1, None, 101), ValueError, "expected 0 to 100"),
        (set_metric, ("a", 1, None, 1.0), TypeError, "takes an int, not 1.0"),
        (start_timer, ("a,b",), ValueError, "expected a token such as 'db-read'"),
        (start_timer, ("a", "☃"), ValueError, f"start_timer(description='☃') {UNSENDABLE}"),
        (end_timer, ("a", -1), ValueError, "expected 0 to 100"),
    ],
)
def test_wrong_metrics(
    function: Any, arguments: tuple[Any, ...], error: type[Exception], text: str
) -> None:
    c = FakeContext()
    with pytest.raises(error) as raised:
        function(c, *arguments)
    assert text in str(raised.value)


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "timing") is timing
