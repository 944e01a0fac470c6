# SPDX-License-Identifier: MIT
"""One registered route, with what the request path needs to know about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.interface import RouterRoute

_VARARGS = 0x04  # inspect.CO_VARARGS; inspect itself takes longer to import than all of Kit


class Route(RouterRoute):
    """A RouterRoute that knows how its handler wants to be called.

    Attributes:
        takes_next: Whether the handler is middleware: called with the context and `next`.
    """

    __slots__ = ("takes_next",)

    def __init__(self, base_path: str, path: str, method: str, handler: Callable[..., Any]) -> None:
        super().__init__(base_path, path, method, handler)
        self.takes_next = takes_next(handler, f"{method} {path!r}")


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
    code = getattr(handler, "__code__", None)
    # PERF: plain functions without *args and defaults, nearly all of them, are read off directly.
    if code is not None and not code.co_flags & _VARARGS and not handler.__defaults__:
        count = code.co_argcount
        if count in (1, 2) and not code.co_kwonlyargcount:
            return bool(count == 2)
    import inspect

    try:
        signature = inspect.signature(handler)
    except ValueError:  # a callable of C code that doesn't say; take it for a handler
        return False
    for arguments in ((None, None), (None,)):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return _wants_second(signature) if len(arguments) == 2 else False
    raise TypeError(
        f"The handler of {route} can't be called with (c) or (c, next): "
        f"its signature is {getattr(handler, '__qualname__', handler)}{signature}"
    )


def _wants_second(signature: Any) -> bool:
    """Whether a second positional argument is meant for `next`, and is no option of its own.

    It is if it has no default, if it is called `next`, or if it comes through `*args`.
    """
    positional = [
        p
        for p in signature.parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(positional) < 2:
        return True
    return positional[1].default is positional[1].empty or positional[1].name == "next"
