# SPDX-License-Identifier: MIT
"""Finds out what answers a URL, by asking the router; no handler is run for it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kit.http.paths import decode_component, decode_path, merge_path, parse_url_path
from kit.interface import METHOD_NAME_ALL, App
from kit.interface.metadata import get_facts

from ._inspection import is_mounted, shown_name


@dataclass(frozen=True, slots=True)
class Step:
    """A route that matches.

    Attributes:
        method: Its method, or `ALL`.
        path: Its pattern.
        name: The name of its handler.
        is_middleware: Whether the handler takes `next`.
        is_mounted: Whether it hands over to a mounted application.
        params: The parameters, as the handler sees them.
        runs: Whether its turn comes; not if an earlier one answers.
        source: Where its arguments come from, if `kit.typed` reads them; empty otherwise.
    """

    method: str
    path: str
    name: str
    is_middleware: bool
    is_mounted: bool
    params: dict[str, str]
    runs: bool
    source: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A route that a router does not take.

    Attributes:
        router: Name of the router.
        method: Method of the route, if known.
        path: Its pattern.
        position: Index into the pattern, if known.
        reason: Why.
    """

    router: str
    method: str | None
    path: str
    position: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happens to a request.

    Attributes:
        method: Method of the request.
        path: The routing path: what the router is asked.
        router: Name of the app's router.
        active_router: Name of the router that this one uses, as SmartRouter does; else None.
        refusals: Which other routers are out, and why.
        steps: The routes that match, in the order in which they run.
        other_methods: If no handler answers, the methods that one would answer.
        near: If there are none either, the patterns that resemble the path.
    """

    method: str
    path: str
    router: str
    active_router: str | None
    refusals: list[Refusal]
    steps: list[Step]
    other_methods: list[str]
    near: list[str]

    @property
    def is_answered(self) -> bool:
        """Whether there is a handler that answers, or a mounted application."""
        return any(step.is_mounted or not step.is_middleware for step in self.steps)


def explain(app: App, method: str, url: str) -> Explanation:
    """Finds what answers a request. It makes a match: routes can't be added any more then.

    Args:
        app: The app.
        method: Upper-case method.
        url: A path or URL, percent-encoded; the query does not count.

    Raises:
        UnsupportedPathError: If the router finds only now that it can't take a route.
    """
    path = routing_path(app, url)
    steps = _steps(app, method, path)
    refusals = [
        Refusal(name, error.method, error.path, error.position, error.reason)
        for name, error in getattr(app.router, "refusals", ())
    ]
    active = _active_router(app.router)
    found = Explanation(method, path, app.router.name, active, refusals, steps, [], [])
    if not found.is_answered:
        methods = {route.method for route in app.routes if not route.takes_next}
        for other in sorted(methods - {METHOD_NAME_ALL, method}):
            if any(not step.is_middleware for step in _steps(app, other, path)):
                found.other_methods.append(other)
        if not found.other_methods:
            patterns = dict.fromkeys(r.path for r in app.routes if not r.takes_next)
            found.near.extend(difflib.get_close_matches(path, patterns, n=3))
    return found


def routing_path(app: App, url: str) -> str:
    """The path by which an app routes a URL.

    An app with a `get_path` of its own takes it from a request, so it has to be given as it is.
    """
    if has_own_path(app):
        return url
    if is_absolute(url):
        path = parse_url_path(url)
    else:
        path = decode_path(merge_path("/", re.split(r"[?#]", url, maxsplit=1)[0]))
    if not app.strict and len(path) > 1:
        path = path.removesuffix("/")
    return path


def is_absolute(url: str) -> bool:
    """Whether a URL has a scheme; a path may have one further back, as in `/fetch/http://host`."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.\-]*://", url) is not None


def has_own_path(app: App) -> bool:
    """Whether an app takes the routing path from a request by a function of its own."""
    return app.get_path is not None


def _steps(app: App, method: str, path: str) -> list[Step]:
    result: Any = app.router.match("GET" if method == "HEAD" else method, path)
    found, *stash = result
    steps = []
    is_answered = False
    for route, params in found:
        is_middleware = route.takes_next
        steps.append(
            Step(
                route.method,
                route.path,
                shown_name(route.handler, is_middleware),
                is_middleware,
                is_mounted(route),
                _values(params, *stash),
                not is_answered,
                get_facts(route.handler).source,
            )
        )
        is_answered = is_answered or not is_middleware
    return steps


def _values(params: Mapping[str, Any], stash: Any = None) -> dict[str, str]:
    """The parameters with their values, which are in the stash if there is one."""
    values = {name: value if stash is None else stash[value] for name, value in params.items()}
    return {name: decode_component(value) for name, value in values.items() if value is not None}


def _active_router(router: Any) -> str | None:
    """The name of the router that one such as SmartRouter uses."""
    name = None
    while (router := getattr(router, "active_router", None)) is not None:
        name = router.name
    return name
