# SPDX-License-Identifier: MIT
"""The middleware: measures requests, and answers with the metrics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from math import inf
from time import perf_counter
from typing import Any, TypeAlias

from prometheus_client import REGISTRY, CollectorRegistry, Histogram

from kit.interface import AsyncMiddleware, Context, Next, Response
from kit.interface.options import OptionChecks
from kit.route import endpoint

from ._bodies import CountedBody, content_length, count_stream, whole_size
from ._exposition import check_registry, handler_for
from ._instruments import Exemplar, Instruments, instruments_of
from ._labels import OTHER, ExtraLabels, check_labels, exemplar_of, exemplar_source

__all__ = ("metrics",)

# Any lets a function annotate its context as the core's own class.
Label: TypeAlias = Callable[[Any], str | None | Awaitable[str | None]]
"""Returns the value of a label: `def label(c)`, plain or async."""
ExemplarSource: TypeAlias = Callable[
    [Any], Mapping[str, str] | None | Awaitable[Mapping[str, str] | None]
]
"""Returns the labels of an exemplar: `def exemplar(c)`, plain or async."""

# SPEC: RFC 9110 section 9.3 and RFC 5789.
_METHODS = frozenset(
    ("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE")
)
_UNMATCHED = "unmatched"
_EVERYWHERE = frozenset(("*", "/*"))
# That of a request which was cancelled before there was a response, as nginx logs it.
_CANCELLED = "499"
_DEFAULT_BUCKETS = Histogram.DEFAULT_BUCKETS[:-1]


def metrics(
    path: str | None = "/metrics",
    *,
    registry: CollectorRegistry | None = None,
    prefix: str = "http",
    buckets: Iterable[float] = _DEFAULT_BUCKETS,
    labels: Mapping[str, Label] | None = None,
    max_label_values: int = 100,
    exclude: Iterable[str] | str = (),
    exemplars: bool | ExemplarSource = False,
) -> AsyncMiddleware:
    """Returns middleware that measures each request, and answers `path` with the metrics.

    The metrics are `http_requests_total`, `http_request_duration_seconds`,
    `http_requests_in_progress`, `http_request_size_bytes` and `http_response_size_bytes`. Their
    labels are `method`, `route`, the pattern of the route, and `status`.

    Each request counts once, whatever becomes of it: a streamed one when its body has been sent or
    the client has left, a cancelled one with the status 499, a WebSocket with its handshake.

    Args:
        path: The path of the metrics, for GET and HEAD, as it is matched by routes; requests for it
            aren't measured. None only measures: see `expose`.
        registry: Where the metrics are registered. Calls for the same registry share them. Default:
            a registry of its own, and `path` shows `prometheus_client.REGISTRY` too. With
            `PROMETHEUS_MULTIPROC_DIR` all apps of a process share them.
        prefix: What the names of the metrics begin with.
        buckets: Upper bounds of the durations in seconds, in ascending order.
        labels: More labels: name to function `(c)`, plain or async, that returns a str or None,
            called when the request is over. Their values have to be few: each combination of values
            is kept until the process ends.
        max_label_values: How many values each of these labels may have. All others are `_OTHER`.
        exclude: Patterns of routes, or paths, that aren't measured.
        exemplars: Adds exemplars, which only OpenMetrics has. True: the ids of the current sampled
            trace and span of OpenTelemetry. Or a function `(c)`, plain or async, that returns a
            mapping, up to 128 characters in all, or None.

    Returns:
        The middleware, for `app.use(...)`; register it before what it should measure.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If it can't be used, or the registry has other metrics of these names.
        ImportError: If `exemplars` is True, and opentelemetry-api isn't installed.

    Example:
        app.use(metrics())
    """
    check = OptionChecks("metrics")
    if path is not None:
        check.text("path", path, r"/.*", "a path such as '/metrics', or None")
    check_registry("metrics", registry)
    check.text("prefix", prefix, r"[A-Za-z_][A-Za-z0-9_]*", "a name such as 'http'")
    check.number("max_label_values", max_label_values, least=1)
    own = CollectorRegistry() if registry is None else registry
    extra = ExtraLabels(check_labels(check, labels), max_label_values)
    exemplar = exemplar_source(check, exemplars)
    excluded = frozenset(check.texts("exclude", exclude))
    bounds = _checked_buckets(check, buckets)
    instruments = instruments_of(own, prefix, extra.names, bounds)
    answer = handler_for(own, REGISTRY) if registry is None else handler_for(own)

    async def metrics(c: Context[Any, Any], next: Next) -> Response | None:
        req = c.req
        if req.path == path and req.method in ("GET", "HEAD"):
            return await answer(c)
        found = endpoint(c)
        route = _UNMATCHED if found is None else found.path
        if excluded and (route in excluded or req.path in excluded):
            await next()
            return None
        await _Measured(instruments, extra, exemplar, req.method, route).run(c, next)
        return None

    return metrics


def _checked_buckets(check: OptionChecks, buckets: Any) -> tuple[float, ...]:
    if isinstance(buckets, (str, bytes)) or not isinstance(buckets, Iterable):
        check.wrong_type("buckets", buckets, "a list of numbers")
    bounds = [check.number("buckets", each, whole=False) for each in buckets if each != inf]
    if not bounds or bounds[0] <= 0 or bounds != sorted({*bounds}):
        check.unusable("buckets", bounds, "seconds above 0, in ascending order")
    return tuple(map(float, bounds))


class _Measured:
    """A request that is measured.

    Args:
        instruments: The metrics.
        extra: The labels of the app.
        find_exemplar: What returns the exemplar.
        method: The method of the request.
        route: The pattern of its route.
    """

    __slots__ = (
        "_exemplar",
        "_extra",
        "_find_exemplar",
        "_gauge",
        "_instruments",
        "_method",
        "_route",
        "_start",
    )

    def __init__(
        self,
        instruments: Instruments,
        extra: ExtraLabels,
        find_exemplar: Callable[[Any], Any] | None,
        method: str,
        route: str,
    ) -> None:
        self._instruments = instruments
        self._extra = extra
        self._find_exemplar = find_exemplar
        self._exemplar: Exemplar = None
        self._method = method if method in _METHODS else OTHER
        self._route = route
        self._gauge = instruments.in_progress(self._method, route)

    async def run(self, c: Context[Any, Any], next: Next) -> None:
        """Runs what comes after the middleware, and measures it."""
        self._gauge.inc()
        self._start = perf_counter()
        try:
            await next()
        except BaseException:
            # An exit runs to its end, even though the request is cancelled.
            c.add_exit(self._exit(c, _CANCELLED, None))
            raise
        if self._find_exemplar is not None:
            # Now, since a streamed body is sent outside of the span of the request.
            self._exemplar = await exemplar_of(self._find_exemplar, c)
        response = c.res
        body = response.body
        if body is None or isinstance(body, bytes):
            status = str(response.status) if c.finalized else "500"  # no response is an error
            await self._end(c, status, whole_size(body, response, self._method))
        else:
            c.add_exit(self._exit(c, None, count_stream(c, body)))

    def _exit(
        self, c: Context[Any, Any], status: str | None, counted: CountedBody | None
    ) -> Callable[[BaseException | None], Awaitable[object]]:
        async def end(error: BaseException | None) -> None:
            response = c.res
            if status is not None:
                await self._end(c, status, 0)
                return
            size = 0
            if counted is not None:
                size = counted.size
            elif self._method != "HEAD":
                size = content_length(response.headers.get("content-length")) or 0
            await self._end(c, str(response.status), size)

        return end

    async def _end(self, c: Context[Any, Any], status: str, size: int) -> None:
        duration = perf_counter() - self._start
        self._gauge.dec()
        route = self._route
        if route is _UNMATCHED and status != "404":
            route = _answered_by(c)
        values = (self._method, route, status)
        if self._extra.names:
            values += await self._extra.values(c)
        series = self._instruments.series(values)
        if self._exemplar is None:
            series.count()
            series.observe_duration(duration)
        else:
            series.count(1, self._exemplar)
            series.observe_duration(duration, self._exemplar)
        received = c.req.header("content-length")
        if received is not None:
            length = content_length(received)
            if length is not None:
                series.observe_request(length)
        elif c.req.header("transfer-encoding") is None:
            series.observe_request(0)
        series.observe_response(size)


def _answered_by(c: Context[Any, Any]) -> str:
    """Returns the pattern of the middleware that answered, unless it is for all paths."""
    routes = c.matched_routes
    pattern = routes[c.req.route_index].path
    return _UNMATCHED if pattern in _EVERYWHERE else pattern
