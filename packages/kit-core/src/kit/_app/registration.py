# SPDX-License-Identifier: MIT
"""Registers handlers: what the methods of an app that take handlers have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, overload

from kit._state.app_state import AppState
from kit._state.route import Route
from kit._support.typevars import B, V
from kit.interface.callers import place_of_call
from kit.interface.paths import merge_path
from kit.interface.signatures import accepts, describe_signature

from .types import AnyHandler

AppT = TypeVar("AppT")
HandlerT = TypeVar("HandlerT", bound=AnyHandler[Any, Any])
_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])

# What `use=` takes: middleware that runs before the handler of the decorator.
Use: TypeAlias = AnyHandler[B, V] | Sequence[AnyHandler[B, V]]


class Registrations:
    """Adds the routes of an app, and remembers what its calls depend on.

    Args:
        state: The state of the app.
    """

    __slots__ = ("_last_path", "_state")

    def __init__(self, state: AppState) -> None:
        self._state = state
        self._last_path = "/"

    def register(
        self,
        call: str,
        methods: list[str],
        paths: list[str] | None,
        handlers: Sequence[Any],
        use: Any = (),
    ) -> Callable[[_FunctionT], _FunctionT] | None:
        """Registers handlers, or returns the decorator that does.

        Args:
            call: The call, for errors, e.g. `post('/books')`.
            methods: Methods.
            paths: Patterns; None for that of the call before.
            handlers: Handlers and middleware; none for a decorator.
            use: Middleware before the function of the decorator, one or a sequence.

        Returns:
            The decorator, if there are no handlers.

        Raises:
            TypeError: If a handler can't be called with `(c)` or `(c, next)`.
            UnsupportedPathError: If the router can't take a pattern.
            RouterClosedError: If the app has answered a request before.
        """
        if paths is None:
            paths = [self._last_path]
        else:
            self._last_path = paths[-1]
        before = _middleware(call, use)
        if handlers:
            self.add(methods, paths, [*before, *handlers])
            return None
        return self.decorator(call, lambda function: self.add(methods, paths, [*before, function]))

    def add(self, methods: list[str], paths: list[str], handlers: Sequence[Any]) -> None:
        """Adds routes; all are checked before the first is added."""
        base = self._state.base_path
        routes = [
            Route(base, merge_path(base, path), method.upper(), handler)
            for path in paths
            for method in methods
            for handler in handlers
        ]
        for route in routes:
            self._state.table.add(route)

    def check_open(self, name: str) -> None:
        """Refuses a handler that comes too late to have any effect.

        Raises:
            RuntimeError: If the app is part of another one.
        """
        if self._state.table.routed is not None:
            raise RuntimeError(f"{name}() has no effect any more: {self._state.table.too_late()}")

    def decorator(
        self, call: str, add: Callable[[Any], None]
    ) -> Callable[[_FunctionT], _FunctionT]:
        """Returns a decorator that hands its function to `add`, and returns it unchanged."""
        waiting = object()
        self._state.pending[waiting] = f"@app.{call} at {place_of_call()}"

        def decorate(function: _FunctionT) -> _FunctionT:
            self._state.pending.pop(waiting, None)
            add(function)
            return function

        return decorate


class Verb(Generic[AppT, B, V]):
    """A registering method: called with a path, handlers or both.

    With handlers it registers them and returns the app, so that calls can be chained. Without, it
    returns a decorator, which registers its function and returns it unchanged. Without a path, that
    of the call before is used again (at first `/`).

    Args:
        app: The app.
        registrations: Those of the app.
        method: The method that it registers for.
        name: What it is called.
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
    def __call__(self, *arguments: Any, use: Any = ()) -> Any:
        """Registers handlers.

        Args:
            *arguments: A route pattern, then handlers and middleware; both may be left out.
            use: Middleware that runs before them, one or a sequence.

        Raises:
            TypeError: If a handler can't be called with `(c)` or `(c, next)`.
            UnsupportedPathError: If the router can't take the pattern.
            RouterClosedError: If the app has answered a request before.
        """
        paths, handlers = split_arguments(self._name, arguments)
        call = f"{self._name}({paths[0]!r})" if paths else f"{self._name}()"
        decorator = self._registrations.register(call, [self._method], paths, handlers, use)
        return decorator or self._app

    def __repr__(self) -> str:
        return f"<app.{self._name}>"


def split_arguments(
    name: str, arguments: tuple[Any, ...]
) -> tuple[list[str] | None, tuple[Any, ...]]:
    """Splits the arguments of a registering method into its path, if there is one, and handlers.

    Raises:
        TypeError: If the first one is neither a path nor a handler.
    """
    if arguments and isinstance(arguments[0], str):
        return [arguments[0]], arguments[1:]
    if arguments and not callable(arguments[0]):
        raise TypeError(
            f"{name}() takes a path and handlers, or handlers alone: "
            f"expected a str or a function first, not {arguments[0]!r:.100}"
        )
    return None, arguments


def _middleware(call: str, use: Any) -> list[Any]:
    """Reads the argument `use`."""
    if callable(use):
        return [use]
    if isinstance(use, (list, tuple)):
        return [*use]
    raise TypeError(f"{call}: use takes a middleware or a list of them, not {use!r:.100}")


def check_function(name: str, function: Any, parameters: tuple[str, ...]) -> None:
    """Refuses what can't be called with the parameters of an error or not-found handler.

    Raises:
        TypeError: Naming the method that it was given to.
    """
    shape = f"({', '.join(parameters)})"
    if not callable(function):
        raise TypeError(f"{name}() takes a function {shape}, not {function!r:.100}")
    if not accepts(function, len(parameters)):
        raise TypeError(
            f"The handler of {name}() can't be called with {shape}: "
            f"its signature is {describe_signature(function)}"
        )


def strings(what: str, value: Any) -> list[str]:
    """Reads an argument that is a str or a list of them.

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


def check_path(name: str, path: Any) -> None:
    """Refuses a path that isn't a str.

    Raises:
        TypeError: Naming the method that it was given to.
    """
    if not isinstance(path, str):
        raise TypeError(f"{name}() takes a path first, not {path!r:.100}")
