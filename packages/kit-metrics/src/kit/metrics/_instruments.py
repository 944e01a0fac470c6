# SPDX-License-Identifier: MIT
"""The metrics of a registry, and their time series."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary

__all__ = ("LABELS", "Exemplar", "Instruments", "Series", "instruments_of", "multiprocess_folder")

LABELS = ("method", "route", "status")
"""The labels that every metric of finished requests has."""

Exemplar: TypeAlias = Mapping[str, str] | None
"""Labels of an exemplar, such as the id of a trace."""

_MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"


def multiprocess_folder() -> str | None:
    """Returns the folder that the processes of an app share; None unless there are several."""
    return os.environ.get(_MULTIPROCESS) or None


class Series(NamedTuple):
    """The time series of one combination of labels: the methods that count.

    Attributes:
        count: Counts a request.
        observe_duration: Takes the duration in seconds.
        observe_request: Takes the size of the request's body in bytes.
        observe_response: Takes the size of the response's body in bytes.
    """

    count: Callable[..., None]
    observe_duration: Callable[..., None]
    observe_request: Callable[[float], None]
    observe_response: Callable[[float], None]


class Instruments:
    """The metrics of requests in one registry.

    Args:
        registry: Where they are registered.
        prefix: What their names begin with.
        labels: Names of the labels besides `LABELS`.
        buckets: Upper bounds of the durations in seconds.

    Raises:
        ValueError: If the registry has a metric of one of the names.

    Attributes:
        labels: The same.
        buckets: The same.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        prefix: str,
        labels: tuple[str, ...],
        buckets: tuple[float, ...],
    ) -> None:
        self.labels = labels
        self.buckets = buckets
        names = (*LABELS, *labels)
        made: list[Any] = []

        def make(kind: Any, name: str, text: str, names: tuple[str, ...], **options: Any) -> Any:
            metric = kind(f"{prefix}_{name}", text, names, registry=registry, **options)
            made.append(metric)
            return metric

        try:
            self._requests = make(Counter, "requests", "Requests that were answered.", names)
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
            self._in_progress = make(
                Gauge,
                "requests_in_progress",
                "Requests that are being answered.",
                LABELS[:2],
                # Of processes that have ended nothing is in progress.
                multiprocess_mode="livesum",
            )
        except ValueError as error:
            for metric in made:
                registry.unregister(metric)
            raise ValueError(
                f"metrics(registry=..., prefix={prefix!r}) can't be used: the registry has "
                "metrics of these names already, which something else registered"
            ) from error
        # PERF: a lookup here takes a quarter of the time of `labels()`. Each has as many entries as
        # there are combinations of labels, which the metrics keep anyway.
        self._series: dict[tuple[str, ...], Series] = {}
        self._gauges: dict[tuple[str, str], Gauge] = {}

    def series(self, values: tuple[str, ...]) -> Series:
        """Returns the time series of some values of the labels."""
        series = self._series.get(values)
        if series is None:
            series = self._series[values] = Series(
                self._requests.labels(*values).inc,
                self._durations.labels(*values).observe,
                self._request_sizes.labels(*values).observe,
                self._response_sizes.labels(*values).observe,
            )
        return series

    def in_progress(self, method: str, route: str) -> Gauge:
        """Returns the gauge of the requests in progress."""
        gauge = self._gauges.get((method, route))
        if gauge is None:
            made: Gauge = self._in_progress.labels(method, route)
            gauge = self._gauges[method, route] = made
        return gauge


_known: WeakKeyDictionary[CollectorRegistry, dict[str, Instruments]] = WeakKeyDictionary()
# The values of several processes are in files, by the names of metrics. Two metrics of one name in
# a process would overwrite each other's values there, so that all apps of a process share them.
_of_process = CollectorRegistry()


def instruments_of(
    registry: CollectorRegistry,
    prefix: str,
    labels: tuple[str, ...],
    buckets: tuple[float, ...],
) -> Instruments:
    """Returns the metrics of a registry; they are shared by all that ask for the same ones.

    Args:
        registry: The registry. Where there are several processes, one of our own is used.
        prefix: What the names of the metrics begin with.
        labels: Names of the labels besides `LABELS`.
        buckets: Upper bounds of the durations in seconds.

    Raises:
        ValueError: If the registry has metrics of these names that are others.
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
