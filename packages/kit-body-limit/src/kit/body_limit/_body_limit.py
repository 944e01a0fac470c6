# SPDX-License-Identifier: MIT
"""The middleware: rejects bodies by their declared length, and counts the bytes of all others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.interface import AnyContext, Context, HTTPException, KitRequest, Middleware, Next, Response
from kit.interface.metadata import attach

__all__ = ("OnError", "body_limit")

OnError: TypeAlias = Callable[[AnyContext], Response | Awaitable[Response]]
"""Returns the response to a body that is too large: `def on_error(c)`, plain or async."""

# Python refuses to read numbers of many thousands of digits.
_MOST_DIGITS = 30
_STATUS = 413


class _TooLarge(HTTPException):
    """The error of one middleware, handled only by the `on_error` of that middleware."""

    def __init__(self, refused_by: object) -> None:
        super().__init__(_STATUS, "Payload Too Large")
        self.refused_by = refused_by


def body_limit(max_size: int, on_error: OnError | None = None) -> Middleware:
    """Returns middleware that limits the size of request bodies.

    If the Content-Length exceeds the limit, the body is rejected before it is read, so a client
    that expects `100 Continue` never sends it (RFC 9110, section 10.1.1). All other bodies are
    counted as they are read, regardless of the declared length and of what reads them. Nothing is
    buffered in memory: a handler that reads a stream gets an `HTTPException` as soon as the body
    exceeds the limit. A body that nothing reads isn't counted.

    Args:
        max_size: Maximum size in bytes. A body of this size is accepted.
        on_error: `on_error(c)`, plain or async, returns the response to a request whose body is too
            large. Default: an `HTTPException` with status 413 (RFC 9110, section 15.5.14).

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If `max_size` is negative.

    Example:
        app.post("/upload", body_limit(10 * 1024 * 1024), save)
    """
    check = OptionChecks("body_limit")
    check.number("max_size", max_size, least=0, unit="bytes")
    if on_error is not None:
        check.function("on_error", on_error, "(c)")

    def refuse() -> HTTPException:
        return _TooLarge(refuse)

    # PERF: not async if there is nothing to do after next(), which saves a coroutine per request.
    def raising(c: Context[Any, Any], next: Next) -> Awaitable[None]:
        request = c.req
        declared = request.header("content-length")
        if declared is not None and _exceeds(declared, max_size, request):
            raise refuse()
        request.limit_body(max_size, refuse)
        return next()

    async def answering(c: Context[Any, Any], next: Next) -> Response | None:
        request = c.req
        try:
            declared = request.header("content-length")
            if declared is not None and _exceeds(declared, max_size, request):
                raise refuse()
            request.limit_body(max_size, refuse)
        except _TooLarge:
            return await call(answer, c)
        await next()
        error = c.error
        if isinstance(error, _TooLarge) and error.refused_by is refuse:
            c.res = await call(answer, c)
        return None

    answer: Any = on_error
    middleware: Middleware = raising if on_error is None else answering
    middleware.__name__ = "body_limit"
    middleware.__qualname__ = "body_limit"
    return attach(middleware, responses={_STATUS: "The body is too large"})


def _exceeds(declared: str, max_size: int, request: KitRequest) -> bool:
    """Returns whether the declared length of a body exceeds the limit.

    Raises:
        HTTPException: 400 if Content-Length is not a number (RFC 9112, section 6.3).
    """
    # SPEC: RFC 9112 section 6.3: Transfer-Encoding overrides Content-Length.
    if request.header("transfer-encoding") is not None:
        return False
    if not (declared.isdigit() and declared.isascii()):
        declared = _one_value(declared)
    return int(declared.lstrip("0")[:_MOST_DIGITS] or "0") > max_size


def _one_value(declared: str) -> str:
    # SPEC: RFC 9110 section 8.6: a list of equal values may replace a single one.
    values = {value.strip(" \t") for value in declared.split(",")}
    value = values.pop()
    if values or not (value.isdigit() and value.isascii()):
        # Servers reject it. If one did not, no length can be trusted.
        raise HTTPException(400, "Invalid Content-Length")
    return value
