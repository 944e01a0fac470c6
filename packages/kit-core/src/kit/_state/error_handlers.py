# SPDX-License-Identifier: MIT
"""The `on_error` handlers of an app, by exception class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from kit.interface import HandlerResult

ErrorHandler: TypeAlias = "Callable[[Exception, Any], HandlerResult]"
"""A handler of exceptions; the context that it is called with is the app's."""


class ErrorHandlers:
    """Finds the handler for an exception: the one for its most specific class."""

    __slots__ = ("_by_class",)

    def __init__(self) -> None:
        self._by_class: dict[type[Exception], ErrorHandler] = {}

    def set(self, kind: type[Exception], handler: ErrorHandler) -> None:
        """Sets the handler for an exception class and its subclasses."""
        self._by_class[kind] = handler

    def find(self, error: Exception) -> ErrorHandler | None:
        """Returns the handler for an exception, or None."""
        handlers = self._by_class
        if not handlers:
            return None
        for kind in type(error).__mro__:
            handler = handlers.get(kind)
            if handler is not None:
                return handler
        return None
