# SPDX-License-Identifier: MIT
"""Apps made of apps: routed below a path, under a prefix, or mounted from another framework."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from kit._app.mount import mounted_handler
from kit._app.registration import Registration, place_of_call
from kit._app.types import B, V
from kit._state.lifespan import Life, MountedLife
from kit._state.route import Route
from kit._support.paths import merge_path
from kit.interface import METHOD_NAME_ALL, Router, RouterClosedError
from kit.web import Request, Response

if TYPE_CHECKING:
    from kit.app import Kit
    from kit.context import Context

ApplicationHandler: TypeAlias = "Callable[..., Response | Awaitable[Response | None] | None]"
"""Another framework's handler: `(request, *arguments)`, plain or async."""

OptionHandler: TypeAlias = "Callable[[Context[Any, Any]], Any]"
ReplaceRequest: TypeAlias = "Callable[[Request], Request]"


class RouteTable:
    """The routes of an app; an app and those that `base_path` makes of it share one.

    Attributes:
        router: Finds the routes of a request.
        routes: All of them, in order.
        life: What is started and stopped with the app.
        closed: Whether the router has matched.
        routed: Where the app was added to another one, None if it was not.
    """

    __slots__ = ("closed", "life", "routed", "router", "routes")

    def __init__(self, router: Router[Any], life: Life) -> None:
        self.router = router
        self.life = life
        self.routes: list[Route] = []
        self.closed = False
        self.routed: str | None = None

    def add(self, route: Route) -> None:
        """Adds a route.

        Raises:
            RouterClosedError: If it comes too late to have any effect.
            UnsupportedPathError: If the router can't take it.
        """
        if self.closed:
            raise RouterClosedError(route.method, route.path)
        if self.routed is not None:
            raise RouterClosedError(route.method, route.path, self.too_late())
        self.router.add(route.method, route.path, route)
        self.routes.append(route)

    def too_late(self) -> str:
        """Says why nothing can be added to an app that is part of another one."""
        return f"the app was copied into another one by {self.routed}; add everything before"


class Composition(Registration[B, V]):
    """What puts apps together."""

    _table: RouteTable
    _base_path: str
    _on_error: Any

    def route(self, path: str, app: Kit[Any, Any], /) -> Self:
        """Adds all routes of another app below a path.

        The routes are copied, so the other app must be complete. Errors of its routes go to its
        own `on_error`, if it has one; what that raises goes to this app's. Its lifespan runs with
        this app's. Its `not_found`, `strict`, `get_path`, `limits` and router do not count here.

        Args:
            path: Where to, e.g. `/api`. May have parameters.
            app: The other app.

        Returns:
            This app.

        Raises:
            TypeError: If `path` is no str or `app` no Kit.
            ValueError: If `app` is this app.
            RuntimeError: If a decorator of the other app never got its function.
            UnsupportedPathError: If the router can't take one of the routes.
            RouterClosedError: If this app has answered a request before.
        """
        _check_path("route", path)
        if not isinstance(app, Composition):
            hint = ": use mount() with kit.asgi.from_asgi() for it" if callable(app) else ""
            raise TypeError(f"route({path!r}, ...) takes a Kit app, not {app!r:.100}{hint}")
        if app._table is self._table:
            raise ValueError(f"route({path!r}, ...) was given the app itself")
        app._check_pending()
        prefix = merge_path(self._base_path, path)
        for route in app._table.routes:
            self._table.add(route.below(prefix, app._on_error))
        app._table.routed = f"route({path!r}) at {place_of_call()}"
        self._table.life.children.append(app._table.life)
        return self

    def base_path(self, path: str, /) -> Self:
        """Gives an app that puts a prefix before every path it registers.

        It shares routes, router and lifespan with this one, and answers for both.

        Args:
            path: The prefix, e.g. `/api/v1`; it is put behind the prefix there is.

        Returns:
            The new app.

        Raises:
            TypeError: If `path` is no str.
        """
        _check_path("base_path", path)
        app = self._clone()
        app._base_path = merge_path(self._base_path, path)
        app._last_path = "/"
        return app

    def mount(
        self,
        path: str,
        application_handler: ApplicationHandler,
        /,
        *,
        option_handler: OptionHandler | None = None,
        replace_request: ReplaceRequest | bool | None = None,
    ) -> Self:
        """Hands every request below a path to another framework.

        The other one gets a request whose URL begins behind `path`. If it returns None, the routes
        behind are next.

        Args:
            path: Where to, e.g. `/legacy`: that path and everything below it.
            application_handler: Called with the request, the bindings and the execution context
                (None if there is none); gives a Response. For ASGI and WSGI applications see
                `kit.asgi`.
            option_handler: Given the context, what to call the handler with behind the request, in
                place of bindings and execution context: a list, or a single value.
            replace_request: Gives the request to hand on, in place of the one with the shorter
                URL; False hands on the request as it is.

        Returns:
            This app.

        Raises:
            TypeError: If an argument is of the wrong type.
            UnsupportedPathError: If the router can't take the path.
            RouterClosedError: If the app has answered a request before.
        """
        _check_path("mount", path)
        handler = mounted_handler(
            f"mount({path!r}, ...)", application_handler, option_handler, replace_request
        )
        self._add_routes([METHOD_NAME_ALL], [merge_path(path, "*")], (handler,))
        lifespan = getattr(application_handler, "lifespan", None)
        if callable(lifespan):  # from_asgi
            self._table.life.children.append(MountedLife(lifespan))
        return self

    def _add_routes(self, methods: list[str], paths: list[str], handlers: Sequence[Any]) -> None:
        # All are made, and with it checked, before the first is added.
        routes = [
            Route(self._base_path, merge_path(self._base_path, path), method.upper(), handler)
            for path in paths
            for method in methods
            for handler in handlers
        ]
        for route in routes:
            self._table.add(route)

    def _check_open(self, name: str) -> None:
        if self._table.routed is not None:
            raise RuntimeError(f"{name}() has no effect any more: {self._table.too_late()}")

    def _clone(self) -> Self:
        """An app that shares all but its prefix and handlers; given by the app."""
        raise TypeError(f"{type(self).__name__} has no base_path()")


def _check_path(name: str, path: Any) -> None:
    if not isinstance(path, str):
        raise TypeError(f"{name}() takes a path first, not {path!r:.100}")
