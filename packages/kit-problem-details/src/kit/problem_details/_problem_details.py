# SPDX-License-Identifier: MIT
"""Sends the errors of an app as problem documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import urljoin, urlsplit

from kit.authoring.maybe_await import plain_result
from kit.authoring.options import OptionChecks
from kit.http.media_types import media_type
from kit.interface import AnyContext, App, Context, HTTPException, Problem, ProblemError
from kit.interface.metadata import attach

ToProblem: TypeAlias = Callable[[Any, AnyContext], ProblemError]
"""Returns the problem for an exception: `to_problem(error, c)`."""

_check = OptionChecks("problem_details")
# The document has its own, and describes itself.
_REPLACED = frozenset(
    (
        *("content-disposition", "content-encoding", "content-language", "content-length"),
        *("content-location", "content-range", "content-type", "etag", "last-modified"),
    )
)


def problem_details(
    app: App,
    *,
    types: Mapping[int | type[Exception], str | ToProblem] | None = None,
    base: str | None = None,
) -> None:
    """Sends the errors of an app as problem documents: application/problem+json (RFC 9457).

    It applies to each `HTTPException` with a text or no body, the 404 of a path without a route,
    the 405, the 413 of a limit, invalid requests, and all other exceptions, which are logged and
    become a 500 without details. The document of kit-openapi shows the format.

    Headers of an exception are kept, such as Allow, Retry-After and WWW-Authenticate. Redirects are
    sent unchanged, and so is an exception with its own response or body, unless that is text/plain
    and the exception has a message. An `on_error` or `not_found` of the app takes precedence; an
    exception that it raises again becomes a problem document.

    Args:
        app: The app. For an app that is part of another one, the setting applies to its routes and
            to the paths below its prefix.
        types: The `type` of each problem, by status or by class of exception; the nearest class of
            an exception applies, or else its status. A value is a URI reference, or a plain
            function that returns the `ProblemError` for an exception of the class. With a function,
            any exception may become one that isn't logged; a URI reference needs a class of
            HTTPException.
        base: An absolute URI, to which the `types` are relative. Default: they are sent as written.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If a status isn't an error status, or a type or `base` isn't a URI.

    Example:
        ```python
        problem_details(
            app,
            base="https://errors.example/",
            types={404: "not-found", BookGoneError: lambda error, c: ProblemError(410, "Gone")},
        )
        ```
    """
    if not callable(getattr(app, "format_errors", None)):
        raise TypeError(f"problem_details() takes an app first, not {app!r:.100}")
    if base is not None:
        _check_base(base)
    if types is not None and not isinstance(types, Mapping):
        _check.wrong_type("types", types, "a mapping of statuses and classes of exceptions")
    known = {key: _checked_kind(key, kind, base) for key, kind in (types or {}).items()}

    def to_problem(error: Exception, c: Context[Any, Any]) -> HTTPException | None:
        kind = _find(known, error)
        if callable(kind):
            return _convert(kind, error, c)
        if not isinstance(error, HTTPException):
            return ProblemError(500, type=kind)
        if isinstance(error, ProblemError):
            return error if error.type is not None or kind is None else _with_type(error, kind, c)
        if error.status < 400 or not _is_text(error):
            return None
        return _as_problem(error, kind, c)

    app.format_errors(attach(to_problem, error_type=Problem))


def _check_base(base: Any) -> None:
    if not isinstance(base, str):
        _check.wrong_type("base", base, "an absolute URI")
    _check_uri("base", base)
    if not urlsplit(base).scheme:
        raise ValueError(
            f"problem_details(base={base!r:.100}) isn't an absolute URI: expected one such as "
            "'https://errors.example/'"
        )


def _check_uri(name: str, value: str) -> None:
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise ValueError(
            f"problem_details({name}=...) has {value!r:.100}, which isn't a URI: "
            "expected one with spaces and non-ASCII characters percent-encoded"
        )


def _checked_kind(key: Any, kind: Any, base: str | None) -> Any:
    """Returns a type as it is sent, or a function."""
    is_class = isinstance(key, type) and issubclass(key, Exception)
    if not is_class and (not isinstance(key, int) or isinstance(key, bool)):
        raise TypeError(
            f"problem_details(types=...) has the key {key!r:.100}: expected a status or a class of "
            "exceptions"
        )
    if not is_class and not 400 <= key <= 599:
        raise ValueError(
            f"problem_details(types=...) has the status {key!r:.100}: expected one of an error, "
            "400 to 599"
        )
    if callable(kind):
        return _check.function("types", kind, "(error, c)", plain=True)
    if not isinstance(kind, str):
        _check.wrong_type("types", kind, "a URI reference or a function (error, c) for each key")
    _check_uri("types", kind)
    if is_class and not issubclass(key, HTTPException):
        raise TypeError(
            f"problem_details(types=...) has a type for {key.__name__}, which has no status: write "
            f"a function (error, c) that returns a ProblemError, or a type for 500"
        )
    return kind if base is None else urljoin(base, kind)


def _find(known: Mapping[Any, Any], error: Exception) -> Any:
    for each in type(error).__mro__:
        if each in known:
            return known[each]
    return known.get(error.status if isinstance(error, HTTPException) else 500)


def _convert(to_problem: ToProblem, error: Exception, c: Context[Any, Any]) -> ProblemError:
    problem: Any = plain_result(to_problem(error, c), to_problem, "problem_details(types=...)")
    if not isinstance(problem, ProblemError):
        raise TypeError(
            f"problem_details(types=...): the function for {type(error).__name__} returned "
            f"{type(problem).__name__}, expected a ProblemError"
        )
    if isinstance(error, HTTPException) and problem is not error:
        problem.headers = {**_kept_headers(error, c), **(problem.headers or {})}
    return problem


def _is_text(error: HTTPException) -> bool:
    """Returns whether nothing but a text is sent for an exception.

    Guards such as those of kit-bearer-auth have the text in the message, and again in a response.
    """
    if isinstance(error.body, bytes) or (error.res is not None and error.message is None):
        return False
    kind = _headers(error).get("content-type")
    return kind is None or media_type(kind) == "text/plain"


def _as_problem(error: HTTPException, kind: str | None, c: Context[Any, Any]) -> ProblemError:
    text = error.message if error.body is None else str(error.body)
    problem = ProblemError(error.status)
    repeated = (problem.title, f"{error.status} {problem.title}")
    return ProblemError(
        error.status,
        detail=None if not text or text in repeated else text,
        type=kind,
        headers=_kept_headers(error, c),
        message=error.message,
    )


def _with_type(error: ProblemError, kind: str, c: Context[Any, Any]) -> ProblemError:
    return ProblemError(
        error.status,
        error.title,
        error.detail,
        type=kind,
        instance=error.instance,
        headers=_kept_headers(error, c),
        message=error.message,
        **error.members,
    )


def _kept_headers(error: HTTPException, c: Context[Any, Any]) -> dict[str, str]:
    """Returns the headers of an exception that don't describe its body."""
    if error.res is not None:
        for cookie in error.res.headers.get_all("set-cookie"):  # several aren't one header
            c.header("set-cookie", cookie, append=True)
    return {name: value for name, value in _headers(error).items() if name not in _REPLACED}


def _headers(error: HTTPException) -> dict[str, str]:
    own = () if error.res is None else error.res.headers.items()
    given = {name: value for name, value in own if name.lower() != "set-cookie"}
    given.update(error.headers or {})
    return {name.lower(): value for name, value in given.items()}
