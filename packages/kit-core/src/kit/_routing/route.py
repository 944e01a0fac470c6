# SPDX-License-Identifier: MIT
"""One registered route."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from kit.authoring.signatures import takes_next
from kit.http.paths import merge_path
from kit.interface import RouterRoute

from .error_handlers import ErrorFormat, ErrorHandlers

if TYPE_CHECKING:
    from kit.interface import Codecs
    from kit.web._limits import Limits


class Route(RouterRoute):
    """A RouterRoute with its error handlers.

    Args:
        base_path: The prefix under which it is registered.
        path: The whole pattern, prefix included.
        method: Upper-case method, or `ALL`.
        handler: A handler or middleware.
        codecs: The encoders and decoders of the app.

    Attributes:
        unbound: The original handler and the unsplit pattern, if the handler was bound to the
            pattern; otherwise None. See `kit.authoring.route_hooks`.
        error_handlers: The error handlers of the inner apps that the route was added through by
            `route` and `base_path`, innermost first, without the outermost app's.
        limits: The limits of the inner apps that the route was added through by `route`.

    Raises:
        TypeError: If the handler can't be called with `(c)` or `(c, next)`.
    """

    __slots__ = ("error_handlers", "limits", "unbound")

    def __init__(
        self,
        base_path: str,
        path: str,
        method: str,
        handler: Callable[..., Any],
        codecs: Codecs,
    ) -> None:
        try:
            wants_next = takes_next(handler, f"{method} {path!r}")
        except TypeError as error:
            from kit._hints.table import hint

            raise TypeError(f"{error}{hint('handler', handler)}") from None
        self.unbound: tuple[Any, str] | None = None
        # PERF: nearly all handlers are plain functions, which are recognized without an import.
        if type(handler) is not FunctionType or handler.__dict__:
            from kit.authoring.route_hooks import bind, is_bindable

            if is_bindable(handler):
                self.unbound = (handler, path)
                handler = bind(handler, method, path, codecs)
        super().__init__(base_path, path, method, handler, takes_next=wants_next)
        self.error_handlers: tuple[ErrorHandlers, ...] = ()
        self.limits: tuple[Limits, ...] = ()

    def at(self, base_path: str, path: str) -> Route:
        """Returns the same route with another pattern.

        Args:
            base_path: The prefix of the pattern.
            path: The whole pattern.
        """
        route = Route.__new__(Route)
        route.base_path = base_path
        route.path = path
        route.method = self.method
        route.handler = self.handler
        route.takes_next = self.takes_next
        route.error_handlers = self.error_handlers
        route.limits = self.limits
        route.unbound = self.unbound
        return route

    def below(self, prefix: str, codecs: Codecs) -> Route:
        """Returns the same route as part of another app.

        Args:
            prefix: The prefix in the other app.
            codecs: The encoders and decoders of the other app.

        Raises:
            TypeError: If the handler can't be bound there.
        """
        route = self.at(merge_path(prefix, self.base_path), merge_path(prefix, self.path))
        if self.unbound is not None:
            from kit.authoring.route_hooks import bind

            handler, path = self.unbound
            whole = merge_path(prefix, path)
            route.handler = bind(handler, route.method, whole, codecs)
            route.unbound = (handler, whole)
        return route

    @property
    def validation_status(self) -> int | None:
        """The status of validation errors in the inner apps; None if the outermost decides."""
        return ErrorHandlers.find_validation_status(self.error_handlers)

    @property
    def body_limits(self) -> Mapping[str, int]:
        """The limits of request bodies that inner apps set."""
        found: dict[str, int] = {}
        for each in self.limits:
            for name, most in each.of_bodies.items():
                found[name] = min(most, found.get(name, most))
        return found

    @property
    def error_format(self) -> ErrorFormat | None:
        """The format of errors in the inner apps; None if the outermost decides."""
        return ErrorHandlers.find_format(self.error_handlers)

    def add_error_handlers(self, handlers: Iterable[ErrorHandlers]) -> None:
        """Adds the error handlers of outer apps, without duplicates."""
        known = self.error_handlers
        self.error_handlers = (*known, *(each for each in handlers if each not in known))
