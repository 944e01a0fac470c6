# SPDX-License-Identifier: MIT
"""What is registered in an app, route by route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kit.interface import METHOD_NAME_ALL, App, RouterRoute
from kit.interface.metadata import get_facts
from kit.router.patterns import PatternIndex, covers

from ._names import Place, describe_handler, find_place


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
        uncovered: Of middleware: the handlers that it would run before, had it been registered
            before them.
    """

    data: RouteData
    place: Place | None
    is_mounted: bool
    shadow: RouteData | None
    uncovered: tuple[RouteData, ...] = ()


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
    routes = list(app.routes)
    handlers: list[tuple[RouterRoute, RouteData]] = []
    for index, route in enumerate(routes):
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
        uncovered: tuple[RouteData, ...] = ()
        if not is_middleware:
            handlers.append((route, data))
        elif not is_mounted(route) and not _is_of_one_route(routes, index):
            uncovered = tuple(
                each
                for other, each in handlers
                if _is_within(other, route) and _runs_before(data, other)
            )
        place = find_place(route.handler)
        found.append(Inspection(data, place, is_mounted(route), shadow, uncovered))
    return found


def _is_within(route: RouterRoute, other: RouterRoute) -> bool:
    """Whether a route belongs to the app that another was registered in, or to one inside it.

    Middleware of an app that is part of another isn't meant for its neighbours. The core's routes
    know the apps that they came through, innermost first, by their error handlers.
    """
    apps: tuple[Any, ...] = getattr(route, "error_handlers", ())
    others: tuple[Any, ...] = getattr(other, "error_handlers", ())
    return apps[len(apps) - len(others) :] == others


def _is_of_one_route(routes: Sequence[RouterRoute], index: int) -> bool:
    """Whether middleware was registered with a handler, as in `app.get(path, middleware, handler)`.

    What is registered together follows each other.
    """
    own = routes[index]
    for route in routes[index + 1 :]:
        if (route.method, route.path) != (own.method, own.path):
            return False
        if not route.takes_next:
            return True
    return False


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
    return describe_handler(handler) or ("[middleware]" if is_middleware else "[handler]")


def is_mounted(route: RouterRoute) -> bool:
    """Whether a route hands over to a mounted application."""
    return get_facts(route.handler).mounted


def _runs_before(earlier: RouteData, route: RouterRoute) -> bool:
    return earlier.method in (METHOD_NAME_ALL, route.method) and covers(earlier.path, route.path)
