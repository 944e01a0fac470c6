# SPDX-License-Identifier: MIT
"""The metrics of a registry, and their time series."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary

from kit.http.methods import STANDARD_METHODS
from kit.interface import Context

__all__ = (
    "LABELS",
    "OTHER",
    "UNMATCHED",
    "Exemplar",
    "Place",
    "get_instruments",
    "multiprocess_folder",
)

LABELS = ("method", "route", "status")
"""The labels that every metric of finished requests has."""

OTHER = "_OTHER"
"""The label value that stands for all values that aren't distinguished."""

UNMATCHED = "unmatched"
"""The label value of requests that match no route."""

Exemplar: TypeAlias = Mapping[str, str] | None
"""Labels of an exemplar, such as the id of a trace."""

_EVERYWHERE = frozenset(("*", "/*"))
_MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
_logger = logging.getLogger("kit.metrics")


def multiprocess_folder() -> str | None:
    """Returns the folder that the processes of an app share; None if there is only one process.

    Raises:
        ValueError: If there is no such folder.
    """
    folder = os.environ.get(_MULTIPROCESS)
    if folder and not os.path.isdir(folder):
        raise ValueError(
            f"{_MULTIPROCESS}={folder!r} isn't a folder: create it before the server starts"
        )
    return folder or None


class Series(NamedTuple):
    """The time series of one combination of labels: the methods that count.

    Attributes:
        add: Counts a request.
        observe_duration: Records the duration in seconds.
        observe_request: Records the size of the request body in bytes.
        observe_response: Records the size of the response body in bytes.
    """

    add: Callable[..., None]
    observe_duration: Callable[..., None]
    observe_request: Callable[[float], None]
    observe_response: Callable[[float], None]


class Place:
    """The requests of one method for one route.

    Args:
        instruments: The metrics.
        method: The method, as a label.
        route: The pattern of the route, or `UNMATCHED`.

    Attributes:
        begin: Counts a request as in progress.
    """

    __slots__ = ("_finish", "_instruments", "_method", "_route", "_series", "begin")

    def __init__(self, instruments: Instruments, method: str, route: str) -> None:
        self._instruments = instruments
        self._method = method
        self._route = route
        # PERF: a lookup here takes a quarter of the time of `labels()`. There are as many entries
        # as combinations of labels, which the metrics keep anyway.
        self._series: dict[int | tuple[int, tuple[str, ...]], Series] = {}
        gauge = instruments.in_progress.labels(method, route)
        self.begin: Callable[[], None] = gauge.inc
        self._finish: Callable[[], None] = gauge.dec

    def end(
        self,
        c: Context[Any, Any],
        status: int,
        duration_s: float,
        size: int,
        extra: tuple[str, ...] = (),
        exemplar: Exemplar = None,
    ) -> None:
        """Counts a finished request; logs the exception if that fails, e.g. because a disk is full.

        Args:
            c: Its context.
            status: The status of the response.
            duration_s: How long it took, in seconds.
            size: Number of body bytes sent.
            extra: The values of further labels.
            exemplar: An exemplar for its counter and its duration.
        """
        self._finish()
        try:
            place = self
            if self._route is UNMATCHED and status != 404:
                place = self._instruments.place(self._method, _answered_by(c))
            series = place._series.get((status, extra) if extra else status)
            if series is None:
                series = place._new_series(status, extra)
            series.add(1, exemplar)
            series.observe_duration(duration_s, exemplar)
            declared = c.req.header("content-length")
            if declared is not None:  # PERF: most requests have no body
                received = _content_length(declared)
                if received is not None:
                    series.observe_request(received)
            series.observe_response(size)
        except Exception as error:
            self._instruments.failed(error)

    def _new_series(self, status: int, extra: tuple[str, ...]) -> Series:
        values = (self._method, self._route, str(status), *extra)
        series = self._instruments.series(values)
        self._series[(status, extra) if extra else status] = series
        return series


class Instruments:
    """The metrics of requests in one registry.

    Args:
        registry: The registry to register them in.
        prefix: Prefix of their names.
        labels: Names of the labels besides `LABELS`.
        buckets: Upper bounds of the durations in seconds.

    Raises:
        ValueError: If the registry already has a metric with one of the names.

    Attributes:
        labels: The same.
        buckets: The same.
        key: The variable of a context that marks its request as counted.
        in_progress: The gauge of requests in progress, by method and route.
        places: What `place` returned, by method and route.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        prefix: str,
        labels: tuple[str, ...],
        buckets: tuple[float, ...],
    ) -> None:
        self.key = f"kit.metrics {id(self)}"
        self.labels = labels
        self.buckets = buckets
        names = (*LABELS, *labels)
        made: list[Any] = []

        def make(kind: Any, name: str, text: str, names: tuple[str, ...], **options: Any) -> Any:
            metric = kind(f"{prefix}_{name}", text, names, registry=registry, **options)
            made.append(metric)
            return metric

        try:
            self._requests = make(Counter, "requests", "Number of requests.", names)
            self._durations = make(
                Histogram,
                "request_duration_seconds",
                "Time from a request to the end of its response, in seconds.",
                names,
                buckets=buckets,
            )
            self._request_sizes = make(
                Summary, "request_size_bytes", "Sizes of request bodies, in bytes.", names
            )
            self._response_sizes = make(
                Summary, "response_size_bytes", "Sizes of response bodies, in bytes.", names
            )
            self.in_progress = make(
                Gauge,
                "requests_in_progress",
                "Number of requests in progress.",
                LABELS[:2],
                # Processes that have exited have nothing in progress.
                multiprocess_mode="livesum",
            )
        except ValueError as error:
            for metric in made:
                registry.unregister(metric)
            raise ValueError(
                f"metrics(registry=..., prefix={prefix!r}) can't be used: the registry has "
                "metrics of these names already, which something else registered"
            ) from error
        self.places: dict[tuple[str, str], Place] = {}
        self._has_failed = False

    def failed(self, error: Exception) -> None:
        """Logs the first exception that kept a request from being counted."""
        if not self._has_failed:
            self._has_failed = True
            _logger.error("Some requests aren't counted; they were not affected", exc_info=error)

    def series(self, values: tuple[str, ...]) -> Series:
        """Returns the time series for some label values."""
        return Series(
            self._requests.labels(*values).inc,
            self._durations.labels(*values).observe,
            self._request_sizes.labels(*values).observe,
            self._response_sizes.labels(*values).observe,
        )

    def place(self, method: str, route: str) -> Place:
        """Returns the requests of a method for a route; `places` has those of standard methods."""
        label = method if method in STANDARD_METHODS else OTHER
        place = self.places.get((label, route))
        if place is None:
            place = self.places[label, route] = Place(self, label, route)
        return place


_known: WeakKeyDictionary[CollectorRegistry, dict[str, Instruments]] = WeakKeyDictionary()
# With several processes, the values are in files, by metric name. Two metrics with the same name in
# one process would overwrite each other's values, so all apps of a process share them.
_of_process = CollectorRegistry()


def get_instruments(
    registry: CollectorRegistry,
    prefix: str,
    labels: tuple[str, ...],
    buckets: tuple[float, ...],
) -> Instruments:
    """Returns the metrics of a registry; callers with the same arguments share them.

    Args:
        registry: The registry. With several processes, an internal one is used instead.
        prefix: Prefix of the metric names.
        labels: Names of the labels besides `LABELS`.
        buckets: Upper bounds of the durations in seconds.

    Raises:
        ValueError: If the registry has other metrics with these names.
    """
    if multiprocess_folder() is not None:
        registry = _of_process
    by_prefix = _known.setdefault(registry, {})
    found = by_prefix.get(prefix)
    if found is None:
        found = by_prefix[prefix] = Instruments(registry, prefix, labels, buckets)
    elif (found.labels, found.buckets) != (labels, buckets):
        raise ValueError(
            f"metrics(prefix={prefix!r}) was called before for the same registry, with other "
            "labels or buckets: use the same ones, or give this one another prefix or registry"
        )
    return found


def _answered_by(c: Context[Any, Any]) -> str:
    """Returns the pattern of the middleware that responded, unless it matches all paths."""
    pattern = c.matched_routes[c.req.route_index].path
    return UNMATCHED if pattern in _EVERYWHERE else pattern


def _content_length(declared: str) -> int | None:
    """Returns the number in a Content-Length header, or None if it isn't a number."""
    return int(declared[:18]) if declared.isdigit() and declared.isascii() else None
