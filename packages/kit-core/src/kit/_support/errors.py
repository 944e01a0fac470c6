# SPDX-License-Identifier: MIT
"""The errors that the core raises for mistakes in handlers, each naming the one at fault."""

from __future__ import annotations

from kit.interface import KitError


class HandlerError(KitError, RuntimeError):
    """A handler broke the rules between handlers and the app; logged and answered with 500.

    Args:
        handler: Name and place of the handler.
        problem: What it did, and what to do instead.
    """

    def __init__(self, handler: str, problem: str) -> None:
        super().__init__(handler, problem)
        self.handler = handler
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.handler} {self.problem}"


def describe(handler: object) -> str:
    """Names a handler for an error: its qualified name, file and line where it has them."""
    while hasattr(handler, "func"):  # functools.partial, which has no name of its own
        handler = handler.func
    name = getattr(handler, "__qualname__", None) or type(handler).__qualname__
    code = getattr(handler, "__code__", None)
    if code is None:
        return f"{getattr(handler, '__module__', None) or '?'}.{name}"
    return f"{name} ({code.co_filename}:{code.co_firstlineno})"
