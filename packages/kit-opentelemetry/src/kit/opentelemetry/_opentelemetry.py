# SPDX-License-Identifier: MIT
"""The middleware that traces and measures requests."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import Any

from opentelemetry.context import Context as TraceContext
from opentelemetry.context import attach, get_current
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Link, SpanKind, Tracer, TracerProvider, set_span_in_context

from kit.authoring.instrumentation import (
    SECRET_NAMES,
    Exclude,
    Observation,
    Outcome,
    check_exclude,
    unless,
)
from kit.authoring.options import OptionChecks
from kit.conninfo import forwarded_conn_info
from kit.interface import AsyncMiddleware, Context, Next

from ._attributes import Described, Settings
from ._contexts import (
    Trust,
    extracted,
    is_propagated,
    keep_in_body,
    links_to,
    restore,
    trusts,
)
from ._providers import Instruments, Providers
from ._recording import Recording

__all__ = ("opentelemetry",)

# Marks a request that an outer instance of this middleware already traces.
_KEY = "kit.opentelemetry"
_SWITCHING_PROTOCOLS = 101


def opentelemetry(
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    *,
    exclude: Exclude | Iterable[Exclude] = (),
    query: bool = True,
    redacted_query: Iterable[str] = SECRET_NAMES,
    request_headers: str | Iterable[str] = (),
    response_headers: str | Iterable[str] = (),
    trusted_hops: int = 0,
    trust_incoming: Trust = True,
) -> AsyncMiddleware:
    """Returns middleware that traces and measures requests with OpenTelemetry.

    Each request has one span of kind SERVER. It is the current span in all code that the request
    runs, and ends when the response has been sent. Names and values follow the semantic conventions
    for HTTP. The parent is the caller's span, from the global propagator. Without an SDK, nothing
    is recorded, but the caller's trace context is still passed on to other services.

    Args:
        tracer_provider: Records spans. Default: the global provider, even if it is set later.
        meter_provider: Records metrics. Default: the global provider, even if it is set later.
        exclude: Requests to leave out: a route pattern such as `/health/*`, a function `(c)`, plain
            or async, or a list of these.
        query: Whether to record the query.
        redacted_query: Names of query parameters whose values are recorded as `REDACTED`,
            case-insensitively; `()` for none.
        request_headers: Names of request headers to record. Credentials are recorded as
            `REDACTED`.
        response_headers: Names of response headers to record, likewise.
        trusted_hops: How many proxies are between the clients and the app. `client.address` then
            comes from X-Forwarded-For, see `kit.conninfo.forwarded_conn_info`. With 0, it is the
            address that the server reports.
        trust_incoming: Whether requests continue the caller's trace, and accept its baggage; or a
            function `(c)`, plain or async, that decides, called for requests with either. An
            untrusted request starts a new trace, sampled by the app's own sampler, with a link to
            the caller's span. If the function raises, the error is logged, and the request isn't
            trusted.

    Returns:
        The middleware, for `app.use(...)`; register it first.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If an option can't be used.

    SPEC: OpenTelemetry semantic conventions 1.40.0, HTTP spans and HTTP metrics.

    Example:
        app.use(opentelemetry(exclude="/livez"))
    """
    check = OptionChecks("opentelemetry")
    _check_provider(check, "tracer_provider", tracer_provider, TracerProvider)
    _check_provider(check, "meter_provider", meter_provider, MeterProvider)
    check.number("trusted_hops", trusted_hops, least=0, most=100)
    settings = Settings(
        query=check.flag("query", query),
        redacted=frozenset(name.lower() for name in check.texts("redacted_query", redacted_query)),
        request_headers=_header_names(check, "request_headers", request_headers),
        response_headers=_header_names(check, "response_headers", response_headers),
        conn_info=forwarded_conn_info(trusted_hops) if trusted_hops else None,
    )
    _check_trust(check, trust_incoming)
    excludes = check_exclude(check, exclude)
    providers = Providers(tracer_provider, meter_provider)

    # PERF: not async, so that a request that isn't recorded needs no coroutine for it.
    def opentelemetry(c: Context[Any, Any], next: Next) -> Awaitable[None]:
        tracer, instruments = providers.find()
        if tracer is not None or instruments is not None:
            return _record(tracer, instruments, settings, trust_incoming, c, next)
        if trust_incoming is not False and is_propagated(c.req.raw):
            return _propagate(settings, trust_incoming, c, next)
        return next()

    return unless(excludes, opentelemetry)


def _check_provider(check: OptionChecks, name: str, value: Any, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        check.wrong_type(name, value, f"a {kind.__name__} of OpenTelemetry")


def _check_trust(check: OptionChecks, value: Any) -> None:
    if not isinstance(value, bool):
        if not callable(value):
            check.wrong_type("trust_incoming", value, "a bool or a function (c)")
        check.function("trust_incoming", value, "(c)")


def _header_names(check: OptionChecks, name: str, value: Any) -> list[str]:
    return [
        check.header_name(name, each, "X-Request-Id").lower() for each in check.texts(name, value)
    ]


async def _propagate(settings: Settings, trust: Trust, c: Context[Any, Any], next: Next) -> None:
    """Makes the caller's context current, for calls to other services."""
    if trust is not True and not await trusts(trust, c):
        await next()
        return
    outer = get_current()
    try:
        context = extracted(c.req.raw, outer, is_propagated=True)
    except Exception as error:
        settings.failed(error)
        await next()
        return
    await _follow(c, next, context, outer)


async def _follow(
    c: Context[Any, Any], next: Next, context: TraceContext, outer: TraceContext
) -> None:
    """Runs the handlers in a context, and records nothing."""
    attach(context)
    try:
        await next()
    except BaseException:
        restore(context, outer)
        raise
    if c.req.raw.scope is None:
        restore(context, outer)
        keep_in_body(c, context)
    elif c.res.status != _SWITCHING_PROTOCOLS and c.res.track_body().is_complete:
        restore(context, outer)  # PERF: sending it runs no code that could see the context
    else:
        c.add_cleanup(lambda error: restore(context, outer))


async def _record(
    tracer: Tracer | None,
    instruments: Instruments | None,
    settings: Settings,
    trust: Trust,
    c: Context[Any, Any],
    next: Next,
) -> None:
    """Runs the handlers within a span."""
    request = c.req.raw
    if _is_marked(c, request.scope):
        await next()
        return
    outer = get_current()
    recording = None
    try:
        described = Described(c, request, settings)
        context = extracted(request, outer, is_propagated=described.is_propagated)
        links: Sequence[Link] = ()
        if trust is not True and context is not outer and not await trusts(trust, c):
            context, links = outer, links_to(context)
        span = None
        if tracer is not None:
            span = tracer.start_span(
                described.name, context, SpanKind.SERVER, described.attributes, links
            )
            context = set_span_in_context(span, context)
        if instruments is not None or span is None or span.is_recording():
            recording = Recording(c, described, span, instruments, context, outer, settings)
    except Exception as error:  # of a sampler, a processor or a propagator
        settings.failed(error)
        await next()
        return
    if recording is None:
        await _follow(c, next, context, outer)
        return
    observation = Observation(c, recording.end)
    attach(context)
    try:
        await next()
    finally:
        # A served request runs in its own task, which keeps the context, since the body is yet to
        # be sent. An in-process request shares the task of its caller.
        if request.scope is None:
            restore(context, outer)
    observation.responded()
    if request.scope is None:
        keep_in_body(c, context)
    elif c.res.status == _SWITCHING_PROTOCOLS:
        # The connection may last for hours; its work has child spans of this one.
        recording.record(Outcome(_SWITCHING_PROTOCOLS, 0, "complete", None))


def _is_marked(c: Context[Any, Any], scope: Any) -> bool:
    """Marks a request; returns whether it was already marked."""
    if scope is None:
        if c.get(_KEY):
            return True
        c.set(_KEY, True)
        return False
    if _KEY in scope:
        return True
    scope[_KEY] = True
    return False
