# SPDX-License-Identifier: MIT
"""The routes that matched a request."""

from __future__ import annotations

import re
from typing import Any

from kit.interface import Context, RouterRoute
from kit.interface.metadata import get_facts
from kit.router.patterns import compile_expression, parse_parameter, split_pattern

__all__ = ("base_path", "base_route_path", "endpoint", "matched_routes", "route_path")

_ONE_SEGMENT = re.compile(r"[^/]+")


def matched_routes(c: Context[Any, Any]) -> list[RouterRoute]:
    """Returns all routes that matched the request, middleware included, in registration order.

    Args:
        c: The context.
    """
    return [*c.matched_routes]


def endpoint(c: Context[Any, Any]) -> RouterRoute | None:
    """Returns the matched route that handles the request: the first that isn't middleware.

    Its `path` is called `http.route` in metrics and traces (OpenTelemetry semantic conventions for
    HTTP). Any handler or middleware can call this, before or after `next()`.

    Args:
        c: The context.

    Returns:
        The route. If only middleware matched, the route of the first mounted application, or None:
        the response is then a 404, or comes from middleware.
    """
    routes = c.matched_routes
    for route in routes:
        if not route.takes_next:
            return route
    return next((route for route in routes if get_facts(route.handler).mounted), None)


def route_path(c: Context[Any, Any], index: int | None = None) -> str:
    """Returns the pattern of a matched route.

    Args:
        c: The context.
        index: Index of the matched route, from 0, or from -1 backwards. Default: the route that is
            running.

    Returns:
        The pattern with its prefixes, e.g. `/api/users/:id`; `""` if there is no such route.
    """
    route = _route_at(c, index)
    return "" if route is None else route.path


def base_route_path(c: Context[Any, Any], index: int | None = None) -> str:
    """Returns the prefix, as a pattern, under which a matched route was registered.

    Args:
        c: The context.
        index: As for `route_path`.

    Returns:
        The prefix, e.g. `/:tenant`; `/` if there is none, `""` if there is no such route.
    """
    route = _route_at(c, index)
    return "" if route is None else route.base_path


def base_path(c: Context[Any, Any], index: int | None = None) -> str:
    """Returns the part of the request's path that matched the prefix of a matched route.

    Args:
        c: The context.
        index: As for `route_path`.

    Returns:
        E.g. `/acme` if the prefix is `/:tenant`.
    """
    pattern = base_route_path(c, index)
    if not {":", "*", "%"} & {*pattern}:
        return pattern
    path = c.req.path
    length = 0
    for segment in split_pattern(pattern):
        parameter = parse_parameter(segment)
        if parameter is None and segment != "*":
            # Not its own length, since escapes in the pattern are decoded in the path.
            end = path.find("/", length + 1)
            length = (len(path) if end < 0 else end) - 1
        else:
            expression = parameter.expression if parameter else None
            compiled = (
                compile_expression(expression, pattern, "ALL", then=r"(?=/|\Z)")
                if expression
                else _ONE_SEGMENT
            )
            match = compiled.search(path, length + 1)
            length += len(match[0]) if match else 0
        length += 1
    return path[:length]


def _route_at(c: Context[Any, Any], index: int | None) -> RouterRoute | None:
    routes = c.matched_routes
    try:
        return routes[c.req.route_index if index is None else index]
    except IndexError:
        return None
