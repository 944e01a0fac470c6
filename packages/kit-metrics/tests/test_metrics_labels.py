# SPDX-License-Identifier: MIT
"""Labels of the app's own, and exemplars."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opentelemetry import trace
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from kit import Context, Kit
from kit.interface import Next
from kit.metrics import metrics

OPENMETRICS = {"accept": "application/openmetrics-text; version=1.0.0"}


def app_with(registry: CollectorRegistry, **options: Any) -> Kit:
    app = Kit()
    app.use(metrics(registry=registry, **options))
    app.get("/:tenant", lambda c: c.text("Hello"))
    return app


def ask(run: Callable[..., Any], app: Kit, *paths: str) -> None:
    for path in paths:
        assert run(app.request, path).status == 200


def test_labels_are_what_plain_and_async_functions_return(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Callable[..., Any]
) -> None:
    async def plan(c: Context) -> str | None:
        return "large" if c.req.param("tenant") == "acme" else None

    app = app_with(registry, labels={"tenant": lambda c: c.req.param("tenant"), "plan": plan})
    ask(run, app, "/acme", "/acme", "/bob")
    found = counted(labels=("tenant", "plan", "status"))
    assert found == {("acme", "large", "200"): 2, ("bob", "", "200"): 1}


def test_a_label_may_be_constant(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Callable[..., Any]
) -> None:
    app = app_with(registry, labels={"service": "shop", "x": lambda c: "y"})
    ask(run, app, "/acme")
    assert counted(labels=("service", "x", "status")) == {("shop", "y", "200"): 1}


def test_the_answer_to_head_with_labels_has_no_bytes(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Callable[..., Any]
) -> None:
    app = app_with(registry, labels={"x": lambda c: "y"})
    for method in ("GET", "HEAD"):
        run(lambda method=method: app.request("/acme", method=method))
    sent = counted("http_response_size_bytes_sum", ("method", "x"))
    assert sent == {("GET", "y"): 5, ("HEAD", "y"): 0}


def test_labels_of_a_stream_are_found_when_it_was_sent(
    run: Callable[..., Any], registry: CollectorRegistry, counted: Callable[..., Any]
) -> None:
    async def kind(c: Context) -> str | None:
        await anyio.lowlevel.checkpoint()
        kind: str | None = c.get("kind")
        return kind

    async def body(c: Context) -> AsyncIterator[bytes]:
        yield b"a"
        c.set("kind", "late")
        yield b"b"

    app = app_with(registry, labels={"kind": kind, "size": lambda c: "small"})
    app.get("/streamed/:name", lambda c: c.body(body(c)))

    async def ask_for_both() -> None:
        assert await (await app.request("/streamed/x")).text() == "ab"
        stream: Any = (await app.request("/streamed/y")).body
        await anext(stream)
        await stream.aclose()

    run(ask_for_both)
    assert counted(labels=("kind", "size", "status")) == {
        ("late", "small", "200"): 1,
        ("", "small", "200"): 1,
    }


def test_a_label_has_only_so_many_values(
    run: Callable[..., Any],
    registry: CollectorRegistry,
    counted: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = app_with(registry, labels={"tenant": lambda c: c.req.param("tenant")}, max_label_values=2)
    ask(run, app, "/a", "/b", "/c", "/d", "/a")
    assert counted(labels=("tenant",)) == {("a",): 2, ("b",): 1, ("_OTHER",): 2}
    assert [record.getMessage() for record in caplog.records] == [
        "The label 'tenant' has 2 values: all others are counted as _OTHER"
    ]
    assert caplog.records[0].exc_info is None  # otherwise the log says "NoneType: None"


def fail(c: Context) -> str:
    raise ValueError("a fault")


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (fail, "a fault"),
        (lambda c: 7, "the function of the label 'x' returned 7, expected a str or None"),
    ],
)
def test_a_function_that_fails_is_logged_once(
    run: Callable[..., Any],
    registry: CollectorRegistry,
    counted: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    function: Any,
    error: str,
) -> None:
    ask(run, app_with(registry, labels={"x": function}), "/a", "/b")
    assert counted(labels=("x", "status")) == {("", "200"): 2}
    (record,) = caplog.records
    assert record.getMessage() == "The label 'x' has no value: its function failed"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == error


@given(st.text(st.characters(), max_size=20))
@settings(max_examples=50, deadline=None)
@example("\ud800")
@example('a "quoted"\\\n\r\u2028 text')
def test_any_text_can_be_a_value(value: str) -> None:
    app = app_with(CollectorRegistry(), labels={"x": lambda c: value})
    ask(anyio.run, app, "/a")
    parsed = text_string_to_metric_families(exposed(anyio.run, app, {}))
    found = {
        sample.labels["x"]
        for family in parsed
        for sample in family.samples
        if sample.name == "http_requests_total"
    }
    assert found == {value.encode(errors="replace").decode()}


def exposed(run: Callable[..., Any], app: Kit, headers: dict[str, str]) -> str:
    async def text() -> str:
        return await (await app.request("/metrics", headers=headers)).text()

    found: str = run(text)
    return found


def test_exemplars_of_a_function(run: Callable[..., Any], registry: CollectorRegistry) -> None:
    async def order(c: Context) -> dict[str, str] | None:
        return {"order": "17"} if c.req.param("tenant") == "acme" else None

    app = app_with(registry, exemplars=order)
    ask(run, app, "/acme")
    lines = exposed(run, app, OPENMETRICS).splitlines()
    found = [line.partition("{")[0] for line in lines if '# {order="17"} ' in line]
    assert found == ["http_requests_total", "http_request_duration_seconds_bucket"]
    assert "order" not in exposed(run, app, {})


def test_a_request_without_an_exemplar(
    run: Callable[..., Any], registry: CollectorRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    app = app_with(registry, exemplars=lambda c: None)
    ask(run, app, "/acme")
    assert " # {" not in exposed(run, app, OPENMETRICS)
    assert caplog.records == []


@pytest.mark.parametrize(
    "exemplar",
    [{"a": "x" * 128}, {"1a": "x"}, {"a": 7}, {"a": "\ud800"}, "text"],
)
def test_an_exemplar_that_cant_be_used_is_left_out_and_logged_once(
    run: Callable[..., Any],
    registry: CollectorRegistry,
    counted: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    exemplar: Any,
) -> None:
    app = app_with(registry, exemplars=lambda c: exemplar)
    with caplog.at_level(logging.WARNING):
        ask(run, app, "/a", "/b")
    assert counted() == {("GET", "/:tenant", "200"): 2}
    assert " # {" not in exposed(run, app, OPENMETRICS)
    assert len(caplog.records) == 1
    assert caplog.records[0].getMessage().startswith("There is no exemplar: ")


@pytest.mark.parametrize("sampled", [True, False])
def test_exemplars_of_opentelemetry(
    run: Callable[..., Any], registry: CollectorRegistry, sampled: bool
) -> None:
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED if sampled else trace.TraceFlags.DEFAULT)
    span = trace.NonRecordingSpan(
        trace.SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=flags)
    )

    async def tracing(c: Context, next: Next) -> None:
        with trace.use_span(span):
            await next()

    app = Kit()
    app.use(tracing, metrics(registry=registry, exemplars=True))
    app.get("/whole", lambda c: c.text("Hello"))
    app.get("/streamed", lambda c: c.body(iter([b"a", b"b"])))

    async def ask_all() -> None:
        for path in ("/whole", "/streamed"):
            assert await (await app.request(path)).text()

    run(ask_all)
    lines = exposed(run, app, OPENMETRICS).splitlines()
    found = [line.partition(" # ")[2].rpartition("}")[0] for line in lines if " # {" in line]
    ids = f'span_id="{0xDEF:016x}",trace_id="{0xABC:032x}"'
    assert found == ([f"{{{ids}"] * 4 if sampled else [])


def test_a_request_outside_of_a_trace_has_no_exemplar(
    run: Callable[..., Any], registry: CollectorRegistry
) -> None:
    app = app_with(registry, exemplars=True)
    ask(run, app, "/acme")
    assert " # {" not in exposed(run, app, OPENMETRICS)


def test_exemplars_without_opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(ImportError) as raised:
        metrics(exemplars=True)
    assert str(raised.value) == (
        "metrics(exemplars=True) needs opentelemetry-api: pip install opentelemetry-api"
    )
