# SPDX-License-Identifier: MIT
"""How spans and metrics tell the end of a request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from opentelemetry import propagate
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from kit import Context, HTTPException, Kit, Response
from kit.opentelemetry import opentelemetry
from kit.streaming import stream


class BrokenError(Exception):
    pass


def app_of(telemetry: Any, handler: Any, **options: Any) -> Kit:
    app = Kit().use(telemetry.middleware(meter_provider=telemetry.meters, **options))
    app.get("/", handler)
    return app


def ended(telemetry: Any) -> tuple[Any, Any, StatusCode, list[str]]:
    """Status, error.type, status of the span, and the exceptions that were recorded."""
    span = telemetry.span
    exceptions = [event.attributes["exception.type"] for event in span.events]
    status = span.attributes.get("http.response.status_code")
    error_type = span.attributes.get("error.type")
    [point] = telemetry.points("http.server.request.duration")
    assert point.count == 1
    assert point.attributes.get("error.type") == error_type
    assert point.attributes.get("http.response.status_code") == status
    assert [each.value for each in telemetry.points("http.server.active_requests")] == [0]
    assert span.status.description is None
    return status, error_type, span.status.status_code, exceptions


def raising(error: Exception) -> Any:
    async def handler(c: Context) -> Response:
        raise error

    return handler


def test_exception(run: Any, served: Any, telemetry: Any) -> None:
    run(served().by, app_of(telemetry, raising(BrokenError("x"))))
    name = f"{__name__}.BrokenError"
    assert ended(telemetry) == (500, name, StatusCode.ERROR, [name])


def test_builtin_exception(run: Any, served: Any, telemetry: Any) -> None:
    run(served().by, app_of(telemetry, raising(ValueError("x"))))
    assert ended(telemetry) == (500, "ValueError", StatusCode.ERROR, ["ValueError"])


def test_exception_that_is_answered(run: Any, served: Any, telemetry: Any) -> None:
    app = app_of(telemetry, raising(BrokenError("x")))
    app.on_error(lambda error, c: c.text("gone", 410))
    run(served().by, app)
    assert ended(telemetry) == (410, None, StatusCode.UNSET, [])


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_client_errors_are_no_errors(run: Any, served: Any, telemetry: Any, status: int) -> None:
    run(served().by, app_of(telemetry, raising(HTTPException(status))))
    assert ended(telemetry) == (status, None, StatusCode.UNSET, [])


def test_server_error_that_is_raised_as_an_answer(run: Any, served: Any, telemetry: Any) -> None:
    run(served().by, app_of(telemetry, raising(HTTPException(503))))
    assert ended(telemetry) == (503, "503", StatusCode.ERROR, [])


def test_server_error_that_is_returned(run: Any, served: Any, telemetry: Any) -> None:
    run(served().by, app_of(telemetry, lambda c: c.text("x", 502)))
    assert ended(telemetry) == (502, "502", StatusCode.ERROR, [])


def test_no_response(run: Any, served: Any, telemetry: Any) -> None:
    run(served().by, app_of(telemetry, lambda c: None))
    name = "kit.interface.HandlerError"
    assert ended(telemetry) == (500, name, StatusCode.ERROR, [name])


def test_response_that_was_read_already(run: Any, served: Any, telemetry: Any) -> None:
    async def handler(c: Context) -> Response:
        response = c.text("read")
        await response.text()
        return response

    run(served().by, app_of(telemetry, handler))
    assert ended(telemetry) == (500, "500", StatusCode.ERROR, [])


def test_stream_that_breaks(run: Any, served: Any, telemetry: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"abc"
        await checkpoint()
        raise BrokenError

    with pytest.raises(BrokenError):
        run(served().by, app_of(telemetry, lambda c: c.body(chunks())))
    name = f"{__name__}.BrokenError"
    assert ended(telemetry) == (200, name, StatusCode.ERROR, [name])
    [point] = telemetry.points("http.server.response.body.size")
    assert point.sum == 3


@pytest.mark.parametrize("pushed", [False, True])
def test_client_leaves_a_stream(run: Any, served: Any, telemetry: Any, pushed: bool) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"abc"
        await anyio.sleep_forever()

    async def write(api: Any) -> None:
        await api.write(b"abc")
        await anyio.sleep_forever()

    def handler(c: Context) -> Response:
        return stream(c, write) if pushed else c.body(chunks())

    run(served(leaves_after=2).by, app_of(telemetry, handler))
    assert ended(telemetry) == (200, "client_disconnected", StatusCode.ERROR, [])


def test_span_ends_with_the_last_chunk(run: Any, served: Any, telemetry: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"abc"
        await checkpoint()
        assert telemetry.spans == ()
        yield b"defg"

    run(served().by, app_of(telemetry, lambda c: c.body(chunks())))
    assert ended(telemetry) == (200, None, StatusCode.UNSET, [])
    [point] = telemetry.points("http.server.response.body.size")
    assert point.sum == 7


def test_issues_contrib_635_and_2343_no_spans_of_messages(
    run: Any, served: Any, telemetry: Any
) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"abc"
            await checkpoint()

    request = run(served().by, app_of(telemetry, lambda c: c.body(chunks())))
    assert len(request.messages) > 20
    assert len(telemetry.spans) == 1


def test_head_of_a_stream(run: Any, served: Any, telemetry: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"abc"

    run(served("HEAD").by, app_of(telemetry, lambda c: c.body(chunks())))
    assert ended(telemetry) == (200, None, StatusCode.UNSET, [])


def test_cancelled(run: Any, served: Any, telemetry: Any) -> None:
    async def handler(c: Context) -> Response:
        scope.cancel()
        await checkpoint()
        raise AssertionError

    async def ask() -> None:
        nonlocal scope
        with anyio.CancelScope() as scope:
            await served().by(app_of(telemetry, handler))

    scope: Any = None
    run(ask)
    status, error_type, code, exceptions = ended(telemetry)
    assert status is None
    assert error_type in ("asyncio.exceptions.CancelledError", "trio.Cancelled")
    assert (code, exceptions) == (StatusCode.ERROR, [])


def test_durations_and_sizes(run: Any, served: Any, telemetry: Any) -> None:
    app = app_of(telemetry, lambda c: c.text("hello"))
    run(served(headers={"content-length": "0"}).by, app)
    run(served("HEAD").by, app)
    run(served(headers={"content-length": "hello"}).by, app)
    [get, head] = telemetry.points("http.server.request.duration")
    assert dict(get.attributes) == {
        "http.request.method": "GET",
        "url.scheme": "http",
        "network.protocol.version": "1.1",
        "http.route": "/",
        "http.response.status_code": 200,
    }
    assert (get.count, head.count) == (2, 1)
    assert get.explicit_bounds == (
        *(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10),
    )
    sizes = telemetry.points("http.server.response.body.size")
    assert [(point.count, point.sum) for point in sizes] == [(2, 10), (1, 0)]
    [request_size] = telemetry.points("http.server.request.body.size")
    assert (request_size.count, request_size.sum) == (1, 0)


def test_metrics_without_traces(run: Any, served: Any, telemetry: Any) -> None:
    from kit.opentelemetry import opentelemetry

    app = Kit().use(opentelemetry(meter_provider=telemetry.meters))
    app.get("/", lambda c: c.text("hello"))
    run(served("PURGE", "/secret/path").by, app)
    run(served().by, app)
    run(app.request, "/")
    assert telemetry.spans == ()
    unknown, known, in_process = telemetry.points("http.server.request.duration")
    assert unknown.attributes["http.request.method"] == "_OTHER"
    assert "/secret/path" not in str(unknown.attributes)
    assert (known.count, in_process.count) == (1, 1)


def test_active_while_it_runs(run: Any, served: Any, telemetry: Any) -> None:
    seen = []

    def handler(c: Context) -> Response:
        [point] = telemetry.points("http.server.active_requests")
        seen.append((point.value, dict(point.attributes)))
        return c.text("x")

    run(served().by, app_of(telemetry, handler))
    assert seen == [(1, {"http.request.method": "GET", "url.scheme": "http"})]


def test_metrics_of_what_is_not_sampled(run: Any, served: Any, telemetry_of: Any) -> None:
    telemetry = telemetry_of(ALWAYS_OFF)
    request = run(served().by, app_of(telemetry, lambda c: c.text("x")))
    assert request.status == 200
    assert telemetry.spans == ()
    [point] = telemetry.points("http.server.request.duration")
    assert point.count == 1


class Failing(SpanProcessor):
    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise BrokenError


def test_processor_that_fails(
    run: Any, served: Any, telemetry: Any, caplog: pytest.LogCaptureFixture
) -> None:
    telemetry.tracers.add_span_processor(Failing())
    app = app_of(telemetry, lambda c: c.text("x"))
    for _ in range(2):
        assert run(served().by, app).status == 200
    assert telemetry.points("http.server.active_requests") == []
    # Once, not with each request.
    assert [record.message for record in caplog.records] == [
        "Some requests aren't recorded; they were not affected"
    ]


@pytest.mark.parametrize("has_sdk", [True, False])
def test_propagator_that_fails(
    run: Any,
    served: Any,
    telemetry: Any,
    has_sdk: bool,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def extract(*args: Any, **kwargs: Any) -> Any:
        raise BrokenError

    monkeypatch.setattr(propagate.get_global_textmap(), "extract", extract)
    app = Kit().use(telemetry.middleware() if has_sdk else opentelemetry())
    app.get("/", lambda c: c.text("x"))
    assert run(served(headers={"baggage": "a=b"}).by, app).status == 200
    assert [record.message for record in caplog.records] == [
        "Some requests aren't recorded; they were not affected"
    ]


def test_callback_that_fails(run: Any, served: Any, telemetry: Any) -> None:
    async def write(api: Any) -> None:
        await api.write(b"abc")
        raise BrokenError

    with pytest.raises(BrokenError):
        run(served().by, app_of(telemetry, lambda c: stream(c, write)))
    name = f"{__name__}.BrokenError"
    assert ended(telemetry) == (200, name, StatusCode.ERROR, [name])
