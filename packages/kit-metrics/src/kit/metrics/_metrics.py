# SPDX-License-Identifier: MIT
"""The middleware, which measures requests and serves the metrics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from math import inf
from time import perf_counter
from typing import Any, TypeAlias

from prometheus_client import REGISTRY, CollectorRegistry, Histogram

from kit.authoring.instrumentation import Exclude, check_exclude, unless
from kit.authoring.options import OptionChecks
from kit.interface import AnyContext, AsyncMiddleware, Context, Next, Response
from kit.route import endpoint

from ._counting import Counting, count
from ._exposition import check_registry, handler_for
from ._instruments import UNMATCHED, get_instruments
from ._labels import ExtraLabels, check_labels, exemplar_source

__all__ = ("metrics",)

Label: TypeAlias = Callable[[AnyContext], str | Awaitable[str | None] | None]
"""Returns the value of a label: `def label(c)`, plain or async."""
ExemplarSource: TypeAlias = Callable[
    [AnyContext], Mapping[str, str] | Awaitable[Mapping[str, str] | None] | None
]
"""Returns the labels of an exemplar: `def exemplar(c)`, plain or async."""

_DEFAULT_BUCKETS = Histogram.DEFAULT_BUCKETS[:-1]


def metrics(
    path: str | None = "/metrics",
    *,
    registry: CollectorRegistry | None = None,
    prefix: str = "http",
    buckets: Iterable[float] = _DEFAULT_BUCKETS,
    labels: Mapping[str, str | Label] | None = None,
    max_label_values: int = 100,
    exclude: Exclude | Iterable[Exclude] = (),
    exemplars: bool | ExemplarSource = False,
) -> AsyncMiddleware:
    """Returns middleware that measures each request, and serves the metrics at `path`.

    The metrics are `http_requests_total`, `http_request_duration_seconds`,
    `http_requests_in_progress`, `http_request_size_bytes` and `http_response_size_bytes`. Their
    labels are `method`, `route` (the pattern of the route) and `status`.

    Each request counts exactly once: a streamed one when its body has been sent or the client has
    disconnected, a cancelled one with status 499, a WebSocket with its handshake. If an app and a
    sub-app that `route` adds both measure it for one registry, the outer middleware counts it.

    Args:
        path: The path that serves the metrics, for GET and HEAD, as routes match it; requests for
            it aren't measured. None only measures: see `expose`.
        registry: The registry for the metrics. Calls with the same registry share them. Default: a
            new registry, and `path` also shows `prometheus_client.REGISTRY`. With
            `PROMETHEUS_MULTIPROC_DIR`, all apps of a process share them.
        prefix: Prefix of the metric names.
        buckets: Upper bounds of the durations in seconds, in ascending order.
        labels: Further labels: a mapping of names to values, or to functions `(c)`, plain or async,
            that return a str or None, called when the request is over. Use labels with few values:
            each combination of values is kept until the process exits.
        max_label_values: How many values each of these labels may have. Any others become `_OTHER`.
        exclude: Requests to leave out: a route pattern such as `/health/*`, which must match the
            whole path, a function `(c)`, plain or async, or a list of these.
        exemplars: Adds exemplars, which only OpenMetrics has. True adds the ids of the current
            sampled trace and span of OpenTelemetry. Or a function `(c)`, plain or async, that
            returns a mapping, up to 128 characters in all, or None.

    Returns:
        The middleware, for `app.use(...)`; register it before what it should measure.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If an option can't be used, the registry has other metrics with these names, or
            the folder in `PROMETHEUS_MULTIPROC_DIR` doesn't exist.
        ImportError: If `exemplars` is True, and opentelemetry-api isn't installed.

    Example:
        app.use(metrics())
    """
    check = OptionChecks("metrics")
    if path is not None:
        check.text("path", path, r"/[^?#]*", "a path such as '/metrics', or None")
    check_registry("metrics", registry)
    check.text("prefix", prefix, r"[A-Za-z_][A-Za-z0-9_]*", "a name such as 'http'")
    check.number("max_label_values", max_label_values, least=1)
    own = CollectorRegistry() if registry is None else registry
    extra = ExtraLabels(check_labels(check, labels), max_label_values)
    find_exemplar = exemplar_source(check, exemplars)
    is_simple = not extra.names and find_exemplar is None
    excludes = check_exclude(check, exclude)
    bounds = _checked_buckets(check, buckets)
    instruments = get_instruments(own, prefix, extra.names, bounds)
    answer = handler_for(own, REGISTRY) if registry is None else handler_for(own)

    places, key = instruments.places, instruments.key

    async def measured(c: Context[Any, Any], next: Next) -> None:
        c.set(key, True)
        method = c.req.method
        found = endpoint(c)
        route = UNMATCHED if found is None else found.path
        try:
            place = places.get((method, route)) or instruments.place(method, route)
            place.begin()
        except Exception as error:  # e.g. the disk with the files of several processes is full
            instruments.failed(error)
            await next()
            return
        start = perf_counter()
        try:
            await next()
            if is_simple and c.finalized:
                response = c.res
                progress = response.track_body()
                if progress.is_complete and not response.body_used:
                    # PERF: nearly every request.
                    size = 0 if method == "HEAD" else progress.size_bytes
                    place.end(c, response.status, perf_counter() - start, size)
                    return
            await count(Counting(c, place, start, extra), find_exemplar)
        except BaseException:
            # An exit runs to completion even if the request is cancelled.
            c.add_cleanup(Counting(c, place, start, extra).cancelled)
            raise

    measure = unless(excludes, measured)

    # PERF: not async, so that it needs no coroutine of its own.
    def metrics(c: Context[Any, Any], next: Next) -> Awaitable[Response | None]:
        req = c.req
        if req.path == path and req.method in ("GET", "HEAD"):
            return answer(c)
        # Several middleware may share the metrics, such as that of an app and of a sub-app.
        return next() if c.get(key) else measure(c, next)

    return metrics


def _checked_buckets(check: OptionChecks, buckets: Any) -> tuple[float, ...]:
    if isinstance(buckets, (str, bytes)) or not isinstance(buckets, Iterable):
        check.wrong_type("buckets", buckets, "a list of numbers")
    bounds = [check.number("buckets", each, whole=False) for each in buckets if each != inf]
    if not bounds or bounds[0] <= 0 or bounds != sorted({*bounds}):
        check.unusable("buckets", bounds, "seconds above 0, in ascending order")
    return tuple(map(float, bounds))
