# SPDX-License-Identifier: MIT
"""The rows of `overhead` about logs and traces, beside opentelemetry-instrumentation-asgi."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .middleware import STARLETTE, Pair, Row, kit, made_by
from .peers import KIT
from .sample_request import SampleRequest


def telemetry(sampled: bool) -> Any:
    """A provider of spans whose exporter drops them, or one that samples none."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import (
        BatchSpanProcessor,
        SpanExporter,
        SpanExportResult,
    )
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON

    class Dropping(SpanExporter):
        def export(self, spans: Any) -> Any:
            return SpanExportResult.SUCCESS

    provider = TracerProvider(sampler=ALWAYS_ON if sampled else ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Dropping()))
    return provider


def kit_traced(sampled: bool | None) -> Callable[[Any], Any]:
    """Makes opentelemetry() for an SDK that samples all or nothing; None for no SDK."""

    def make(app: Any) -> Any:
        from opentelemetry.trace import NoOpTracerProvider

        from kit.opentelemetry import opentelemetry

        return opentelemetry(NoOpTracerProvider() if sampled is None else telemetry(sampled))

    return make


def starlette_traced(sampled: bool | None) -> Callable[[], Pair]:
    """The same of Starlette, with opentelemetry-instrumentation-asgi."""

    def pair() -> Pair:
        from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
        from opentelemetry.metrics import NoOpMeterProvider
        from opentelemetry.trace import NoOpTracerProvider
        from starlette.applications import Starlette
        from starlette.responses import PlainTextResponse
        from starlette.routing import Route

        async def text(request: Any) -> Any:
            return PlainTextResponse("Hello, World!")

        app = Starlette(routes=[Route("/", text)])
        provider = NoOpTracerProvider() if sampled is None else telemetry(sampled)
        traced = OpenTelemetryMiddleware(
            app,
            tracer_provider=provider,
            meter_provider=NoOpMeterProvider(),
            exclude_spans=["send", "receive"],
        )
        return traced, app

    return pair


def rows() -> tuple[Row, ...]:
    """The access log; tracing without an SDK, with one that samples nothing, and all."""
    headers = {"user-agent": "curl/8.0"}
    log = kit(made_by("logger", "access_log", to=lambda line: None))
    return Row("logger, access log", SampleRequest(headers=headers), {KIT: log}), *(
        Row(
            f"opentelemetry, {name}",
            SampleRequest(headers=headers),
            {KIT: kit(kit_traced(sampled)), STARLETTE: starlette_traced(sampled)},
        )
        for name, sampled in (("no SDK", None), ("not sampled", False), ("sampled", True))
    )
