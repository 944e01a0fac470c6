# SPDX-License-Identifier: MIT
"""Turns exceptions into responses. No other module does this."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from kit._response.responses import settle
from kit._routing.error_handlers import ErrorHandler, ErrorHandlers, call_format
from kit._routing.exception_groups import leaves
from kit._routing.route import Route
from kit.authoring.cancellation import find_fault
from kit.authoring.signatures import describe
from kit.context import Context
from kit.interface import HandlerError, HTTPException
from kit.web import ClientDisconnectedError, Response

_logger = logging.getLogger("kit")
_FIRST_FAULT = 500
_CLASSES_OF_MISTAKES = (AttributeError, TypeError)


async def handle_error(
    error: BaseException,
    c: Context[Any, Any],
    route: Route | None = None,
    *,
    is_of_path: bool = False,
) -> Response:
    """Returns the response for an exception.

    The error handlers of the apps that the route was added through run first, innermost first. If
    one raises an exception, the next one handles it.

    Args:
        error: The exception, which becomes `c.error`. A CancelledError in a request that wasn't
            cancelled is handled as a RuntimeError, with the CancelledError as its cause.
        c: The context.
        route: The route that raised the exception. Default: the matching route, if there is only
            one.
        is_of_path: Whether the exception concerns the path of the request instead of a route. The
            apps whose prefix contains the path then handle it.

    Returns:
        The response. If the app's own `on_error` raises the same HTTPException again, it is handled
        as if there were no `on_error`; any other exception from `on_error` is logged and results
        in a 500.

    Raises:
        BaseException: The exception, if the request was cancelled or the process is ending.
    """
    try:
        fault = _unwrap(error)
    finally:
        del error  # otherwise, the traceback of a cancellation would refer to the cancellation
    error = fault
    handlers = _find_handlers(c.req.path if is_of_path else route, c)
    _set_validation_status(error, handlers)
    if isinstance(error, ClientDisconnectedError):
        c._fail(error)
        _logger.debug("%s", error)
        return Response(None, status=400)
    answer = _find_answer(error)
    await c._discard_representation(None if answer is None else answer.res)
    *inner, outermost = handlers
    for each in inner:
        on_error, shown = each.find(error)
        if on_error is None:
            continue
        try:
            return await _ask(on_error, shown, c)
        except BaseException as second:
            error = _unwrap(second)
            _set_validation_status(error, handlers)
    try:
        on_error, shown = outermost.find(error)
        if on_error is not None:
            try:
                return await _ask(on_error, shown, c)
            except HTTPException as second:
                if second is not shown:
                    raise
        answer = _find_answer(error)
        c._fail(error if answer is None else answer)
        sent = format_error(error if answer is None else answer, handlers, c) or answer
        if sent is not None and (answer is not None or sent.status < _FIRST_FAULT):
            return _send(sent, c)
    except BaseException as raised:
        fault = find_fault(raised)
        c._fail(fault, by_handler=True)
        return answer_fault(fault, c, handlers)
    return answer_fault(error, c, handlers)


def _find_handlers(place: Route | str | None, c: Context[Any, Any]) -> Sequence[ErrorHandlers]:
    """Returns the error handlers for a route or a path, innermost first, without duplicates."""
    state = c._state
    if place is None:
        matched = c._match[0]
        place = matched[0][0] if len(matched) == 1 else c.req.path
    if isinstance(place, str):
        return state.error_handlers_at(place)
    inner = place.error_handlers
    if not inner:
        return state.error_handlers
    return (*inner, *(each for each in state.error_handlers if each not in inner))


def _set_validation_status(error: Exception, handlers: Sequence[ErrorHandlers]) -> None:
    """Sets the status of validation errors to the one that the app has for them."""
    status = ErrorHandlers.find_validation_status(handlers)
    if status is None:
        return
    from kit.interface import RequestValidationError  # here, since most apps have no other status

    for each in leaves(error) if isinstance(error, ExceptionGroup) else (error,):
        if isinstance(each, RequestValidationError):
            each.set_status(status)


async def _ask(on_error: ErrorHandler, error: Exception, c: Context[Any, Any]) -> Response:
    c._fail(error)
    _explain(error)
    response = await settle(on_error(error, c), on_error)
    if response is None:
        raise HandlerError(describe(on_error), "returned nothing: return a Response")
    return response


def format_error(
    error: Exception, handlers: Sequence[ErrorHandlers], c: Context[Any, Any]
) -> HTTPException | None:
    """Returns what the app sends for an exception that no handler handles; None for the usual.

    Args:
        error: The exception.
        handlers: The error handlers of the apps, innermost first.
        c: The context.

    Raises:
        TypeError: If the app's `format_errors` returned something else.
    """
    to_sent = ErrorHandlers.find_format(handlers)
    return None if to_sent is None else call_format(to_sent, error, c)


def answer_fault(
    error: Exception, c: Context[Any, Any], handlers: Sequence[ErrorHandlers] | None = None
) -> Response:
    """Logs an exception and returns the 500.

    Args:
        error: The exception.
        c: The context.
        handlers: The error handlers of the apps, innermost first. Default: those for the path.
    """
    _explain(error)
    _logger.error("Exception in %s %s", c.req.method, ascii(c.req.path)[1:-1], exc_info=error)
    try:
        sent = format_error(error, _find_handlers(None, c) if handlers is None else handlers, c)
    except Exception:
        _logger.exception("format_errors() of %s failed", ascii(c.req.path)[1:-1])
        sent = None
    if sent is None or sent.status < _FIRST_FAULT:
        return c.text("Internal Server Error", 500)
    return _send(sent, c)


def _send(error: HTTPException, c: Context[Any, Any]) -> Response:
    """Returns the response that an HTTPException stands for."""
    return c._answer(error)


def _explain(error: Exception) -> None:
    if error.__class__ in _CLASSES_OF_MISTAKES:
        from kit._hints.table import explain  # here, since most apps never need it

        explain(error)


def _unwrap(error: BaseException) -> Exception:
    """Unwraps an exception group, as raised by a task group.

    Returns the group's only exception if it is an HTTPException. If all exceptions report that the
    client has disconnected (each reading task gets one), returns the first. Returns any other group
    unchanged.

    Raises:
        BaseException: See `find_fault`.
    """
    if not isinstance(error, Exception):
        try:
            return find_fault(error)
        finally:
            del error  # otherwise, its traceback would refer to it
    if not isinstance(error, ExceptionGroup):
        return error
    first, *others = leaves(error)
    is_gone = all(isinstance(leaf, ClientDisconnectedError) for leaf in (first, *others))
    is_answer = not others and isinstance(first, HTTPException)
    return first if is_gone or is_answer else error


def _find_answer(error: Exception) -> HTTPException | None:
    """Returns an HTTPException, or the first in a group that contains nothing else; or None."""
    if not isinstance(error, ExceptionGroup):
        return error if isinstance(error, HTTPException) else None
    held = [*leaves(error)]
    first = held[0]
    is_answer = all(isinstance(leaf, HTTPException) for leaf in held)
    return first if is_answer and isinstance(first, HTTPException) else None
