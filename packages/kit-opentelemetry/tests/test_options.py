# SPDX-License-Identifier: MIT
"""The options, and an SDK that is set up late."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from kit import Context, Kit
from kit.opentelemetry import opentelemetry


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"tracer_provider": "x"}, TypeError, "takes a TracerProvider of OpenTelemetry, not"),
        ({"meter_provider": 1}, TypeError, "takes a MeterProvider of OpenTelemetry, not 1"),
        ({"exclude": 5}, TypeError, "takes a path pattern, a function (c), or a list of them"),
        ({"exclude": [b"/x"]}, TypeError, "takes a path pattern, a function (c), or a list of"),
        ({"exclude": "/users/{id}"}, ValueError, "expected a route pattern: "),
        ({"query": 1}, TypeError, "opentelemetry(query=...) takes a bool, not 1"),
        ({"redacted_query": 1}, TypeError, "takes a str or a list of them, not 1"),
        ({"request_headers": "a b"}, ValueError, "expected a header name such as"),
        ({"trusted_hops": -1}, ValueError, "expected at least 0"),
        ({"trust_incoming": 1}, TypeError, "takes a bool or a function (c), not 1"),
        ({"trust_incoming": lambda: True}, TypeError, "takes a function (c): got the"),
    ],
)
def test_options_are_checked(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        opentelemetry(**options)
    assert text in str(caught.value)


def is_probe(c: Context) -> bool:
    return c.req.header("user-agent") == "probe"


async def is_probe_async(c: Context) -> bool:
    return is_probe(c)


def failing(c: Context) -> bool:
    raise ValueError("x")


@pytest.mark.parametrize("function", [is_probe, is_probe_async])
def test_excluded(run: Any, served: Any, telemetry: Any, function: Any) -> None:
    app = Kit().use(telemetry.middleware(exclude=["/health/*", function]))
    for path, agent in (("/health/live", "a"), ("/", "probe"), ("/", "a")):
        run(served(path=path, headers={"user-agent": agent}).by, app)
    assert telemetry.span.attributes["url.path"] == "/"


def test_excluded_by_path(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware(exclude="/livez"))
    run(served(path="/livez").by, app)
    run(served(path="/livezz").by, app)
    assert telemetry.span.attributes["url.path"] == "/livezz"


def test_condition_that_fails(
    run: Any, served: Any, telemetry: Any, caplog: pytest.LogCaptureFixture
) -> None:
    run(served().by, Kit().use(telemetry.middleware(exclude=failing)))
    assert telemetry.span.name == "GET"
    assert "failing" in caplog.text
    assert "failed, so nothing is excluded" in caplog.text


LATE = """
import asyncio
from kit import Kit
from kit.opentelemetry import opentelemetry

app = Kit().use(opentelemetry())
app.get("/", lambda c: c.text("x"))
asyncio.run(app.request("/"))

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))


async def until_it_is_traced():
    while not exporter.get_finished_spans():
        await app.request("/")


asyncio.run(asyncio.wait_for(until_it_is_traced(), 20))
assert reader.get_metrics_data() is not None
print(exporter.get_finished_spans()[0].name)
"""


@pytest.mark.once
def test_global_providers_that_are_set_late() -> None:
    environment = {key: value for key, value in os.environ.items() if "OTEL" not in key}
    done = subprocess.run(
        [sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60, env=environment
    )
    assert (done.stdout, done.stderr) == ("GET /\n", "")


def test_importing_it_imports_no_sdk() -> None:
    code = "import sys, kit.opentelemetry; print('opentelemetry.sdk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n"
