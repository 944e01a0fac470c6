# SPDX-License-Identifier: MIT
"""One registered route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.interface import RouterRoute
from kit.interface.paths import merge_path
from kit.interface.signatures import takes_next

from .error_handlers import ErrorHandlers


class Route(RouterRoute):
    """A RouterRoute that knows which error handlers are for it.

    Args:
        base_path: The prefix under which it is registered.
        path: The whole pattern, prefix included.
        method: Upper-case method, or `ALL`.
        handler: A handler or middleware.

    Attributes:
        error_handlers: Those of the apps it came through by `route`, innermost first.

    Raises:
        TypeError: If the handler can't be called with `(c)` or `(c, next)`.
    """

    __slots__ = ("error_handlers",)

    def __init__(self, base_path: str, path: str, method: str, handler: Callable[..., Any]) -> None:
        wants_next = takes_next(handler, f"{method} {path!r}")
        super().__init__(base_path, path, method, handler, takes_next=wants_next)
        self.error_handlers: tuple[ErrorHandlers, ...] = ()

    def below(self, prefix: str, on_error: ErrorHandlers) -> Route:
        """Returns the same route as part of another app.

        Args:
            prefix: Where in the other app.
            on_error: The error handlers of the app it comes from.
        """
        route = Route.__new__(Route)
        route.base_path = merge_path(prefix, self.base_path)
        route.path = merge_path(prefix, self.path)
        route.method = self.method
        route.handler = self.handler
        route.takes_next = self.takes_next
        own = (on_error.copy(),) if on_error else ()
        route.error_handlers = (*self.error_handlers, *own)
        return route
