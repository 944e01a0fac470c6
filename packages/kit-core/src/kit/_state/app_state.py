# SPDX-License-Identifier: MIT
"""What an app shares with the contexts of its requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit._support.limits import Limits
from kit.interface import HandlerResult, Router
from kit.lifespan import Lifespan
from kit.web import Request

from .error_handlers import ErrorHandlers
from .table import RouteTable


class AppState:
    """The routes, settings and handlers of an app.

    An app and those that `base_path` makes of it share the table and the lifespan.

    Args:
        router: The router.
        lifespan: The lifespan; started and stopped with the app.
        limits: Bounds for request bodies.
        strict: Whether `/about` and `/about/` are different paths.
        get_path: Returns the routing path of a request; None for the path of its URL.
        method_not_allowed: Whether a known path with another method is answered with 405.

    Attributes:
        base_path: What goes before the path of every route that is registered.
        on_error: The handlers for exceptions.
        not_found: Answers requests that match no route; None for the plain 404.
        find: Matches a method and a path, as `Router.match` does.
        looks_at_requests: Whether the routing path or the answer depends on more than the method
            and path of the scope.
        has_plain_not_found: Whether every unmatched request gets the plain 404.
        pending: Decorators that wait for their function, and where they were called.
    """

    __slots__ = (
        "base_path",
        "find",
        "get_path",
        "has_plain_not_found",
        "lifespan",
        "limits",
        "looks_at_requests",
        "method_not_allowed",
        "not_found",
        "on_error",
        "pending",
        "strict",
        "table",
    )

    def __init__(
        self,
        *,
        router: Router[Any],
        lifespan: Lifespan,
        limits: Limits,
        strict: bool,
        get_path: Callable[[Request], str] | None,
        method_not_allowed: bool,
    ) -> None:
        self.table = RouteTable(router)
        self.lifespan = lifespan
        self.limits = limits
        self.strict = strict
        self.get_path = get_path
        self.method_not_allowed = method_not_allowed
        self.base_path = "/"
        self.on_error = ErrorHandlers()
        self.not_found: Callable[[Any], HandlerResult] | None = None
        self.looks_at_requests = (
            get_path is not None or not strict or limits.max_body_size_bytes is not None
        )
        self.has_plain_not_found = not method_not_allowed
        self.pending: dict[object, str] = {}
        lifespan.checks.append(self.check_pending)
        # PERF: replaced by the router's own method after the first match.
        self.find: Callable[[str, str], Any] = self._first_match

    def below(self, base_path: str) -> AppState:
        """Returns the state of an app that registers its routes below a path of this one."""
        state = object.__new__(AppState)
        for name in AppState.__slots__:
            setattr(state, name, getattr(self, name))
        state.base_path = base_path
        state.on_error = self.on_error.copy()
        state.find = state._first_match
        return state

    def set_not_found(self, handler: Callable[[Any], HandlerResult]) -> None:
        """Sets what answers requests that match no route."""
        self.not_found = handler
        self.has_plain_not_found = False

    def check_pending(self) -> None:
        """Refuses to go on while a decorator has not got its function.

        Raises:
            RuntimeError: Naming the call, its file and line.
        """
        for place in self.pending.values():
            raise RuntimeError(
                f"{place} was called without a handler and never used as a decorator: "
                "give it a handler, or put it above a function"
            )

    def _first_match(self, method: str, path: str) -> Any:
        self.check_pending()
        table = self.table
        match = table.router.match(method, path)
        table.closed = True
        self.find = table.router.match
        return match
