# SPDX-License-Identifier: MIT
"""The `on_error` handlers of an app, by exception class."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from kit._routing.exception_groups import leaves
from kit.authoring.maybe_await import plain_result
from kit.authoring.signatures import describe

if TYPE_CHECKING:
    from kit.interface import HandlerResult, HTTPException

ErrorHandler: TypeAlias = "Callable[[Exception, Any], HandlerResult]"
"""A handler of exceptions; it is called with the exception and the context."""


ErrorFormat: TypeAlias = "Callable[[Exception, Any], HTTPException | None]"
"""Returns the HTTPException to send for an exception that no handler handles; None: the usual."""


class ErrorHandlers:
    """Finds the handler for the most specific class of an exception.

    Args:
        validation_status: The status of validation errors; None if the app around decides.

    Attributes:
        format: How exceptions without a handler are sent; None if the app around decides.
    """

    __slots__ = ("_by_class", "format", "validation_status")

    def __init__(self, validation_status: int | None = None) -> None:
        self.validation_status = validation_status
        self.format: ErrorFormat | None = None
        self._by_class: dict[type[Exception], ErrorHandler] = {}

    def set(self, kind: type[Exception], handler: ErrorHandler) -> None:
        """Sets the handler for an exception class and its subclasses."""
        self._by_class[kind] = handler

    def find(self, error: Exception) -> tuple[ErrorHandler | None, Exception]:
        """Returns the handler for an exception, or None, and the exception to call it with.

        If all exceptions in a group, as raised by a task group, have the same handler for a
        subclass of Exception, this handler gets the first of them. The handler for the group's own
        class gets any other group.
        """
        handler = self._for_class(type(error))
        if not isinstance(error, ExceptionGroup) or not self._by_class:
            return handler, error
        held = [*leaves(error)]
        ours, *others = {self._for_class(type(each)) for each in held}
        if others or ours in (None, handler, self._by_class.get(Exception)):
            return handler, error
        return ours, held[0]

    @staticmethod
    def find_validation_status(handlers: Iterable[ErrorHandlers]) -> int | None:
        """Returns the status of validation errors in the innermost app that has one; or None.

        Args:
            handlers: Those of several apps, innermost first.
        """
        given = (each.validation_status for each in handlers)
        return next((status for status in given if status is not None), None)

    @staticmethod
    def find_format(handlers: Iterable[ErrorHandlers]) -> ErrorFormat | None:
        """Returns the format of errors in the innermost app that has one; or None.

        Args:
            handlers: Those of several apps, innermost first.
        """
        return next((each.format for each in handlers if each.format is not None), None)

    def _for_class(self, kind: type[Exception]) -> ErrorHandler | None:
        for each in kind.__mro__:
            handler = self._by_class.get(each)
            if handler is not None:
                return handler
        return None


def call_format(to_sent: ErrorFormat, error: Exception, c: Any) -> HTTPException | None:
    """Returns what an app's `format_errors` sends for an exception; None for the usual.

    Raises:
        TypeError: If the function returned something else.
    """
    from kit.interface import HTTPException  # here, since most apps have no format

    sent = plain_result(to_sent(error, c), to_sent, "format_errors()")
    if sent is not None and not isinstance(sent, HTTPException):
        raise TypeError(
            f"format_errors() takes a function that returns an HTTPException or None, "
            f"but {describe(to_sent)} returned {type(sent).__name__}"
        )
    return sent
