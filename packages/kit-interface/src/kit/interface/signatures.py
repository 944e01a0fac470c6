# SPDX-License-Identifier: MIT
"""How functions want to be called, and how errors name them.

`inspect`, which takes longer to import than all of Kit, is imported for unusual callables alone.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

__all__ = ("accepts", "describe", "describe_signature", "takes_next")

_CO_VARARGS = 0x04  # inspect.CO_VARARGS


def takes_next(handler: Any, route: str) -> bool:
    """Tells whether a handler is middleware: whether it is called with `(c, next)` or `(c)`.

    A second parameter that may be left out is `next` if it has that name. A wrapper that hands
    `*args` on is judged by the function it wraps.

    Args:
        handler: The function or another callable.
        route: Method and pattern of its route, for the error, e.g. `GET '/users/:id'`.

    Returns:
        True for middleware, False for a handler that answers.

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
    """Tells whether a function can be called with a number of positional arguments.

    Args:
        function: The function or another callable. One of C code that tells no signature is taken
            to accept one argument.
        count: How many arguments.

    Returns:
        Whether such a call fits the signature; False for what can't be called at all.
    """
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
    except ValueError:  # a callable of C code without a signature
        return count == 1
    return True


def describe_signature(function: Any) -> str:
    """Returns qualified name and parameters of a function, for an error.

    Args:
        function: The function or another callable.

    Returns:
        E.g. `Api.read(self, id)`; `(...)` for the parameters of C code that tells none.
    """
    try:
        parameters = str(_signature(function))
    except ValueError:
        parameters = "(...)"
    return f"{getattr(function, '__qualname__', function)}{parameters}"


def describe(handler: object) -> str:
    """Names a handler for an error or a log: its qualified name, file and line.

    Args:
        handler: A function or any other object; a `functools.partial` is named after its function.

    Returns:
        E.g. `read_book (/srv/app.py:12)`; `module.name` for what has no code in Python.
    """
    while isinstance(handler, partial):
        handler = handler.func
    name = getattr(handler, "__qualname__", None) or type(handler).__qualname__
    code = getattr(handler, "__code__", None)
    if code is None:
        return f"{getattr(handler, '__module__', None) or '?'}.{name}"
    return f"{name} ({code.co_filename}:{code.co_firstlineno})"


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
