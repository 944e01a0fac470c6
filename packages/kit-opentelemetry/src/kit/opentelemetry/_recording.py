# SPDX-License-Identifier: MIT
"""Records the outcome of a request, in its span and in metrics."""

from __future__ import annotations

from time import perf_counter
from typing import Any, TypeGuard

from opentelemetry.context import Context as TraceContext
from opentelemetry.trace import Span, StatusCode

from kit.authoring.instrumentation import Outcome
from kit.interface import Context, HTTPException

from ._attributes import Described, Settings, sent_headers
from ._contexts import restore
from ._providers import Instruments

__all__ = ("Recording",)

_DISCONNECTED = "client_disconnected"


class Recording:
    """The span and the metrics of one request.

    Args:
        c: The context of the request.
        described: The description of the request.
        span: Its span, or None.
        instruments: The instruments, or None.
        context: The context with the span.
        outer: The context before it.
        settings: What spans record.
    """

    __slots__ = (
        "_began_s",
        "_c",
        "_context",
        "_described",
        "_instruments",
        "_is_over",
        "_outer",
        "_settings",
        "_span",
    )

    def __init__(
        self,
        c: Context[Any, Any],
        described: Described,
        span: Span | None,
        instruments: Instruments | None,
        context: TraceContext,
        outer: TraceContext,
        settings: Settings,
    ) -> None:
        self._c = c
        self._described = described
        self._span = span
        self._instruments = instruments
        self._context = context
        self._outer = outer
        self._settings = settings
        self._is_over = False
        self._began_s = perf_counter()
        if instruments is not None:
            instruments.active.add(1, described.measured, context)

    def end(self, outcome: Outcome) -> None:
        """Ends the span, and makes the outer context current again."""
        try:
            self.record(outcome)
        finally:
            restore(self._context, self._outer)

    def record(self, outcome: Outcome) -> None:
        """Ends the span, unless it has ended, with the attributes of the response."""
        if self._is_over:
            return
        self._is_over = True
        error_type = _error_type(outcome)
        if self._instruments is not None:
            self._measure(self._instruments, outcome, error_type)
        span = self._span
        if span is None:
            return
        if span.is_recording():
            if outcome.status is not None:
                span.set_attribute("http.response.status_code", outcome.status)
                if self._settings.response_headers:
                    span.set_attributes(sent_headers(self._c.res, self._settings))
            if error_type is not None:
                span.set_attribute("error.type", error_type)
                # SPEC: no description, since the status code and error.type give the reason.
                span.set_status(StatusCode.ERROR)
                if _is_fault(outcome.error):
                    span.record_exception(outcome.error)
        span.end()

    def _measure(self, instruments: Instruments, outcome: Outcome, error_type: str | None) -> None:
        described = self._described
        context = self._context
        instruments.active.add(-1, described.measured, context)
        attributes = {**described.measured}
        version = described.attributes.get("network.protocol.version")
        if version is not None:
            attributes["network.protocol.version"] = version
        if described.route is not None:
            attributes["http.route"] = described.route
        if outcome.status is not None:
            attributes["http.response.status_code"] = outcome.status
        if error_type is not None:
            attributes["error.type"] = error_type
        instruments.duration.record(perf_counter() - self._began_s, attributes, context)
        if described.size is not None:
            instruments.request_size.record(described.size, attributes, context)
        instruments.response_size.record(outcome.size_bytes, attributes, context)


def _error_type(outcome: Outcome) -> str | None:
    """Returns `error.type` (semantic conventions for HTTP spans, "Status")."""
    if outcome.ending == "disconnected":
        return _DISCONNECTED
    error = outcome.error
    if outcome.ending == "complete":
        if outcome.status is None or outcome.status < 500:
            return None
        if not _is_fault(error):
            return str(outcome.status)
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else _qualified(kind)


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_fault(error: BaseException | None) -> TypeGuard[Exception]:
    """Returns whether an exception is an error, not a response or a cancellation."""
    return isinstance(error, Exception) and not isinstance(error, HTTPException)
