# SPDX-License-Identifier: MIT
"""`upgrade_websocket` above a handler that is bound to its pattern, such as those of `@typed`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from kit.authoring.route_hooks import bind
from kit.context import Context
from kit.interface.metadata import attach


class BoundUpgrade:
    """A handshake handler that an app binds to each route; see `kit.authoring.route_hooks`.

    Called with only the context of a request, e.g. by a wrapper, it handles the handshake. Called
    with other arguments, e.g. in a unit test, it calls the original handler.

    Args:
        handler: The handler of connections.
        make: Returns a handshake handler for a connection handler that was bound to a route.
    """

    def __init__(self, handler: Any, make: Callable[[Any], Any]) -> None:
        self._handler = handler
        self._make = make
        functools.update_wrapper(self, handler, updated=())
        attach(self, kit_websocket=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Handles the handshake if a context is the only argument; otherwise calls the handler."""
        if len(args) == 1 and not kwargs and isinstance(args[0], Context):
            return self._bound_for(args[0])(args[0])
        return self._handler(*args, **kwargs)

    def _bound_for(self, c: Context[Any, Any]) -> Any:
        routes = c.matched_routes
        route = routes[c.req.route_index] if routes else None
        bound = None if route is None else route.handler
        while bound is not None:
            attributes = getattr(bound, "__dict__", {})
            if attributes.get("__kit_upgrade__") is self:
                return bound
            bound = attributes.get("__wrapped__")
        # Below a wrapper without `__wrapped__`, or as the handler of not_found.
        method, path = ("ALL", "/*") if route is None else (route.method, route.path)
        return self.__kit_bind__(method, path)

    def __kit_bind__(self, method: str, pattern: str) -> Any:
        """Returns the handshake handler for a route; see `kit.authoring.route_hooks`."""
        upgrade = self._make(bind(self._handler, method, pattern, websocket=True))
        upgrade.__dict__["__kit_upgrade__"] = self
        return upgrade

    def __repr__(self) -> str:
        return f"upgrade_websocket({self._handler!r})"
