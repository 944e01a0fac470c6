# SPDX-License-Identifier: MIT
"""The registering methods of an app, as editors and type checkers see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Self, TypeVar, overload

from kit._app.types import AnyHandler, B, ErrorHandler, Handler, V
from kit._state.route import accepts, describe_signature
from kit.interface import METHOD_NAME_ALL
from kit.interface._callers import calling_frame

# A decorator gives back the function it was given; a wrong signature is refused by the checker.
AnyHandlerT = TypeVar("AnyHandlerT", bound="AnyHandler[Any, Any]")
AnyErrorHandlerT = TypeVar("AnyErrorHandlerT", bound="ErrorHandler[Any, Any]")
_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


class Registration(Generic[B, V]):
    """What registers handlers. Every method gives back the app, so that calls can be chained.

    Called without a handler, it gives a decorator, which registers its function and gives it back
    unchanged. Without a path, the path of the call before is taken again (at first `/`).
    """

    def __init__(self) -> None:
        self._last_path = "/"
        # Decorators that wait for their function, and where they were called.
        self._pending: dict[object, str] = {}

    @overload
    def get(self, path: str = ..., /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def get(self, path: str, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    @overload
    def get(self, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    def get(self, *arguments: Any) -> Any:
        """Registers handlers for GET, which answer HEAD as well.

        Args:
            *arguments: A route pattern, then handlers and middleware; both may be left out.

        Raises:
            TypeError: If a handler can't be called with `(c)` or `(c, next)`.
            UnsupportedPathError: If the router can't take the pattern.
            RouterClosedError: If the app has answered a request before.
        """
        return self._verb("GET", arguments)

    @overload
    def post(self, path: str = ..., /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def post(
        self, path: str, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]
    ) -> Self: ...
    @overload
    def post(self, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    def post(self, *arguments: Any) -> Any:
        """Registers handlers for POST; see `get`."""
        return self._verb("POST", arguments)

    @overload
    def put(self, path: str = ..., /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def put(self, path: str, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    @overload
    def put(self, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    def put(self, *arguments: Any) -> Any:
        """Registers handlers for PUT; see `get`."""
        return self._verb("PUT", arguments)

    @overload
    def delete(self, path: str = ..., /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def delete(
        self, path: str, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]
    ) -> Self: ...
    @overload
    def delete(self, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    def delete(self, *arguments: Any) -> Any:
        """Registers handlers for DELETE; see `get`."""
        return self._verb("DELETE", arguments)

    @overload
    def patch(self, path: str = ..., /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def patch(
        self, path: str, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]
    ) -> Self: ...
    @overload
    def patch(self, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    def patch(self, *arguments: Any) -> Any:
        """Registers handlers for PATCH; see `get`."""
        return self._verb("PATCH", arguments)

    @overload
    def options(self, path: str = ..., /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def options(
        self, path: str, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]
    ) -> Self: ...
    @overload
    def options(self, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    def options(self, *arguments: Any) -> Any:
        """Registers handlers for OPTIONS; see `get`."""
        return self._verb("OPTIONS", arguments)

    @overload
    def all(self, path: str = ..., /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def all(self, path: str, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    @overload
    def all(self, handler: AnyHandler[B, V], /, *handlers: AnyHandler[B, V]) -> Self: ...
    def all(self, *arguments: Any) -> Any:
        """Registers handlers for every method; see `get`."""
        return self._verb(METHOD_NAME_ALL, arguments)

    @overload
    def use(self, path: str = ..., /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def use(self, path: str, middleware: AnyHandler[B, V], /, *more: AnyHandler[B, V]) -> Self: ...
    @overload
    def use(self, middleware: AnyHandler[B, V], /, *more: AnyHandler[B, V]) -> Self: ...
    def use(self, *arguments: Any) -> Any:
        """Registers middleware for every method; it runs around what is registered after it.

        Args:
            *arguments: A route pattern, by default `*`, then middleware.

        Raises:
            TypeError: If a middleware can't be called with `(c, next)` or `(c)`.
            UnsupportedPathError: If the router can't take the pattern.
            RouterClosedError: If the app has answered a request before.
        """
        if not arguments or not isinstance(arguments[0], str):
            arguments = ("*", *arguments)
        return self._verb(METHOD_NAME_ALL, arguments, "use")

    @overload
    def on(
        self, method: str | Sequence[str], path: str | Sequence[str], /
    ) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def on(
        self,
        method: str | Sequence[str],
        path: str | Sequence[str],
        handler: AnyHandler[B, V],
        /,
        *handlers: AnyHandler[B, V],
    ) -> Self: ...
    def on(self, method: str | Sequence[str], path: str | Sequence[str], /, *handlers: Any) -> Any:
        """Registers handlers for one or several methods and paths; custom methods are allowed.

        Args:
            method: A method or a list of methods; they are made upper case.
            path: A route pattern or a list of them.
            *handlers: Handlers and middleware.

        Raises:
            TypeError: As for `get`, or if a method or path is no str.
            UnsupportedPathError: If the router can't take a pattern.
            RouterClosedError: If the app has answered a request before.
        """
        call = f"on({method!r}, {path!r})"
        methods = _strings(f"The method of {call}", method)
        paths = _strings(f"The path of {call}", path)
        return self._register(call, methods, paths, handlers)

    @overload
    def on_error(self, /) -> Callable[[AnyErrorHandlerT], AnyErrorHandlerT]: ...
    @overload
    def on_error(self, handler: ErrorHandler[B, V], /) -> Self: ...
    def on_error(self, handler: Any = None, /) -> Any:
        """Sets what answers an exception: `handler(error, c)`, plain or async.

        Raises:
            TypeError: If it can't be called.
        """
        return self._set_handler("on_error", handler, ("error", "c"))

    @overload
    def not_found(self, /) -> Callable[[AnyHandlerT], AnyHandlerT]: ...
    @overload
    def not_found(self, handler: Handler[B, V], /) -> Self: ...
    def not_found(self, handler: Any = None, /) -> Any:
        """Sets what answers a request that no route does: `handler(c)`, plain or async.

        Raises:
            TypeError: If it can't be called.
        """
        return self._set_handler("not_found", handler, ("c",))

    def _add_routes(self, methods: list[str], paths: list[str], handlers: Sequence[Any]) -> None:
        """Adds the routes; given by the app."""
        raise TypeError(f"{type(self).__name__} takes no routes")

    def _check_open(self, name: str) -> None:
        """Refuses a handler that comes too late; given by the app."""

    def _verb(self, method: str, arguments: tuple[Any, ...], name: str = "") -> Any:
        name = name or method.lower()
        if arguments and isinstance(arguments[0], str):
            call = f"{name}({arguments[0]!r})"
            return self._register(call, [method], [arguments[0]], arguments[1:])
        if arguments and not callable(arguments[0]):
            raise TypeError(
                f"{name}() takes a path and handlers, or handlers alone: "
                f"expected a str or a function first, not {arguments[0]!r:.100}"
            )
        return self._register(f"{name}()", [method], [self._last_path], arguments)

    def _register(
        self, call: str, methods: list[str], paths: list[str], handlers: Sequence[Any]
    ) -> Any:
        if paths:
            self._last_path = paths[-1]
        if handlers:
            self._add_routes(methods, paths, handlers)
            return self

        def add(function: Any) -> None:
            self._add_routes(methods, paths, (function,))

        return self._decorator(call, add)

    def _set_handler(self, name: str, handler: Any, parameters: tuple[str, ...]) -> Any:
        shape = f"({', '.join(parameters)})"

        def check_and_set(function: Any) -> None:
            if not callable(function):
                raise TypeError(f"{name}() takes a function {shape}, not {function!r:.100}")
            if not accepts(function, len(parameters)):
                raise TypeError(
                    f"The handler of {name}() can't be called with {shape}: "
                    f"its signature is {describe_signature(function)}"
                )
            self._check_open(name)
            setattr(self, "_" + name, function)

        if handler is None:
            return self._decorator(f"{name}()", check_and_set)
        check_and_set(handler)
        return self

    def _decorator(
        self, call: str, add: Callable[[Any], None]
    ) -> Callable[[_FunctionT], _FunctionT]:
        waiting = object()
        self._pending[waiting] = f"@app.{call} at {place_of_call()}"

        def decorate(function: _FunctionT) -> _FunctionT:
            self._pending.pop(waiting, None)
            add(function)
            return function

        return decorate

    def _check_pending(self) -> None:
        """Refuses to go on while a decorator has not got its function.

        Raises:
            RuntimeError: Naming the call, its file and line.
        """
        for place in self._pending.values():
            raise RuntimeError(
                f"{place} was called without a handler and never used as a decorator: "
                "give it a handler, or put it above a function"
            )


def _strings(what: str, value: Any) -> list[str]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise TypeError(f"{what} is an empty list: nothing would be registered")
    for each in values:
        if not isinstance(each, str):
            raise TypeError(f"{what} must be a str or a list of str, not {each!r}")
    return values


def place_of_call() -> str:
    """File and line of the user's call into Kit."""
    frame, _ = calling_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
