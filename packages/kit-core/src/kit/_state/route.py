# SPDX-License-Identifier: MIT
"""One registered route, and how a handler wants to be called."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from kit._support.paths import merge_path
from kit.interface import RouterRoute

from .error_handlers import ErrorHandlers

_CO_VARARGS = 0x04  # inspect.CO_VARARGS; inspect itself takes longer to import than all of Kit


class Route(RouterRoute):
    """A RouterRoute that knows how its handler wants to be called.

    Attributes:
        takes_next: Whether the handler is middleware: called with the context and `next`.
        error_handlers: Those of the apps it came through by `route`, innermost first.
    """

    __slots__ = ("error_handlers", "takes_next")

    def __init__(self, base_path: str, path: str, method: str, handler: Callable[..., Any]) -> None:
        super().__init__(base_path, path, method, handler)
        self.takes_next = takes_next(handler, f"{method} {path!r}")
        self.error_handlers: tuple[ErrorHandlers, ...] = ()

    def below(self, prefix: str, on_error: ErrorHandlers) -> Route:
        """The same route as part of another app.

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


def takes_next(handler: Any, route: str) -> bool:
    """Finds out whether a handler takes `(c, next)` or `(c)`.

    Raises:
        TypeError: If it can't be called, or takes neither; the text names the route.
    """
    if not callable(handler):
        raise TypeError(
            f"The handler of {route} is not callable: expected a function (c) or (c, next), "
            f"not {handler!r:.100}"
        )
    shown = _behind_wrappers(handler)
    if accepts(shown, 2):
        return not accepts(shown, 1) or _means_next(shown)
    if accepts(shown, 1):
        return False
    raise TypeError(
        f"The handler of {route} can't be called with (c) or (c, next): "
        f"its signature is {describe_signature(handler)}"
    )


def accepts(function: Any, count: int) -> bool:
    """Whether a function can be called with so many positional arguments."""
    # Plain functions, nearly all of them, are read off directly, without the import of inspect.
    if type(function) is FunctionType and not function.__kwdefaults__:
        code = function.__code__
        if not code.co_flags & _CO_VARARGS and not code.co_kwonlyargcount:
            most = code.co_argcount
            return most - len(function.__defaults__ or ()) <= count <= most
    try:
        _signature(function).bind(*(None,) * count)
    except TypeError:
        return False
    except ValueError:  # a callable of C code that doesn't say; take it for a handler
        return count == 1
    return True


def describe_signature(function: Any) -> str:
    """Gives name and parameters of a function, for an error."""
    return f"{getattr(function, '__qualname__', function)}{_signature(function)}"


def _means_next(handler: Any) -> bool:
    """Whether an optional second argument is `next`: it has that name, or comes by `*args`."""
    positional = [
        p
        for p in _signature(handler).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return len(positional) < 2 or positional[1].name == "next"


def _behind_wrappers(function: Any) -> Any:
    """The function that a decorator's `*args` are handed on to.

    A wrapper with parameters of its own, which may differ from those of what it wraps, stands for
    itself.
    """
    code = getattr(function, "__code__", None)
    while code is not None and code.co_flags & _CO_VARARGS and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
        code = getattr(function, "__code__", None)
    return function


def _signature(function: Any) -> Any:
    import inspect

    return inspect.signature(function, follow_wrapped=False)
