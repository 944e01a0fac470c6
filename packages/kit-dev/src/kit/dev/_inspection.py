# SPDX-License-Identifier: MIT
"""What is registered in an app, route by route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kit.interface import METHOD_NAME_ALL, App, RouterRoute
from kit.interface.metadata import facts_of
from kit.interface.patterns import PatternIndex, covers

from ._names import Place, name_of, place_of


@dataclass(frozen=True, slots=True)
class RouteData:
    """One registered route.

    Attributes:
        path: The whole pattern, e.g. `/api/users/:id`.
        method: Upper-case method, or `ALL`.
        name: What a reader of the code would call the handler; `[handler]` or `[middleware]` for
            a lambda.
        is_middleware: Whether the handler takes `next`.
        middleware: Names of the middleware that runs before this route, outermost first: what was
            registered earlier, for the method and for every path of the route.
    """

    path: str
    method: str
    name: str
    is_middleware: bool
    middleware: list[str]


@dataclass(frozen=True, slots=True)
class Inspection:
    """What else the commands show of a route.

    Attributes:
        data: The route.
        place: Where its handler is defined, if that is known.
        is_mounted: Whether it hands over to a mounted application, as middleware does in form.
        shadow: The earlier handler that answers all of its requests, so that it never runs.
    """

    data: RouteData
    place: Place | None
    is_mounted: bool
    shadow: RouteData | None


def inspect_routes(app: App) -> list[RouteData]:
    """Lists what is registered in an app; the app is not changed by it.

    Args:
        app: The app.

    Returns:
        All routes in the order of registration, middleware included.

    Raises:
        RuntimeError: If a decorator never got its function.
    """
    return [each.data for each in inspect_app(app)]


def inspect_app(app: App) -> list[Inspection]:
    """Inspects the routes as `inspect_routes` does, in more detail."""
    found: list[Inspection] = []
    middleware: PatternIndex[RouteData] = PatternIndex()
    answering: PatternIndex[RouteData] = PatternIndex()
    for route in app.routes:
        is_middleware = route.takes_next
        before = [
            each.name for each in middleware.candidates(route.path) if _runs_before(each, route)
        ]
        data = RouteData(
            route.path,
            route.method,
            shown_name(route.handler, is_middleware),
            is_middleware,
            before,
        )
        shadow = None
        if not is_middleware:
            earlier = answering.candidates(route.path)
            shadow = next((each for each in earlier if _runs_before(each, route)), None)
        (middleware if is_middleware else answering).add(route.path, data)
        found.append(Inspection(data, place_of(route.handler), is_mounted(route), shadow))
    return found


def get_router_name(app: App) -> str:
    """Returns the name of the router of an app; the app is not changed by it.

    Args:
        app: The app.

    Returns:
        The name, e.g. `SmartRouter`. `kit routes --explain` tells which router that uses.
    """
    return app.router.name


def shown_name(handler: Any, is_middleware: bool) -> str:
    """The name of a handler, or what stands for it."""
    return name_of(handler) or ("[middleware]" if is_middleware else "[handler]")


def is_mounted(route: RouterRoute) -> bool:
    """Whether a route hands over to a mounted application."""
    return facts_of(route.handler).mounted


def _runs_before(earlier: RouteData, route: RouterRoute) -> bool:
    return earlier.method in (METHOD_NAME_ALL, route.method) and covers(earlier.path, route.path)
