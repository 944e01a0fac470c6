# SPDX-License-Identifier: MIT
"""Serves the metrics, in the text format of Prometheus or as OpenMetrics."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Metric,
    exposition,
)
from prometheus_client.openmetrics import exposition as openmetrics

from kit.http.fields import parse_accept
from kit.interface import Context, Response
from kit.interface.metadata import attach

from ._instruments import multiprocess_folder

__all__ = ("check_registry", "expose", "handler_for")

_TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_OPENMETRICS = "application/openmetrics-text"
_OPENMETRICS_TYPE = f"{_OPENMETRICS}; version=1.0.0; charset=utf-8"
# On Windows, signal 0 isn't a check but Ctrl-C.
_CAN_ASK = os.name == "posix"
_LIVE_FILE = re.compile(r"gauge_live[a-z]+_(\d+)\.db")

# A limiter belongs to one event loop.
_limiter: RunVar[CapacityLimiter | None] = RunVar("kit.metrics", None)

Expose = Callable[[Context[Any, Any]], Awaitable[Response]]


def expose(registry: CollectorRegistry | None = None) -> Expose:
    """Returns a handler that serves the metrics of a registry.

    Use it to put the metrics behind a guard, or into an app on another port.

    The response is in OpenMetrics 1.0 if the client prefers it, otherwise in the text format 0.0.4.
    A query `name[]=...` selects samples by name. If `PROMETHEUS_MULTIPROC_DIR` is set, the response
    has the metrics of all processes that share that folder, whatever the registry.

    Args:
        registry: The registry. Default: `prometheus_client.REGISTRY`.

    Returns:
        The handler, for `app.get(path, ...)`; kit-openapi leaves it out of the documents.

    Raises:
        TypeError: If `registry` isn't a registry.

    Example:
        app.get("/metrics", bearer_auth(token=token), expose(registry))
    """
    check_registry("expose", registry)
    return handler_for(REGISTRY if registry is None else registry)


def check_registry(factory: str, registry: Any) -> None:
    """Raises a TypeError if a value is neither a registry nor None."""
    if registry is not None and not isinstance(registry, CollectorRegistry):
        raise TypeError(
            f"{factory}(registry=...) takes a prometheus_client.CollectorRegistry, "
            f"not {registry!r:.100}"
        )


def handler_for(*registries: CollectorRegistry) -> Expose:
    """Returns a handler that serves the metrics of some registries.

    Args:
        *registries: The registries. If several have a metric of the same name, the first one wins.
    """

    async def expose(c: Context[Any, Any]) -> Response:
        wants_openmetrics = _prefers_openmetrics(c.req.header("accept"))
        names = c.req.queries("name[]")
        # In a thread: collecting may take long, and reads files if there are several processes.
        data = await to_thread.run_sync(
            _render, registries, wants_openmetrics, names, limiter=_one_at_a_time()
        )
        kind = _OPENMETRICS_TYPE if wants_openmetrics else _TEXT_TYPE
        return c.body(
            data, 200, {"content-type": kind, "vary": "Accept", "cache-control": "no-store"}
        )

    return attach(expose, describes={"hidden": True})


def _one_at_a_time() -> CapacityLimiter:
    """Returns the event loop's limiter for scrapes, which keeps threads free for handlers."""
    limiter = _limiter.get()
    if limiter is None:
        limiter = CapacityLimiter(1)
        _limiter.set(limiter)
    return limiter


def _prefers_openmetrics(accept: str | None) -> bool:
    for each in parse_accept(accept):
        if each.q == 0:
            return False
        kind = each.type.lower()
        if kind == _OPENMETRICS:
            # Prometheus asks for several versions; 0.0.1 is read like 1.0.0.
            if each.params.get("version", "1.0.0") in ("1.0.0", "0.0.1"):
                return True
        elif kind in ("text/plain", "text/*", "*/*"):
            return False
    return False


def _render(
    registries: Iterable[CollectorRegistry], wants_openmetrics: bool, names: list[str] | None
) -> bytes:
    folder = multiprocess_folder()
    sources: list[Any]
    if folder is not None:
        _forget_dead_processes(folder)
        sources = [_AllProcesses(folder, names)]
    else:
        sources = [each.restricted_registry(names) if names else each for each in registries]
    encode: Any = openmetrics if wants_openmetrics else exposition
    data: bytes = encode.generate_latest(_Merged(sources))
    return data


class _Merged:
    """The metrics of several sources, each name once, from the first source that has it."""

    def __init__(self, sources: Iterable[Any]) -> None:
        self._sources = sources

    def collect(self) -> Iterator[Metric]:
        """Yields the metrics."""
        seen: set[str] = set()
        for source in self._sources:
            found = {metric.name: metric for metric in source.collect()}
            yield from (metric for name, metric in found.items() if name not in seen)
            seen.update(found)


class _AllProcesses:
    """The metrics of the processes that share a folder.

    Not a registry: a registry finds names only in collectors that declare them, and this one
    doesn't.
    """

    def __init__(self, folder: str, names: list[str] | None) -> None:
        self._folder = folder
        self._names = names

    def collect(self) -> Iterator[Metric]:
        """Yields the metrics, with the samples of the chosen names."""
        from prometheus_client import multiprocess

        make: Any = multiprocess.MultiProcessCollector
        metric: Metric
        for metric in make(None, self._folder).collect():
            if self._names:
                metric.samples = [each for each in metric.samples if each.name in self._names]
            if metric.samples:
                yield metric


def _forget_dead_processes(folder: str) -> None:
    """Removes the gauges of processes that have exited: few servers report when a worker exits."""
    from prometheus_client import multiprocess

    forget: Any = multiprocess.mark_process_dead
    found = (_LIVE_FILE.fullmatch(each.name) for each in Path(folder).glob("gauge_live*.db"))
    for pid in {int(match[1]) for match in found if match}:
        if _CAN_ASK and not _is_alive(pid):
            with suppress(FileNotFoundError):  # another process was faster
                forget(pid, folder)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)  # it may belong to another user
    return True
