# SPDX-License-Identifier: MIT
"""The routes of an app."""

from __future__ import annotations

from typing import Any

from kit.interface import Router, RouterClosedError

from .route import Route


class RouteTable:
    """The routes of an app; an app and those that `base_path` makes of it share one.

    Attributes:
        router: Finds the routes of a request.
        routes: All of them, in order.
        closed: Whether the router has matched.
        routed: Where the app was added to another one, None if it was not.
    """

    __slots__ = ("closed", "routed", "router", "routes")

    def __init__(self, router: Router[Any]) -> None:
        self.router = router
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
        """Returns why nothing can be added to an app that is part of another one."""
        return f"the app was copied into another one by {self.routed}; add everything before"
