# SPDX-License-Identifier: MIT
"""The middleware that turns a 404 into a 405 if the path has routes for other methods."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from kit.authoring.maybe_await import is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.interface import (
    METHOD_NAME_ALL,
    AnyContext,
    App,
    AsyncMiddleware,
    Context,
    Next,
    Response,
    is_response,
)
from kit.interface.metadata import attach
from kit.route import base_path

MethodNotAllowedHandler: TypeAlias = Callable[
    [AnyContext, list[str]], Response | Awaitable[Response]
]
"""Responds to an unsupported method: `def answer(c, allowed_methods)`, plain or async."""


def method_not_allowed(
    *, app: App, on_method_not_allowed: MethodNotAllowedHandler | None = None
) -> AsyncMiddleware:
    """Returns middleware that responds with 405 if the path has routes, but none for the method.

    It handles responses with status 404, unless an exception caused them. `Allow` lists the methods
    of all routes that match the path, and adds HEAD to GET (RFC 9110, section 15.5.6). Routes for
    every method, added by `app.all` and `app.use`, don't count, since they are usually middleware.

    Args:
        app: The app whose routes count: the app that the middleware is added to, or a parent of
            that app (see `route`).
        on_method_not_allowed: Function `(c, allowed_methods)`, plain or async, that returns the
            response. `Allow` is added to a 405 without it. Default: a text/plain response.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If `app` is not an app, or `on_method_not_allowed` not a function of two
            arguments. At a request: if `on_method_not_allowed` doesn't return a response.

    Example:
        app.use(method_not_allowed(app=app))
    """
    check = OptionChecks("method_not_allowed")
    if isinstance(app, type) or not (hasattr(app, "routes") and hasattr(app, "router")):
        check.wrong_type("app", app, "the app whose routes count")
    if on_method_not_allowed is not None:
        check.function("on_method_not_allowed", on_method_not_allowed, "(c, allowed_methods)")

    routes: _Routes | None = None

    async def method_not_allowed(c: Context[Any, Any], next: Next) -> None:
        nonlocal routes
        index = c.req.route_index
        await next()
        if c.res.status != 404 or c.error is not None:
            return
        if routes is None:  # not earlier: routes may be added until the first request
            routes = _Routes(app, method_not_allowed)
        allowed = routes.allowed_methods(routes.find_path(c, index))
        if not allowed or c.req.method in allowed:
            return
        c.header("Allow", None)  # of the 404
        if on_method_not_allowed is None:
            c.res = c.text("Method Not Allowed", 405, {"Allow": ", ".join(allowed)})
        else:
            c.res = await _answer(on_method_not_allowed, c, allowed)

    return attach(method_not_allowed, responses={405: "The path has no route for the method"})


async def _answer(
    on_method_not_allowed: MethodNotAllowedHandler, c: Context[Any, Any], allowed: list[str]
) -> Response:
    """Returns the response of the user's function."""
    response: Any = on_method_not_allowed(c, allowed)
    if is_awaitable(response):
        response = await settle(response, on_method_not_allowed)
    if not is_response(response):
        raise TypeError(
            f"method_not_allowed(on_method_not_allowed=...) returned {response!r:.100}: "
            "expected a Response"
        )
    # SPEC: RFC 9110 section 15.5.6: a 405 has the header.
    if response.status == 405 and not response.headers.has("allow"):
        response.headers.set("Allow", ", ".join(allowed))
    return response


class _Routes:
    """The routes of an app by path.

    Args:
        app: The app.
        middleware: The middleware, which has its own route in the app.
    """

    def __init__(self, app: App, middleware: Any) -> None:
        routes = app.routes
        self._match = app.router.match
        self._methods = [*dict.fromkeys(route.method for route in routes)]
        # The position of a pattern is that of its first route; its methods are merged.
        patterns = {pattern: n for n, pattern in enumerate(dict.fromkeys(r.path for r in routes))}
        self._order = {
            (route.path, route.method): (patterns[route.path], number)
            for number, route in reversed([*enumerate(routes)])
        }
        own = next((route for route in routes if route.handler is middleware), None)
        self._own_segments = None if own is None else len(_segments(own.base_path))

    def find_path(self, c: Context[Any, Any], index: int) -> str:
        """Returns the path of a request relative to the routes of the app.

        If the app was added to another one by `route`, that is the path without the prefix.

        Args:
            c: The context.
            index: Index of the middleware in the matched routes.
        """
        path = c.req.path
        if self._own_segments is None:
            return path
        here = _segments(base_path(c, index))
        prefix = here[: max(len(here) - self._own_segments, 0)]
        return path[sum(map(len, prefix)) + len(prefix) :] or "/" if prefix else path

    def allowed_methods(self, path: str) -> list[str]:
        """Returns the methods of the routes that match a path, in the order of the routes."""
        found = {
            (route.path, method)
            for method in self._methods
            if method != METHOD_NAME_ALL
            for route, _ in self._match(method, path)[0]
            if route.method == method and _ends_as(route.path, path)
        }
        allowed: dict[str, None] = {}
        for _, method in sorted(found, key=self._order.__getitem__):
            allowed[method] = None
            if method == "GET":
                allowed["HEAD"] = None
        return [*allowed]


def _ends_as(pattern: str, path: str) -> bool:
    """Returns whether the trailing slash of a path agrees with the pattern.

    LinearRouter and PatternRouter ignore a trailing slash, but it makes a different path.
    """
    if not path.endswith("/") or path == "/":
        return True
    last = pattern.rpartition("/")[2]
    return not last or last.endswith(("*", "}"))


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]
