# SPDX-License-Identifier: MIT
"""Runs async tests on asyncio and on trio, serves requests, and keeps spans and metrics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import unquote

import anyio
import anyio.lowlevel
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, get_current_span

from kit.opentelemetry import opentelemetry

# Far more than any test takes: it only turns a hang into a failure.
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


class Served:
    """Serves one request of an app as an ASGI server does, and keeps what was sent.

    Args:
        method: The method.
        path: The path and the query, percent-encoded.
        headers: The lines of the headers, in lower case.
        leaves_after: The client leaves when this many messages were sent to it.
        **scope: Keys of the scope that differ.
    """

    def __init__(
        self,
        method: str = "GET",
        path: str = "/",
        headers: dict[str, str] | None = None,
        *,
        leaves_after: int | None = None,
        **scope: Any,
    ) -> None:
        raw_path, _, query = path.partition("?")
        lines = {"host": "api.example:8000", **(headers or {})}
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(raw_path),
            "raw_path": raw_path.encode("latin-1"),
            "query_string": query.encode("latin-1"),
            "root_path": "",
            "headers": [
                (name.encode("latin-1"), value.encode("latin-1")) for name, value in lines.items()
            ],
            "client": ("192.0.2.7", 50123),
            "server": ("10.0.0.1", 8000),
            **scope,
        }
        self.messages: list[dict[str, Any]] = []
        self._leaves_after = leaves_after
        self._gone = anyio.Event()
        self._received = False

    async def by(self, app: Any) -> Served:
        """Has the app answer."""
        await app(self.scope, self._receive, self._send)
        return self

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)

    async def _receive(self) -> dict[str, Any]:
        if not self._received:
            self._received = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if self._leaves_after is not None and len(self.messages) >= self._leaves_after:
            self._gone.set()
        await anyio.lowlevel.checkpoint()


class Telemetry:
    """Providers of the SDK that keep spans and metrics in memory."""

    def __init__(self, sampler: Any = None) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)

    def middleware(self, **options: Any) -> Any:
        return opentelemetry(self.tracers, **options)

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self.exporter.get_finished_spans()

    @property
    def span(self) -> ReadableSpan:
        """The only span of the middleware."""
        [span] = [span for span in self.spans if span.kind is SpanKind.SERVER]
        return span

    def points(self, name: str) -> list[Any]:
        """The data points of a metric."""
        data = self.reader.get_metrics_data()
        return [
            point
            for of_resource in (data.resource_metrics if data else ())
            for of_scope in of_resource.scope_metrics
            for metric in of_scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


@pytest.fixture
def served() -> type[Served]:
    return Served


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


@pytest.fixture
def telemetry_of() -> type[Telemetry]:
    return Telemetry


@pytest.fixture(autouse=True)
def _outside_of_spans() -> Any:
    """Fails a test that leaves its span current in the context of its caller."""
    assert not get_current_span().get_span_context().is_valid
    yield
    assert not get_current_span().get_span_context().is_valid
