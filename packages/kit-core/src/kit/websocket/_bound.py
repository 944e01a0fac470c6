# SPDX-License-Identifier: MIT
"""`upgrade_websocket` above a handler that is made for its pattern, as those of `@typed` are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from kit.context import Context
from kit.interface.binding import bind
from kit.interface.metadata import attach


class BoundUpgrade:
    """A handler of handshakes that an app makes for each route; see `kit.interface.binding`.

    Called with the context of a request alone, as functions that wrap a handler do, it answers the
    handshake; called otherwise, e.g. in a unit test, it is the handler that it was made of.

    Args:
        handler: The handler of connections.
        make: Makes the handler of handshakes of one of connections that was made for a route.
    """

    def __init__(self, handler: Any, make: Callable[[Any], Any]) -> None:
        self._handler = handler
        self._make = make
        functools.update_wrapper(self, handler, updated=())
        attach(self, kit_websocket=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Answers the handshake, if a context is the only argument; or calls the handler."""
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
        # Below a wrapper that doesn't tell what it wraps, or as the handler of not_found.
        method, path = ("ALL", "/*") if route is None else (route.method, route.path)
        return self.__kit_bind__(method, path)

    def __kit_bind__(self, method: str, pattern: str) -> Any:
        """Makes the handler of handshakes for a route; see `kit.interface.binding`."""
        upgrade = self._make(bind(self._handler, method, pattern, websocket=True))
        upgrade.__dict__["__kit_upgrade__"] = self
        return upgrade

    def __repr__(self) -> str:
        return f"upgrade_websocket({self._handler!r})"
