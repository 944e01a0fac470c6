# SPDX-License-Identifier: MIT
"""The state that an app shares with the contexts of its requests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from kit.http.paths import merge_path
from kit.interface import is_cacheable

from .error_handlers import ErrorFormat, ErrorHandlers

if TYPE_CHECKING:
    from kit.authoring.codecs import TypeCodecs
    from kit.interface import HandlerResult
    from kit.lifespan import Lifespan
    from kit.web import Request
    from kit.web._limits import Limits

    from .prefix import Prefix
    from .route import Route
    from .table import RouteTable

# How many results of the router are cached. A client chooses paths and methods, so neither long
# paths nor unknown methods are cached.
_MOST_MATCHES = 128
_LONGEST_PATH = 256
_COMMON_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "QUERY", "OPTIONS"))

# Most apps need far fewer; in some, nearly every path matches another subset of the middleware.
_MOST_COMPOSED = 4096

Run: TypeAlias = "Callable[[Any], Coroutine[Any, Any, None]]"
NotFoundHandler: TypeAlias = "Callable[[Any], HandlerResult]"


class AppState:
    """The routes, settings and handlers of an app.

    An app and the apps that `base_path` returns are a family: they share the table, the lifespan
    and the settings.

    Args:
        table: An empty table of routes.
        lifespan: The lifespan; started and stopped with the app.
        limits: Limits for request bodies.
        codecs: The encoders and decoders.
        strict: Whether `/about` and `/about/` are different paths.
        get_path: Returns the routing path of a request; None for the path of its URL.
        method_not_allowed: Whether a known path with another method gets a 405.
        validation_status: The status of validation errors; None for 400, or that of the app around.
        compose: Returns the function that runs the handlers of routes.

    Attributes:
        base_path: The prefix of every registered path.
        encode_plainly: See `codecs`.
        on_error: The handlers for exceptions.
        error_handlers: These handlers, then those of the apps that `base_path` was called on,
            innermost first.
        find: Matches a method and a path. Returns what `Router.match` does, and the function that
            runs the handlers of this result.
        given: The options that the app was given, and those that its parts rely on; see
            `kit._registration.parts`.
        has_limited_parts: Whether routes have limits of their own, since they belong to an app that
            `route` added.
        needs_request: Whether the routing path or the response depends on more than the method
            and path of the scope.
        pending: Decorators that haven't been applied yet, and where they were called.
        routed_at: The call of `route` that added the app, for errors; None if there was none.
    """

    __slots__ = (
        "_composed",
        "_family",
        "_method_not_allowed",
        "_not_found",
        "_prefix",
        "base_path",
        "codecs",
        "compose",
        "encode_plainly",
        "error_handlers",
        "find",
        "get_path",
        "given",
        "has_limited_parts",
        "lifespan",
        "limits",
        "needs_request",
        "on_error",
        "pending",
        "routed_at",
        "strict",
        "table",
    )

    def __init__(
        self,
        *,
        table: RouteTable,
        lifespan: Lifespan,
        limits: Limits,
        codecs: TypeCodecs,
        strict: bool,
        get_path: Callable[[Request], str] | None,
        method_not_allowed: bool,
        validation_status: int | None,
        compose: Callable[[Sequence[Route]], Run],
    ) -> None:
        self.table = table
        self.lifespan = lifespan
        self.limits = limits
        self.codecs = codecs
        self.encode_plainly = codecs.encode_plainly
        self.strict = strict
        self.get_path = get_path
        self.base_path = "/"
        self.compose = compose
        self._composed: dict[tuple[Route, ...], Run] = {}
        self.on_error = ErrorHandlers(validation_status)
        self.error_handlers: tuple[ErrorHandlers, ...] = (self.on_error,)
        self.needs_request = (
            get_path is not None or not strict or limits.max_body_size_bytes is not None
        )
        self.given: set[str] = set()
        self.has_limited_parts = False
        self.routed_at: str | None = None
        self.pending: dict[object, str] = {}
        lifespan.checks.append(self.check)
        lifespan.env_checks.append(table.check_env)
        self._family = [self]
        self._method_not_allowed: bool | None = method_not_allowed
        self._not_found: NotFoundHandler | None = None
        self._prefix: Prefix | None = None
        # Replaced after the first match, which checks all registrations.
        self.find: Callable[[str, str], tuple[Any, Run]] = self._first_match

    def below(self, base_path: str) -> AppState:
        """Returns the state of an app that registers its routes below a path of this one.

        Args:
            base_path: The whole prefix.

        Raises:
            UnsupportedPathError: If it isn't a valid pattern.
        """
        state = self._below(base_path)
        state._family.append(state)
        return state

    def _below(self, base_path: str) -> AppState:
        from .prefix import Prefix

        state = object.__new__(AppState)
        for name in AppState.__slots__:
            setattr(state, name, getattr(self, name))
        state.base_path = base_path
        state.on_error = ErrorHandlers()
        state.error_handlers = (state.on_error, *self.error_handlers)
        state.find = state._first_match
        state.routed_at = None
        state._method_not_allowed = None
        state._not_found = None
        state._prefix = Prefix(base_path)
        return state

    def parts(self, other: AppState, prefix: str, place: str) -> list[AppState]:
        """Returns how another app, and the apps below it, handle paths without a route.

        Args:
            other: The state of the other app.
            prefix: The whole prefix under which its routes are added to this one.
            place: The call of `route`, for errors.

        Returns:
            The states for `add_parts`. They serve nothing themselves.

        Raises:
            ValueError: If this app has another `not_found` for the same paths.
            UnsupportedPathError: If the prefix isn't a valid pattern.
        """
        found = []
        for member in other._family:
            # Without the option, an app leaves the decision to the app around it.
            decides = member is not other._family[0] or "method_not_allowed" in other.given
            method_not_allowed = member._method_not_allowed if decides else None
            if (member._not_found, method_not_allowed, member.on_error.format) == (None,) * 3:
                continue
            part = self._below(merge_path(prefix, member.base_path))
            part.routed_at = place
            part.on_error = member.on_error
            part.error_handlers = (*member.error_handlers, *self.error_handlers)
            part._method_not_allowed = method_not_allowed
            part._not_found = member._not_found
            if part._not_found is not None:
                part._check_alone(self._family)
            found.append(part)
        return found

    def add_parts(self, parts: list[AppState]) -> None:
        """Adds the states that `parts` returned to this family."""
        self._family += parts

    def limit_parts(self) -> None:
        """Records that some of the routes have their own limits."""
        for state in self._family:
            state.has_limited_parts = True
            state.needs_request = True

    def set_not_found(self, handler: NotFoundHandler) -> None:
        """Sets the handler for requests that match no route.

        Raises:
            ValueError: If `route` has added an app with another handler for the same paths.
        """
        self._check_alone([state for state in self._family if state.routed_at is not None])
        self._not_found = handler

    def _check_alone(self, others: list[AppState]) -> None:
        """Checks that no other app has a `not_found` for the same paths, as one would never run."""
        if not others:
            return
        from .prefix import same_paths

        for other in others:
            if other._not_found is not None and same_paths(other.base_path, self.base_path):
                first, second = other.routed_at or "this app", self.routed_at or "this app"
                raise ValueError(
                    f"Two apps have a not_found() for the paths below {self.base_path!r}, so one "
                    f"would never run: that of {first}, and that of {second}"
                )

    def method_not_allowed_at(self, path: str) -> bool:
        """Returns whether a path that has only routes for other methods gets a 405.

        Args:
            path: The routing path.
        """
        for state in self._concerned_by(path):
            if state._method_not_allowed is not None:
                return state._method_not_allowed
        return False

    def not_found_at(self, path: str) -> NotFoundHandler | None:
        """Returns the handler for a path that matches no route; None for the plain 404.

        Args:
            path: The routing path.

        Returns:
            The handler of the innermost app that contains the path and has a handler.
        """
        for state in self._concerned_by(path):
            if state._not_found is not None:
                return state._not_found
        return None

    def error_format_at(self, path: str) -> ErrorFormat | None:
        """Returns how errors are sent for a path that matches no route; None for the usual.

        Args:
            path: The routing path.
        """
        for state in self._concerned_by(path):
            if state.on_error.format is not None:
                return state.on_error.format
        return None

    def error_handlers_at(self, path: str) -> tuple[ErrorHandlers, ...]:
        """Returns the error handlers for a path that matches no route, innermost first.

        Args:
            path: The routing path.
        """
        return tuple([state.on_error for state in self._concerned_by(path)])

    def _concerned_by(self, path: str) -> list[AppState]:
        """Returns the members of the family that a path concerns, innermost first.

        These are this app, the apps around it, and the apps below it whose prefix matches the path.
        If two prefixes have the same number of segments, the earlier one counts.
        """
        if len(self._family) == 1:
            return self._family  # PERF: an app without others
        members = [
            state
            for state in self._family
            if state._is_around(self) or state._is_within(self, path)
        ]
        return sorted(members, key=AppState._outwards)

    def _outwards(self) -> tuple[int, int]:
        """Returns a sort key: the longest prefix first, then the innermost app."""
        depth = 0 if self._prefix is None else self._prefix.depth
        return -depth, -len(self.error_handlers)

    def _is_around(self, other: AppState) -> bool:
        """Returns whether this is the other app, or the app that created it by `base_path`."""
        return self.on_error in other.error_handlers

    def _is_within(self, other: AppState, path: str) -> bool:
        """Returns whether `base_path` created this app from the other, for a path."""
        prefix = self._prefix
        return prefix is not None and other._is_around(self) and prefix.covers(path)

    def check_pending(self) -> None:
        """Checks that every decorator was applied to a function.

        Raises:
            RuntimeError: If one wasn't; the message names the call, its file and line.
        """
        for place in self.pending.values():
            raise RuntimeError(
                f"{place} was called without a handler and never used as a decorator: "
                "give it a handler, or put it above a function"
            )

    def check(self) -> None:
        """Checks for pending decorators and links, and runs the checks of bound handlers.

        Raises:
            RuntimeError: As for `check_pending`.
            LookupError: If a handler that was given to `link` has no route.
            Exception: The exception of a bound handler's check; see `kit.authoring.route_hooks`.
        """
        self.check_pending()
        self.table.check_links(self.codecs.enc_hook)
        self.table.check_bound()

    def path_to(self, handler: Any, query: Any, values: Mapping[str, Any]) -> str:
        """Returns the path of a handler, without a root path; see `Kit.path_to`."""
        if self.get_path is not None:
            raise RuntimeError(
                "path_to() can't be used in an app with a get_path: its patterns aren't the paths "
                "of URLs, so write the path"
            )
        return self.table.links(self.codecs.enc_hook).path_to(handler, query, values)

    def _first_match(self, method: str, path: str) -> tuple[Any, Run]:
        self.check()
        table = self.table
        found = self._search(method, path)
        table.closed = True
        self.find = self._search_of_kept() if is_cacheable(table.router) else self._search
        return found

    def _search_of_kept(self) -> Callable[[str, str], tuple[Any, Run]]:
        """Returns a function that searches like `_search`, and caches some of the results."""
        search = self._search
        methods = self.table.methods() | _COMMON_METHODS
        kept: dict[tuple[str, str], tuple[Any, Run]] = {}

        def find(method: str, path: str) -> tuple[Any, Run]:
            found = kept.get((method, path))
            if found is None:
                found = search(method, path)
                if len(path) <= _LONGEST_PATH and method in methods:
                    if len(kept) >= _MOST_MATCHES:
                        kept.clear()
                    kept[method, path] = found
            return found

        return find

    def _search(self, method: str, path: str) -> tuple[Any, Run]:
        match = self.table.router.match(method, path)
        routes = tuple([route for route, _ in match[0]])
        run = self._composed.get(routes)
        if run is None:
            if len(self._composed) >= _MOST_COMPOSED:
                self._composed.clear()
            run = self._composed[routes] = self.compose(routes)
        return match, run
