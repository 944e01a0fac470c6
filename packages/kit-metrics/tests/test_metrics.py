# SPDX-License-Identifier: MIT
"""What is counted, with which labels, and that each request counts once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from prometheus_client import CollectorRegistry

from kit import Context, HTTPException, Kit, Response
from kit.interface import Next, plugins
from kit.logger import access_log
from kit.metrics import metrics
from kit.serve_static import serve_static
from kit.streaming import stream

DURATIONS = "http_request_duration_seconds_count"
SENT = "http_response_size_bytes_sum"
RECEIVED = "http_request_size_bytes"
IN_PROGRESS = "http_requests_in_progress"
PLACE = ("method", "route")
Counted = Callable[..., dict[tuple[str, ...], float]]


def fail(c: Context) -> Response:
    raise ValueError("a fault")


def refuse(c: Context) -> Response:
    raise HTTPException(403, "no")


def app_with(registry: CollectorRegistry, **options: Any) -> Kit:
    app = Kit()
    app.use(metrics(registry=registry, **options))
    app.get("/", lambda c: c.text("Hello"))
    app.get("/books/:id{[0-9]+}", lambda c: c.json({"id": c.req.param("id")}))
    app.post("/books", lambda c: c.body(None, 204))
    app.get("/fault", fail)
    app.get("/refused", refuse)
    return app


def test_the_label_is_the_pattern_of_the_route(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    app = app_with(registry)
    for path in ("/", "/books/1", "/books/2?page=3", "/books/x", "/a/b", "/fault", "/refused"):
        run(app.request, path)
    expected = {
        ("GET", "/", "200"): 1,
        ("GET", "/books/:id{[0-9]+}", "200"): 2,
        ("GET", "unmatched", "404"): 2,
        ("GET", "/fault", "500"): 1,
        ("GET", "/refused", "403"): 1,
    }
    assert counted() == expected
    assert counted(DURATIONS) == expected
    assert {*counted(IN_PROGRESS, PLACE).values()} == {0}


def test_methods_that_are_not_standard_are_one_label(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    app = app_with(registry)
    app.on(["PROPFIND"], "/", lambda c: c.text("x"))
    for method in ("PROPFIND", "BREW", "HEAD", "DELETE"):
        run(lambda method=method: app.request("/", method=method))
    assert counted() == {
        ("_OTHER", "/", "200"): 1,
        ("_OTHER", "unmatched", "404"): 1,
        ("HEAD", "/", "200"): 1,
        ("DELETE", "unmatched", "404"): 1,
    }


def test_sub_apps_and_mounted_apps(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    app = app_with(registry)
    sub = Kit()
    sub.get("/users/:name", lambda c: c.text("sub"))
    app.route("/:tenant", sub)
    app.mount("/old", lambda request, *rest: Response("old"))
    for path in ("/acme/users/ann", "/umbrella/users/bob", "/old/anything/at/all"):
        run(app.request, path)
    assert counted() == {
        ("GET", "/:tenant/users/:name", "200"): 2,
        ("GET", "/old/*", "200"): 1,
    }


def test_a_request_measured_by_an_app_and_its_sub_app_counts_once(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    others = CollectorRegistry()
    measure = metrics(None, registry=registry)
    sub = Kit()
    sub.use(metrics(None, registry=registry), measure, metrics(None, registry=others))
    sub.get("/x", lambda c: c.text("sub"))
    sub.get("/stream", lambda c: c.body(chunks(b"ab", b"cd")))
    app = Kit()
    app.use(measure)
    app.route("/sub", sub)

    async def ask() -> None:
        await app.request("/sub/x")
        response = await app.request("/sub/stream")
        assert counted(IN_PROGRESS, PLACE)["GET", "/sub/stream"] == 1
        await response.bytes()

    run(ask)
    expected = {("GET", "/sub/x", "200"): 1, ("GET", "/sub/stream", "200"): 1}
    assert counted() == counted(DURATIONS) == expected
    assert {*counted(IN_PROGRESS, PLACE).values()} == {0}
    # Another registry is another matter.
    labels = {"method": "GET", "route": "/sub/x", "status": "200"}
    assert others.get_sample_value("http_requests_total", labels) == 1


def test_what_an_app_excludes_counts_in_its_sub_app(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    sub = Kit()
    sub.use(metrics(None, registry=registry))
    sub.get("/x", lambda c: c.text("sub"))
    app = app_with(registry, exclude="/sub/*")
    app.route("/sub", sub)
    run(app.request, "/sub/x")
    assert counted() == {("GET", "/sub/x", "200"): 1}


def test_middleware_that_answers_is_labelled_with_its_pattern(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    def answering(text: str) -> Any:
        async def answer(c: Context, next: Next) -> Response | None:
            if c.req.path.endswith(text):
                return c.text(text)
            await next()
            return None

        return answer

    app = Kit()
    app.use(metrics(registry=registry), answering("everywhere"))
    app.use("/files/*", answering("css"))
    app.get("/:page", lambda c: c.text("a page"))
    for path in ("/files/a.css", "/files/b.css", "/files/none", "/x/everywhere", "/a.everywhere"):
        run(app.request, path)
    assert counted() == {
        ("GET", "/files/*", "200"): 2,
        ("GET", "unmatched", "404"): 1,
        ("GET", "unmatched", "200"): 1,
        ("GET", "/:page", "200"): 1,
    }


def test_sizes_of_bodies(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    app = app_with(registry)
    app.post("/echo", echo)
    run(app.request, "/")
    run(lambda: app.request("/", method="HEAD"))
    run(lambda: app.request("/books", method="POST", body="four"))
    declared = {"content-length": "12"}
    run(lambda: app.request("/echo", method="POST", headers=declared, body=b"x" * 12))
    odd = {"content-length": "twelve"}
    run(lambda: app.request("/echo", method="POST", headers=odd, body=b"x" * 12))
    assert counted(SENT) == {
        ("GET", "/", "200"): 5,
        ("HEAD", "/", "200"): 0,
        ("POST", "/books", "204"): 0,
        ("POST", "/echo", "200"): 24,
    }
    assert counted(f"{RECEIVED}_sum")["POST", "/echo", "200"] == 12
    assert counted(f"{RECEIVED}_count")["POST", "/echo", "200"] == 1


async def echo(c: Context) -> Response:
    return c.body(await c.req.bytes())


async def chunks(*given: bytes) -> AsyncIterator[bytes]:
    for chunk in given:
        yield chunk


@pytest.mark.parametrize("headers", [{}, {"content-length": "5"}])
def test_a_stream_is_over_when_its_body_is(
    run: Callable[..., Any],
    registry: CollectorRegistry,
    counted: Counted,
    headers: dict[str, str],
) -> None:
    app = Kit()
    app.use(metrics(registry=registry))
    app.get("/stream", lambda c: c.body(chunks(b"abc", b"de"), 200, headers))

    async def ask() -> None:
        response = await app.request("/stream")
        assert response.headers.get("content-length") == headers.get("content-length")
        assert counted() == {}
        assert counted(IN_PROGRESS, PLACE) == {("GET", "/stream"): 1}
        assert await response.bytes() == b"abcde"

    run(ask)
    assert counted() == {("GET", "/stream", "200"): 1}
    assert counted(SENT) == {("GET", "/stream", "200"): 5}
    assert counted(IN_PROGRESS, PLACE) == {("GET", "/stream"): 0}


def test_a_stream_that_fails_or_is_left_counts_once_with_what_was_sent(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    closed = []

    async def failing() -> AsyncIterator[bytes]:
        yield b"abc"
        raise ValueError("a fault")

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"ab"
        finally:
            closed.append(True)

    app = Kit()
    app.use(metrics(registry=registry))
    app.get("/failing", lambda c: c.body(failing()))
    app.get("/endless", lambda c: c.body(endless()))

    async def ask() -> None:
        with pytest.raises(ValueError, match="a fault"):
            await (await app.request("/failing")).bytes()
        body: Any = (await app.request("/endless")).body
        assert [await anext(body), await anext(body)] == [b"ab", b"ab"]
        await body.aclose()

    run(ask)
    assert closed == [True]
    assert counted() == {("GET", "/failing", "200"): 1, ("GET", "/endless", "200"): 1}
    assert counted(SENT) == {("GET", "/failing", "200"): 3, ("GET", "/endless", "200"): 4}


def test_a_stream_that_is_written(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    async def write(out: Any) -> None:
        await out.write(b"abc")
        await out.write("dé")

    app = Kit()
    app.use(metrics(registry=registry))
    app.get("/", lambda c: stream(c, write))

    async def ask() -> bytes:
        return await (await app.request("/")).bytes()

    assert run(ask) == "abcdé".encode()
    assert counted(SENT) == {("GET", "/", "200"): 6}


def test_a_plain_iterable_as_body_is_counted_and_closed(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    app = Kit()
    app.use(metrics(registry=registry))
    app.get("/", lambda c: c.body(each for each in (b"ab", b"cd")))

    async def ask() -> bytes:
        return await (await app.request("/")).bytes()

    assert run(ask) == b"abcd"
    assert counted(SENT) == {("GET", "/", "200"): 4}


def test_a_cancelled_request_counts_once(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    async def wait(c: Context) -> Response:
        scope.cancel()
        await anyio.sleep_forever()
        return c.text("never")

    async def slow_label(c: Context) -> str:
        await anyio.lowlevel.checkpoint()
        return "waited"

    app = Kit()
    app.use(metrics(registry=registry, labels={"kind": slow_label}))
    app.get("/wait", wait)
    scope: Any = None

    async def ask() -> None:
        nonlocal scope
        with anyio.CancelScope() as scope:
            await app.request("/wait")
        assert scope.cancelled_caught

    run(ask)
    labels = ("method", "route", "status", "kind")
    assert counted(labels=labels) == {("GET", "/wait", "499", "waited"): 1}
    assert counted(IN_PROGRESS, PLACE) == {("GET", "/wait"): 0}


def test_a_request_that_is_cancelled_behind_the_middleware_without_a_response(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    async def outer(c: Context, next: Next) -> None:
        await next()
        scope.cancel()
        await anyio.lowlevel.checkpoint()

    app = Kit()
    app.use(outer, metrics(registry=registry))
    app.get("/", lambda c: None)
    scope: Any = None

    async def ask() -> None:
        nonlocal scope
        with anyio.CancelScope() as scope:
            await app.request("/")

    run(ask)
    assert counted() == {("GET", "/", "499"): 1}
    assert counted(IN_PROGRESS, PLACE) == {("GET", "/"): 0}


def test_a_handler_without_a_response_is_an_error(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    app = Kit()
    app.use(metrics(registry=registry))
    app.get("/", lambda c: None)
    assert run(app.request, "/").status == 500
    assert counted() == {("GET", "/", "500"): 1}


def test_a_request_that_is_cancelled_while_its_label_is_found_counts_once(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    calls = []

    async def label(c: Context) -> str:
        calls.append(1)
        if len(calls) == 1:
            scope.cancel()
        await anyio.lowlevel.checkpoint()
        return "found"

    app = app_with(registry, labels={"kind": label})
    scope: Any = None

    async def ask() -> None:
        nonlocal scope
        with anyio.CancelScope() as scope:
            await app.request("/")
        assert scope.cancelled_caught

    run(ask)
    labels = ("method", "route", "status", "kind")
    assert counted(labels=labels) == {("GET", "/", "499", "found"): 1}
    assert counted(IN_PROGRESS, PLACE) == {("GET", "/"): 0}


def test_a_response_whose_body_was_read_is_an_error(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    async def read(c: Context) -> Response:
        response = c.body(chunks(b"abc"))
        await response.bytes()
        return response

    app = Kit()
    app.use(metrics(registry=registry))
    app.get("/", read)
    run(app.request, "/")
    assert counted() == {("GET", "/", "500"): 1}
    assert counted(IN_PROGRESS, PLACE) == {("GET", "/"): 0}


def test_on_a_server_that_sends_files_by_their_paths(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted, tmp_path: Path
) -> None:
    (tmp_path / "large.bin").write_bytes(b"x" * 3_000_000)
    app = Kit()
    app.use(metrics(registry=registry))
    app.use("*", serve_static(tmp_path, pathsend=True))
    app.get("/stream", lambda c: c.body(chunks(b"hello"), 200, {"content-length": "5"}))
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    for method, path in (("GET", "/large.bin"), ("GET", "/stream"), ("HEAD", "/stream")):
        scope = {
            "type": "http",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
            "extensions": {"http.response.pathsend": {}},
        }
        run(app, scope, receive, send)
    by_path = [each["path"] for each in sent if each["type"] == "http.response.pathsend"]
    assert by_path == [str(tmp_path / "large.bin")]
    assert counted(SENT) == {
        ("GET", "unmatched", "200"): 3_000_000,
        ("GET", "/stream", "200"): 5,
        ("HEAD", "/stream", "200"): 0,
    }


def test_in_progress_while_a_handler_runs(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    seen = []

    def look(c: Context) -> Response:
        seen.append(counted(IN_PROGRESS, PLACE))
        return c.text("x")

    app = Kit()
    app.use(metrics(registry=registry))
    app.get("/look/:at", look)
    run(app.request, "/look/now")
    assert seen == [{("GET", "/look/:at"): 1}]
    assert counted(IN_PROGRESS, PLACE) == {("GET", "/look/:at"): 0}


def test_what_is_excluded_is_not_measured(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    app = app_with(registry, exclude=["/books/:id{[0-9]+}", "/robots.txt"])
    for path in ("/books/1", "/robots.txt", "/", "/fault"):
        run(app.request, path)
    assert counted() == {("GET", "/", "200"): 1, ("GET", "/fault", "500"): 1}
    assert {*counted(IN_PROGRESS, PLACE)} == {("GET", "/"), ("GET", "/fault")}


async def asks_for_internals(c: Context) -> bool:
    return c.req.header("x-internal") is not None


@pytest.mark.parametrize(
    "exclude",
    [
        "/books/*",
        lambda c: c.req.path.startswith("/books/"),
        asks_for_internals,
        ["/fault", "/books/:id"],
        ["/other", asks_for_internals],
    ],
)
def test_requests_are_excluded_by_patterns_and_functions(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted, exclude: Any
) -> None:
    app = app_with(registry, exclude=exclude)
    run(lambda: app.request("/books/1", headers={"x-internal": "1"}))
    run(app.request, "/")
    assert counted() == {("GET", "/", "200"): 1}
    assert counted(IN_PROGRESS, PLACE) == {("GET", "/"): 0}


def test_a_function_of_exclude_that_fails_excludes_nothing(
    run: Callable[..., Any],
    registry: CollectorRegistry,
    counted: Counted,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(c: Context) -> bool:
        raise ValueError("a fault")

    run(app_with(registry, exclude=broken).request, "/")
    assert counted() == {("GET", "/", "200"): 1}
    assert "failed, so nothing is excluded" in caplog.text


def test_a_stream_that_other_middleware_tracks_too_is_counted_once_by_each(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    lines: list[str] = []
    app = Kit()
    app.use(access_log(to=lines.append), metrics(registry=registry), access_log(to=lines.append))
    app.get("/", lambda c: c.body(chunks(b"abc", b"de")))

    async def ask() -> bytes:
        return await (await app.request("/")).bytes()

    assert run(ask) == b"abcde"
    assert counted(SENT) == {("GET", "/", "200"): 5}
    assert [json.loads(line)["response_bytes"] for line in lines] == [5, 5]


def test_buckets_and_prefix(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Counted
) -> None:
    app = app_with(registry, prefix="shop", buckets=[60, float("inf")])
    run(app.request, "/")
    assert counted("shop_requests_total") == {("GET", "/", "200"): 1}
    buckets = counted("shop_request_duration_seconds_bucket", ("le",))
    assert buckets == {("60.0",): 1, ("+Inf",): 1}


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "metrics") is metrics
