# SPDX-License-Identifier: MIT
"""The tracer and the instruments, as soon as a provider records anything."""

from __future__ import annotations

from time import monotonic
from typing import Any, NamedTuple

from opentelemetry import metrics, trace

__all__ = ("Instruments", "Providers")

_NAME = "kit.opentelemetry"
# The version of the semantic conventions that the attributes follow.
_SCHEMA_URL = "https://opentelemetry.io/schemas/1.40.0"
# SPEC: semantic conventions, "Metric: http.server.request.duration".
_DURATION_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
_BETWEEN_QUESTIONS_S = 0.1
# The API's own providers record nothing: they are placeholders until an SDK is set up.
_OF_THE_API = ("opentelemetry.trace", "opentelemetry.metrics")


class Instruments(NamedTuple):
    """The instruments of the semantic conventions for HTTP servers."""

    duration: metrics.Histogram
    active: metrics.UpDownCounter
    request_size: metrics.Histogram
    response_size: metrics.Histogram


class Providers:
    """Finds the tracer and the instruments of an app.

    An SDK may be set up after the app is created, so the global providers are checked, at most ten
    times a second, until they record something.

    Args:
        tracer_provider: The provider of spans; None for the global one.
        meter_provider: The provider of metrics; None for the global one.
    """

    __slots__ = ("_asks_at_s", "_instruments", "_meter_provider", "_tracer", "_tracer_provider")

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None,
        meter_provider: metrics.MeterProvider | None,
    ) -> None:
        self._tracer_provider = tracer_provider
        self._meter_provider = meter_provider
        self._asks_at_s = 0.0
        self._tracer: trace.Tracer | None = None
        self._instruments: Instruments | None = None

    def find(self) -> tuple[trace.Tracer | None, Instruments | None]:
        """Returns the tracer and the instruments; None for either if it isn't recorded."""
        if self._tracer is None or self._instruments is None:
            # PERF: a global provider that isn't set reads the environment on each access.
            now = monotonic()
            if now >= self._asks_at_s:
                self._asks_at_s = now + _BETWEEN_QUESTIONS_S
                self._ask()
        return self._tracer, self._instruments

    def _ask(self) -> None:
        self._tracer = self._tracer or _get_tracer(
            self._tracer_provider or trace.get_tracer_provider()
        )
        self._instruments = self._instruments or _get_instruments(
            self._meter_provider or metrics.get_meter_provider()
        )


def _get_tracer(provider: trace.TracerProvider) -> trace.Tracer | None:
    return provider.get_tracer(_NAME, _version(), _SCHEMA_URL) if _records(provider) else None


def _get_instruments(provider: metrics.MeterProvider) -> Instruments | None:
    if not _records(provider):
        return None
    return _instruments(provider.get_meter(_NAME, _version(), _SCHEMA_URL))


def _records(provider: Any) -> bool:
    return not provider.__class__.__module__.startswith(_OF_THE_API)


def _version() -> str:
    from importlib.metadata import version

    return version("kit-opentelemetry")


def _instruments(meter: metrics.Meter) -> Instruments:
    return Instruments(
        meter.create_histogram(
            "http.server.request.duration",
            unit="s",
            description="Duration of HTTP server requests.",
            explicit_bucket_boundaries_advisory=_DURATION_BUCKETS_S,
        ),
        meter.create_up_down_counter(
            "http.server.active_requests",
            unit="{request}",
            description="Number of active HTTP server requests.",
        ),
        meter.create_histogram(
            "http.server.request.body.size",
            unit="By",
            description="Size of HTTP server request bodies.",
        ),
        meter.create_histogram(
            "http.server.response.body.size",
            unit="By",
            description="Size of HTTP server response bodies.",
        ),
    )
