# SPDX-License-Identifier: MIT
"""Registers handlers; shared by all methods of an app that take handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, overload

from kit._routing.route import Route
from kit.authoring.caller_frame import describe_call_site
from kit.authoring.signatures import (
    accepts,
    behind_wrappers,
    describe,
    describe_signature,
    parameter_names,
    takes_next,
)
from kit.context import B, V
from kit.http.paths import merge_path
from kit.router.route_patterns import check_literals, check_syntax

if TYPE_CHECKING:
    from kit._routing.app_state import AppState

    from .types import AnyHandler, Middleware

AppT = TypeVar("AppT")
HandlerT = TypeVar("HandlerT", bound="AnyHandler[Any, Any]")
_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])

# The first parameter of error handlers in other frameworks.
_NAMES_OF_CONTEXTS = ("c", "context", "ctx", "req", "request")

# The type of `use=`: middleware that runs before the handler of the decorator.
Use: TypeAlias = "Middleware[B, V] | Sequence[Middleware[B, V]]"


class Registrations:
    """Adds the routes of an app, and stores the last path, which later calls depend on.

    Args:
        state: The state of the app.
    """

    __slots__ = ("_last_path", "_state")

    def __init__(self, state: AppState) -> None:
        self._state = state
        # None after a call of use() without a path.
        self._last_path: str | None = "/"

    def register(
        self,
        call: str,
        methods: list[str],
        paths: list[str] | None,
        handlers: Sequence[Any],
        use: Any = (),
        *,
        has_path: bool = True,
    ) -> Callable[[_FunctionT], _FunctionT] | None:
        """Registers handlers, or returns the decorator that does.

        Args:
            call: The call, for errors, e.g. `post('/books')`.
            methods: Methods.
            paths: Patterns; None for the pattern of the previous call.
            handlers: Handlers and middleware; none for a decorator.
            use: One middleware that runs before the handlers, or a sequence.
            has_path: Whether the caller gave `paths`; False for the default of `use`.

        Returns:
            The decorator, if there are no handlers.

        Raises:
            TypeError: If a handler can't be called with `(c)` or `(c, next)`, or an item of `use`
                with `(c, next)`; or if there is no path, and the previous call had none.
            UnsupportedPathError: If the router doesn't support a pattern.
            RouterClosedError: If the app has already handled a request.
        """
        patterns = [self._path_before(call)] if paths is None else paths
        for path in patterns:
            check_syntax(path, methods[0].upper())
            if self._state.get_path is None:  # a `get_path` may return any path
                check_literals(path, methods[0].upper())
        before = _middleware(call, use)
        decorator = None
        if handlers:
            self.add(methods, patterns, [*before, *handlers])
        else:

            def add(function: Any) -> None:
                self.add(methods, patterns, [*before, function])

            decorator = self.decorator(call, add)
        self._last_path = patterns[-1] if has_path else None
        return decorator

    def add(self, methods: list[str], paths: list[str], handlers: Sequence[Any]) -> list[Route]:
        """Adds and returns routes, either all of them or none."""
        base, codecs = self._state.base_path, self._state.codecs
        routes = [
            Route(base, merge_path(base, path), method.upper(), handler, codecs)
            for path in paths
            for method in methods
            for handler in handlers
        ]
        added = self.add_routes(routes)
        for handler in handlers:
            self.add_lifespan(handler)
        return added

    def add_lifespan(self, handler: Any) -> None:
        """Runs the lifespan that a handler may have within that of the app."""
        open_lifespan = getattr(handler, "__kit_lifespan__", None)  # see kit.interface.hooks
        if open_lifespan is not None:
            self._state.lifespan.mount(open_lifespan)

    def add_routes(self, routes: Sequence[Route]) -> list[Route]:
        """Adds and returns routes with complete paths, either all of them or none."""
        # The outermost app's handlers apply to every route, the inner ones only to these.
        *inner, _ = self._state.error_handlers
        for route in routes:
            route.add_error_handlers(inner)
        return self._state.table.add(routes)

    def _path_before(self, call: str) -> str:
        """Returns the path of the previous call, the default of a call without a path."""
        if self._last_path is None:
            raise TypeError(f"{call} has no path, and use() before it had none either")
        return self._last_path

    def check_open(self, name: str) -> None:
        """Rejects a handler that is set too late to have an effect.

        Raises:
            RuntimeError: If the app is part of another one.
        """
        if self._state.table.routed is not None:
            raise RuntimeError(f"{name}() has no effect any more: {self._state.table.too_late()}")

    def decorator(
        self, call: str, add: Callable[[Any], None]
    ) -> Callable[[_FunctionT], _FunctionT]:
        """Returns a decorator that passes its function to `add`, and returns it unchanged."""
        waiting = object()
        self._state.pending[waiting] = f"@app.{call} at {describe_call_site()}"

        def decorate(function: _FunctionT) -> _FunctionT:
            self._state.pending.pop(waiting, None)
            add(function)
            return function

        return decorate


class Verb(Generic[AppT, B, V]):
    """A registering method; takes a path, handlers or both.

    With handlers, it registers them and returns the app, so calls can be chained. Without handlers,
    it returns a decorator that registers its function and returns it unchanged. Without a path, it
    uses the path of the previous call (initially `/`).

    Args:
        app: The app.
        registrations: The registrations of the app.
        method: The HTTP method of the routes.
        name: The name of this method, for errors.
    """

    __slots__ = ("_app", "_method", "_name", "_registrations")

    def __init__(self, app: AppT, registrations: Registrations, method: str, name: str) -> None:
        self._app = app
        self._registrations = registrations
        self._method = method
        self._name = name

    @overload
    def __call__(
        self, path: str = ..., /, *, use: Use[B, V] = ...
    ) -> Callable[[HandlerT], HandlerT]: ...
    @overload
    def __call__(
        self,
        path: str,
        handler: AnyHandler[B, V],
        /,
        *handlers: AnyHandler[B, V],
        use: Use[B, V] = ...,
    ) -> AppT: ...
    @overload
    def __call__(
        self, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V], use: Use[B, V] = ...
    ) -> AppT: ...
    def __call__(self, *arguments: Any, use: Any = (), **others: Any) -> Any:
        """Registers handlers.

        Args:
            *arguments: A route pattern, then handlers and middleware; both are optional.
            use: One middleware that runs before them, or a sequence.
            **others: Not accepted.

        Raises:
            TypeError: If a handler can't be called with `(c)` or `(c, next)`.
            UnsupportedPathError: If the router doesn't support the pattern.
            RouterClosedError: If the app has already handled a request.
        """
        paths, handlers = split_arguments(self._name, arguments)
        call = f"{self._name}({paths[0]!r})" if paths else f"{self._name}()"
        refuse_keywords(call, others)
        decorator = self._registrations.register(call, [self._method], paths, handlers, use)
        return decorator or self._app

    def __repr__(self) -> str:
        return f"<app.{self._name}>"


def split_arguments(
    name: str, arguments: tuple[Any, ...]
) -> tuple[list[str] | None, tuple[Any, ...]]:
    """Splits the arguments of a registering method into the optional path and the handlers.

    Raises:
        TypeError: If the first argument is neither a path nor a handler.
    """
    if arguments and isinstance(arguments[0], str):
        return [arguments[0]], arguments[1:]
    if arguments and not callable(arguments[0]):
        raise TypeError(
            f"{name}() takes a path and handlers, or only handlers: "
            f"expected a str or a function first, not {arguments[0]!r:.100}"
        )
    return None, arguments


def _middleware(call: str, use: Any) -> list[Any]:
    """Reads the argument `use`.

    Raises:
        TypeError: If it contains anything other than middleware.
    """
    if callable(use):
        middleware = [use]
    elif isinstance(use, Sequence) and not isinstance(use, (str, bytes)):
        middleware = [*use]
    else:
        raise TypeError(f"{call}: use takes a middleware or a list of them, not {use!r:.100}")
    for each in middleware:
        if not callable(each):
            raise TypeError(f"{call}: use takes middleware (c, next), not {each!r:.100}")
        if not _is_middleware(each):
            from kit._hints.table import hint

            raise TypeError(
                f"{call}: use takes middleware (c, next): "
                f"got the signature {describe_signature(each)}{hint('handler', each)}"
            )
    return middleware


def refuse_keywords(call: str, keywords: Iterable[str]) -> None:
    """Rejects keywords that a registering method doesn't have.

    Args:
        call: The call, e.g. `get('/books')`.
        keywords: The keywords.

    Raises:
        TypeError: If there are any.
    """
    for name in keywords:
        from kit._hints.table import hint

        raise TypeError(f"{call} takes no keyword {name!r}, but use{hint('keyword', name)}")


def _is_middleware(function: Any) -> bool:
    try:
        return takes_next(function, "use")
    except TypeError:
        return False


def check_function(name: str, function: Any, parameters: tuple[str, ...]) -> None:
    """Checks that an error or not-found handler can be called with its arguments.

    Raises:
        TypeError: If not; the message names the method that got the handler.
    """
    shape = f"({', '.join(parameters)})"
    if not callable(function):
        raise TypeError(f"{name}() takes a function {shape}, not {function!r:.100}")
    if _is_swapped(function, parameters) or not accepts(function, len(parameters)):
        raise TypeError(
            f"The handler of {name}() can't be called with {shape}: "
            f"its signature is {describe_signature(function)}"
        )


def _is_swapped(function: Any, parameters: tuple[str, ...]) -> bool:
    """Returns whether the context is the first of two parameters, judging by their names."""
    names = parameter_names(function)
    if len(parameters) < 2 or len(names) < 2:
        return False
    return names[0] in _NAMES_OF_CONTEXTS and names[1] not in _NAMES_OF_CONTEXTS


def check_lifespan(open: Any) -> None:
    """Checks that a lifespan can be called with the app.

    Raises:
        TypeError: If not; the message names the function below its decorators.
    """
    is_method = type(open) is MethodType  # its decorators also get the object
    function = behind_wrappers(open.__func__ if is_method else open)
    if not accepts(function, 1 + is_method):
        raise TypeError(
            f"The lifespan {describe(function)} is called with the app, but its signature is "
            f"{describe_signature(function)}"
        )


def strings(what: str, value: Any) -> list[str]:
    """Reads an argument that is a str or a list of str.

    Raises:
        TypeError: If it is neither, or an empty list.
    """
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise TypeError(f"{what} is an empty list: nothing would be registered")
    for each in values:
        if not isinstance(each, str):
            raise TypeError(f"{what} must be a str or a list of str, not {each!r}")
    return values


def check_validation_status(status: Any) -> None:
    """Checks the option `validation_status` of an app.

    Raises:
        TypeError: If it isn't an int.
        ValueError: If it isn't the status of a client's error (RFC 9110, section 15.5).
    """
    if not isinstance(status, int) or isinstance(status, bool):
        raise TypeError(f"Kit(validation_status=...) takes an int, not {status!r:.100}")
    if not 400 <= status <= 499:
        raise ValueError(
            f"Kit(validation_status=...) takes the status of a client's error, 400 to 499, such as "
            f"422, not {status!r:.100}"
        )


def check_path(name: str, path: Any) -> None:
    """Rejects a path that isn't a str, or has the syntax of another framework.

    Raises:
        TypeError: If it isn't a str; the message names the method.
        UnsupportedPathError: If its parameters are written as in another framework.
    """
    if not isinstance(path, str):
        raise TypeError(f"{name}() takes a path first, not {path!r:.100}")
    check_syntax(path)
