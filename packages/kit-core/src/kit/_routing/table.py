# SPDX-License-Identifier: MIT
"""The routes of an app."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kit.interface import RouterClosedError
from kit.router.route_patterns import for_router, forms

from .route import Route

if TYPE_CHECKING:
    from kit.interface import Router

    from .links import Links


class RouteTable:
    """The routes of an app, which it shares with the apps that `base_path` returns.

    Args:
        router: An empty router.
        make_router: Returns another empty router, needed to remove routes. If it is None, routes
            can't be removed.
        strict: Whether a trailing slash makes a pattern different.

    Attributes:
        router: Finds the routes of a request.
        routes: All routes, in order.
        closed: Whether the router has matched a request.
        linked: The handlers that have to have a route, and where `link` was called for them.
        routed: Where the app was added to another one, or None.
    """

    __slots__ = (
        "_links",
        "_make_router",
        "_methods",
        "_strict",
        "closed",
        "linked",
        "routed",
        "router",
        "routes",
    )

    def __init__(
        self,
        router: Router[Any],
        make_router: Callable[[], Router[Any]] | None,
        *,
        strict: bool,
    ) -> None:
        self.router = router
        self.routes: list[Route] = []
        self.closed = False
        self.routed: str | None = None
        self.linked: list[tuple[Any, str]] = []
        self._links: Links | None = None
        self._make_router = make_router
        self._methods: frozenset[str] | None = None
        self._strict = strict

    def add(self, routes: Iterable[Route]) -> list[Route]:
        """Adds routes: all of them, or none if one of them is rejected.

        Args:
            routes: The original routes.

        Returns:
            The added routes: two for a route with an optional parameter before its end.

        Raises:
            RouterClosedError: If they are added too late to have an effect.
            UnsupportedPathError: If the router doesn't support a route.
        """
        added = [form for route in routes for form in self._forms(route)]
        if added and (self.closed or self.routed is not None):
            first = added[0]
            if self.closed:
                raise RouterClosedError(first.method, first.path)
            raise RouterClosedError(first.method, first.path, self.too_late())
        taken = []
        try:
            for route in added:
                _hand_over(route, self.router)
                taken.append(route)
        except Exception:
            self.routes += taken
            self.remove(taken)
            raise
        self.routes += added
        return added

    def remove(self, routes: Sequence[Route]) -> None:
        """Removes routes, if another router can be created."""
        if self._make_router is None:
            return
        import warnings

        router = self._make_router()
        removed = {id(route) for route in routes}
        kept = [route for route in self.routes if id(route) not in removed]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were shown when the routes were added
            for route in kept:
                _hand_over(route, router)
        self.router = router
        self.routes = kept

    def methods(self) -> frozenset[str]:
        """Returns the methods of all routes. Call it only once the router has matched a request."""
        if self._methods is None:
            self._methods = frozenset(route.method for route in self.routes)
        return self._methods

    def links(self, encode: Callable[[Any], Any]) -> Links:
        """Returns the routes by their handlers.

        Args:
            encode: See `Links`.

        Raises:
            RuntimeError: If the app is part of another one, whose prefix its paths lack.
        """
        if self.routed is not None:
            raise RuntimeError(
                f"The app is part of another one, added by {self.routed}: its paths are those of "
                "the other app, so call path_to() of that one, or c.path_to()"
            )
        if self._links is None or self._links.count != len(self.routes):
            from .links import Links  # PERF: many apps have no links

            self._links = Links(self.routes, encode)
        return self._links

    def check_links(self, encode: Callable[[Any], Any]) -> None:
        """Checks that the handlers given to `link` have routes.

        Args:
            encode: See `Links`.

        Raises:
            LookupError: If one has none.
        """
        if self.routed is not None:  # a part may link to handlers of the others
            return
        for handler, place in self.linked:
            try:
                self.links(encode).find(handler)
            except LookupError as error:
                raise LookupError(f"{place}: {error}") from None

    def check_bound(self) -> None:
        """Runs the checks of the handlers that were bound to their patterns.

        Raises:
            Exception: The exception of a check.
        """
        if (
            self.routed is not None
        ):  # the outer app runs the checks, since it has all the middleware
            return
        for index, route in enumerate(self.routes):
            if route.unbound is not None:
                from kit.authoring.route_hooks import check

                after = self.routes[index + 1 :] if route.takes_next else ()
                check(route.handler, self.routes[:index], route, after)

    def check_env(self, env: Mapping[str, Any]) -> None:
        """Runs the checks of the bindings that handlers need.

        Args:
            env: The bindings of a server's requests.

        Raises:
            Exception: The exception of a check.
        """
        for route in self.routes:
            if route.unbound is not None:
                from kit.authoring.route_hooks import check_env

                check_env(route.handler, env)

    def too_late(self) -> str:
        """Returns why nothing can be added to an app that is part of another one."""
        return f"the app was copied into another one by {self.routed}; add everything before"

    def _forms(self, route: Route) -> Iterator[Route]:
        """Yields the routes for an original route."""
        base_path, path = route.base_path, route.path
        if not self._strict:
            base_path, path = _without_slash(base_path), _without_slash(path)
        for form in forms(base_path, path, route.method):
            yield route if form == (route.base_path, route.path) else route.at(*form)


def _hand_over(route: Route, router: Router[Any]) -> None:
    # Middleware that only describes other routes is listed, but never runs.
    if route.unbound is None or getattr(type(route.unbound[0]), "__kit_runs__", True):
        router.add(route.method, for_router(route.path), route)


def _without_slash(path: str) -> str:
    """Removes a trailing slash from a pattern, as `strict=False` does from a path."""
    return path[:-1] if len(path) > 1 and path.endswith("/") else path
