# SPDX-License-Identifier: MIT
"""Support for middleware that only observes requests: logs, traces, metrics.

    def seen() -> AsyncMiddleware:
        async def seen(c: Context, next: Next) -> None:
            observation = Observation(c, report)
            await next()
            observation.responded()

        return seen

`report` is called once, with the `Outcome`, after the response was sent or the request failed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from functools import wraps
from typing import Any, Literal, NamedTuple, TypeAlias

from kit.http.paths import decode_component
from kit.interface import (
    AnyContext,
    AsyncMiddleware,
    BodyProgress,
    ClientDisconnectedError,
    Context,
    Next,
    Request,
    Response,
    UnsupportedPathError,
)
from kit.interface.websocket import WebSocketDisconnectedError
from kit.router import path_matcher

from .maybe_await import call, check_answer
from .options import OptionChecks
from .signatures import accepts, describe

__all__ = (
    "SECRET_NAMES",
    "Ending",
    "Exclude",
    "Observation",
    "Outcome",
    "check_exclude",
    "redact_query",
    "split_target",
    "unless",
)

Ending: TypeAlias = Literal["complete", "failed", "disconnected", "cancelled"]
"""How a request ended; see `Outcome`."""

Exclude: TypeAlias = str | Callable[[AnyContext], bool | Awaitable[bool]]
"""A route pattern, or a function `(c)`, plain or async."""

SECRET_NAMES: frozenset[str] = frozenset(
    {
        "awsaccesskeyid",
        "signature",
        "sig",
        "x-goog-signature",
        "x-amz-credential",
        "x-amz-security-token",
        "x-amz-signature",
        "x-goog-credential",
        "access_key",
        "access_token",
        "accesstoken",
        "api-key",
        "api_key",
        "apikey",
        "auth",
        "authorization",
        "client_assertion",
        "client_secret",
        "clientsecret",
        "code",
        "code_verifier",
        "credential",
        "credentials",
        "current_password",
        "id_token",
        "idtoken",
        "jwt",
        "new_password",
        "newpassword",
        "old_password",
        "otp",
        "pass",
        "passwd",
        "password",
        "password_confirmation",
        "private_token",
        "pwd",
        "refresh_token",
        "refreshtoken",
        "samlresponse",
        "secret",
        "secret_key",
        "session",
        "session_id",
        "sessionid",
        "ticket",
        "token",
        "totp",
    }
)
"""Names of query parameters with secret values, in lower case.

The first four are from the OpenTelemetry semantic conventions for URLs.
"""

_REDACTED = "REDACTED"
# SPEC: RFC 9110 sections 6.4.1 and 15.2: these have no body, whatever the response contains.
_WITHOUT_BODY = frozenset((101, 204, 304))
_SWITCHING_PROTOCOLS = 101
# The status in access logs for a request closed by the client, as set by `cancel_on_disconnect`.
_CLIENT_CLOSED_REQUEST = 499
_EXPECTED = "a path pattern, a function (c), or a list of them"
_logger = logging.getLogger("kit")


class Outcome(NamedTuple):
    """How a request ended.

    Attributes:
        status: The HTTP status; None if the request was cancelled before it had one.
        size_bytes: Number of body bytes sent.
        ending: `complete` if the whole response was sent; `failed` if its streamed body raised, or
            if a WebSocket connection ended with an exception; `disconnected` if the client
            disconnected early, or if a WebSocket handler ended with the error that its connection
            is closed; `cancelled` if the request was cancelled, e.g. by a server shutdown.
        error: The exception that a handler raised, even if it was handled; or the exception that
            ended the body or the connection; or None.
    """

    status: int | None
    size_bytes: int
    ending: Ending
    error: BaseException | None


class Observation:
    """Observes one request until its response was sent.

    Create it before `next()`, and call `responded` afterwards.

    Args:
        c: The context of the request.
        report: Called with the outcome, plain or async. If it raises, the exception is logged.
    """

    __slots__ = ("_c", "_is_sendable", "_progress", "_report")

    def __init__(
        self, c: Context[Any, Any], report: Callable[[Outcome], Awaitable[None] | None]
    ) -> None:
        self._c = c
        self._report = report
        self._progress: BodyProgress | None = None
        self._is_sendable = True
        c.add_cleanup(self._end)

    def responded(self) -> None:
        """Records the response, so that its bytes are counted."""
        c = self._c
        if c.finalized:
            response = c.res
            if response.body_used:
                self._is_sendable = False
            else:
                self._progress = response.track_body()

    def _end(self, error: BaseException | None) -> Awaitable[None] | None:
        c = self._c
        status = _status_without_response(error)
        if c.finalized and self._is_sendable:
            status = c.res.status
        progress = self._progress
        # PERF: nearly every request ends here; the code below handles the others.
        if error is None and progress is not None and progress.is_complete and status == 200:
            size = 0 if c.req.method == "HEAD" else progress.size_bytes
            return self._report(Outcome(status, size, "complete", None))
        ending, failure = _ending(c, status, progress, error)
        size = 0
        if progress is not None and status not in _WITHOUT_BODY:
            size = _size_sent(c, progress, ending)
        return self._report(Outcome(status, size, ending, failure))


def _status_without_response(error: BaseException | None) -> int | None:
    """Returns the status of the app's response, if the handlers left none."""
    # A handler that returns no response is an error, which becomes a 500.
    return 500 if error is None or isinstance(error, Exception) else None


def _ending(
    c: Context[Any, Any],
    status: int | None,
    progress: BodyProgress | None,
    error: BaseException | None,
) -> tuple[Ending, BaseException | None]:
    """Returns how a request ended, and the exception of its outcome."""
    if error is not None and not isinstance(error, Exception):
        return "cancelled", error
    if status == _CLIENT_CLOSED_REQUEST or isinstance(error, ClientDisconnectedError):
        return "disconnected", error
    if status == _SWITCHING_PROTOCOLS:
        return _ending_of_connection(error), error
    if progress is None or progress.is_complete or not _is_cut_off(c, progress):
        return "complete", error
    failure = progress.failure
    if isinstance(failure, Exception) and not isinstance(failure, ClientDisconnectedError):
        return "failed", failure
    return "disconnected", error


def _ending_of_connection(error: Exception | None) -> Ending:
    """Returns how a WebSocket connection ended."""
    if error is None:
        return "complete"
    return "disconnected" if _is_of_closed(error) else "failed"


def _is_of_closed(error: Exception) -> bool:
    """Whether a handler ended only because its connection was closed."""
    if isinstance(error, ExceptionGroup):  # of a task group
        return all(map(_is_of_closed, error.exceptions))
    return isinstance(error, WebSocketDisconnectedError)


def _is_cut_off(c: Context[Any, Any], progress: BodyProgress) -> bool:
    """Whether a body was cut off before its end."""
    return progress.is_begun or not (c.req.method == "HEAD" or _sends_paths(c))


def _sends_paths(c: Context[Any, Any]) -> bool:
    """Whether the server sends files by their paths (ASGI extension Path Send)."""
    scope = c.req.raw.scope
    return scope is not None and "http.response.pathsend" in (scope.get("extensions") or ())


def _size_sent(c: Context[Any, Any], progress: BodyProgress, ending: Ending) -> int:
    if c.req.method == "HEAD":
        return 0
    if not progress.is_begun and ending == "complete":  # a file that the server sent by its path
        length = c.res.headers.get("content-length") or ""
        return int(length) if length.isdecimal() else 0
    return progress.size_bytes


def split_target(request: Request) -> tuple[str, str]:
    """Returns the path and the query of a request as sent, percent-encoded.

    Args:
        request: The request, `c.req.raw`.

    Returns:
        The path, and the query without its question mark; empty if there is none. If the client
        sent non-ASCII bytes, they are decoded as latin-1.
    """
    scope = request.scope
    raw_path = None if scope is None else scope.get("raw_path")
    # PERF: uses the server's values; building the URL would take longer than everything else.
    if scope is not None and raw_path:
        query: bytes = scope.get("query_string") or b""
        return raw_path.decode("latin-1"), query.decode("latin-1")
    url = request.url
    start = url.find("/", url.find("://") + 3)
    path_and_query, _, _ = (url[start:] if start >= 0 else "/").partition("#")
    path, _, rest = path_and_query.partition("?")
    return path, rest


def redact_query(query: str, names: Collection[str] = SECRET_NAMES) -> str:
    """Returns a query with secret values replaced with `REDACTED`.

    Args:
        query: The query without its question mark, percent-encoded.
        names: Names of parameters with secret values, in lower case. Names in the query are decoded
            and compared case-insensitively. Those with brackets or dots, as in `user[password]`,
            are secret if any part is.
    """
    if not query or not names:
        return query
    parts = query.split("&")
    for place, part in enumerate(parts):
        name, equals, value = part.partition("=")
        if value and not _parts(name).isdisjoint(names):
            parts[place] = f"{name}{equals}{_REDACTED}"
    return "&".join(parts)


def _parts(name: str) -> set[str]:
    """Returns the name of a parameter decoded, in lower case, and its parts."""
    if "%" in name or "+" in name:
        name = decode_component(name.replace("+", " ")).strip()
    name = name.lower()
    # PHP, Rails and others write a list as name[], and a member of an object as object[name] or
    # object.name.
    return {name, *re.split(r"[\[\].]+", name)}


def check_exclude(
    check: OptionChecks, value: Any
) -> Callable[[Context[Any, Any]], bool | Awaitable[bool]] | None:
    """Checks the option `exclude`, which selects requests to leave out.

    Args:
        check: The checks of the factory.
        value: A route pattern such as `/health/*`, which has to match the whole path; a function
            `(c)`, plain or async, that returns whether a request is excluded; or a list of them.

    Returns:
        A function that returns whether a request is excluded, or an awaitable of that; None if no
        request is excluded. If a function of the option raises, the exception is logged and the
        request isn't excluded.

    Raises:
        TypeError: If the value has another type.
        ValueError: If a pattern can't match any path.
    """
    if isinstance(value, str) or callable(value):
        value = (value,)
    if not isinstance(value, Iterable) or isinstance(value, (bytes, Mapping)):
        check.wrong_type("exclude", value, _EXPECTED)
    patterns: list[str] = []
    functions: list[Callable[..., Any]] = []
    for each in value:
        if isinstance(each, str):
            patterns.append(each)
        elif callable(each) and accepts(each, 1):
            functions.append(each)
        else:
            check.wrong_type("exclude", each, _EXPECTED)
    try:
        matches = path_matcher(*patterns)
    except UnsupportedPathError as error:
        check.unusable("exclude", error.path, f"a route pattern: {error.reason}")

    def by_path(c: Context[Any, Any]) -> bool:
        return matches(c.req.path)

    def by_path_or_function(c: Context[Any, Any]) -> bool | Awaitable[bool]:
        return bool(patterns and matches(c.req.path)) or _call_until_true(functions, c)

    if functions:
        return by_path_or_function
    return by_path if patterns else None


async def _call_until_true(functions: Iterable[Callable[..., Any]], c: Context[Any, Any]) -> bool:
    for function in functions:
        try:
            result = await call(function, c)
            check_answer(describe(function), result)
        except Exception as error:
            _logger.warning("%s failed, so nothing is excluded", describe(function), exc_info=error)
            continue
        if result:
            return True
    return False


def unless(
    excludes: Callable[[Context[Any, Any]], bool | Awaitable[bool]] | None,
    middleware: AsyncMiddleware,
) -> AsyncMiddleware:
    """Returns middleware that skips excluded requests.

    Args:
        excludes: The result of `check_exclude`.
        middleware: The middleware for all other requests.

    Returns:
        `middleware` itself if no request is excluded; otherwise a wrapper with the same name.
    """
    if excludes is None:
        return middleware

    async def later(excluded: Awaitable[bool], c: Context[Any, Any], next: Next) -> Response | None:
        if await excluded:
            await next()
            return None
        return await middleware(c, next)

    # PERF: not async, which saves a coroutine.
    @wraps(middleware)
    def including(c: Context[Any, Any], next: Next) -> Awaitable[Response | None]:
        excluded = excludes(c)
        if excluded is False:
            return middleware(c, next)
        return next() if excluded is True else later(excluded, c, next)

    return including
