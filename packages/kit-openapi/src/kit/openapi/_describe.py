# SPDX-License-Identifier: MIT
"""The decorator that documents what Kit can't find out about a handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from kit.authoring.options import OptionChecks
from kit.authoring.signatures import describe as describe_function
from kit.http.fields import is_token
from kit.interface import Codecs, Context, Next, Problem, RouterRoute
from kit.interface.metadata import attach, get_facts

from ._description_checks import (
    check_body,
    check_extensions,
    check_external_docs,
    check_headers,
    check_parameters,
    check_response,
    check_tags,
    is_status,
)
from ._path_item_checks import check_callbacks

__all__ = ("Description", "Problem", "describe")

F = TypeVar("F", bound=Callable[..., Any])

# SPEC: the characters of RFC 3986, section 2, since documentation has a URL for each operation.
_URL_SAFE = r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]+"
_check = OptionChecks("describe")


class Description:
    """What `describe` returns: a decorator, and middleware that describes the routes it covers.

    As middleware it is only looked at when the document is built; no request runs it.

    Args:
        described: The fields of `describe`, as in `kit.interface.metadata.Facts`.
    """

    __kit_takes_next__ = True
    __kit_runs__ = False
    __module__ = "kit.openapi"

    def __init__(self, described: Mapping[str, Any]) -> None:
        self._described = dict(described)
        attach(self, describes=self._described)

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, c: Context[Any, Any], next: Next, /) -> Awaitable[None]: ...
    def __call__(self, function: Any, next: Any = None, /) -> Any:
        """Describes a function, which it returns; with `(c, next)`, it only calls `next`.

        Raises:
            TypeError: If it is an app, or if it is a class, and more than `responses` is described.
        """
        if next is not None:  # a middleware that wraps it
            return next()
        if hasattr(function, "routes") and hasattr(function, "fetch"):
            raise TypeError(
                "describe(...) can't describe an app: write app.use(describe(...)) before the "
                "routes of the app"
            )
        if not isinstance(function, type):
            return attach(function, describes=self._described)
        others = [name for name in self._described if name != "responses"]
        if others:
            raise TypeError(
                f"describe({others[0]}=...) can't describe {describe_function(function)}: of an "
                "exception class, it describes only responses"
            )
        return attach(function, responses=self._described.get("responses", {}))

    def __kit_bind__(
        self, method: str, pattern: str, codecs: Codecs
    ) -> Callable[[Context[Any, Any], Next], Awaitable[None]]:
        """Returns the middleware for a pattern; see `kit.interface.hooks`."""

        async def describe(c: Context[Any, Any], next: Next) -> None:
            await next()

        def check_after(after: Sequence[RouterRoute]) -> None:
            from kit.router.patterns import covers  # PERF: only for this check

            handlers = (
                each for each in after if not each.takes_next or get_facts(each.handler).mounted
            )
            if not any(covers(pattern, each.path) for each in handlers):
                raise ValueError(
                    f"describe(...) at {pattern!r} describes nothing: no route that it covers is "
                    "registered after it"
                )

        describe.__dict__["__kit_check_after__"] = check_after
        return attach(describe, describes=self._described)


def describe(
    *,
    summary: str | None = None,
    description: str | None = None,
    tags: str | Sequence[str | Mapping[str, Any]] | None = None,
    operation_id: str | None = None,
    responses: Mapping[int | str, Any] | None = None,
    request_body: Any = None,
    parameters: Sequence[Mapping[str, Any]] | None = None,
    headers: Mapping[Any, Any] | None = None,
    callbacks: Mapping[str, Mapping[str, Any]] | None = None,
    extensions: Mapping[str, Any] | None = None,
    external_docs: str | Mapping[str, str] | None = None,
    security: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    deprecated: bool | None = None,
    hidden: bool | None = None,
) -> Description:
    """Describes a handler, or all routes that a pattern covers, for the document.

    The result is a decorator. It is also middleware: `app.use("/admin/*", describe(...))` describes
    the routes below that path that are registered after it. A description of any other middleware
    applies to the routes that it covers as well. Nothing of it costs anything per request.

    The given values add to what Kit finds out, and take precedence over it. Those of a handler take
    precedence over those of middleware. The `responses` of a described `HTTPException` class apply
    wherever it is raised.

    Args:
        summary: A short summary of the operation. Default: the first paragraph of the docstring.
        description: A longer description, in Markdown (CommonMark). Default: the rest of the
            docstring.
        tags: The groups of the operation: names, or Tag Objects (OpenAPI 3.1.1, section 4.8.22),
            which describe the tag in the document. Default: the last part of the prefix of its app,
            e.g. `books` for `app.route("/books", ...)`.
        operation_id: Its name, unique in the document. Default: the name of the function, or method
            and path if several operations have it, e.g. `get_books_by_id`.
        responses: Responses by status (an int, `"default"`, or a range such as `"4XX"`). Each is
            the type of a body, a description, None for no body, or a Response Object (section
            4.8.17), in whose `content` types may stand for schemas. What isn't given remains as it
            was found.
        request_body: The type of a JSON body, or a Request Body Object (section 4.8.13), in whose
            `content` types may stand for schemas.
        parameters: Parameter Objects (section 4.8.12), each with `name` and `in`. They are added,
            or replace the given members of a parameter that was found. `schema` may be a type.
            `"hidden": True` leaves a parameter out.
        headers: Headers of responses: of all by name, `{"ETag": str}`, or of one,
            `{200: {"ETag": str}}`. Each is a type, a description, or a Header Object (section
            4.8.21), whose `schema` may be a type.
        callbacks: Requests that the app sends to a URL from a request (section 4.8.18), by name and
            by runtime expression of the URL. Each is like a webhook of `openapi`.
        extensions: Other members of the operation, whose names begin with `x-`.
        external_docs: The URL of more documentation, or an External Documentation Object (section
            4.8.11).
        security: Security Scheme Objects (section 4.8.27); a request must satisfy one of them;
            empty for none. With `{}` among them, credentials are optional. Requirements such as
            `{"oauth": ["read"]}` name schemes passed to `openapi`.
        deprecated: Whether it is deprecated.
        hidden: Whether to leave it out of the document.

    Returns:
        The description. As a decorator, it returns the function itself.

    Raises:
        TypeError: If an argument has the wrong type, or if a type is or contains a union that
            msgspec doesn't support.
        ValueError: If a status, name or member is not valid, something is there twice, a `scheme`
            isn't a token (RFC 9110, section 11.1), or `operation_id` can't be part of a URL.

    Example:
        ```python
        @app.get("/books/:id")
        @describe(tags=["books"], responses={200: Book, 404: Problem})
        async def read_book(c: Context) -> Response: ...
        ```
    """
    for name, text in (
        ("summary", summary),
        ("description", description),
    ):
        if text is not None:
            _check.text(name, text)
    if operation_id is not None:
        _check.text("operation_id", operation_id, _URL_SAFE, "characters of URLs, e.g. 'add_book'")
    for name, flag in (("deprecated", deprecated), ("hidden", hidden)):
        if flag is not None:
            _check.flag(name, flag)
    check_body(_check, request_body)
    given = {
        "summary": summary,
        "description": description,
        "tags": None if tags is None else check_tags(_check, tags),
        "operation_id": operation_id,
        "responses": None if responses is None else _responses(responses) or None,
        "request_body": request_body,
        "parameters": None if parameters is None else check_parameters(_check, parameters),
        "headers": None if headers is None else check_headers(_check, headers),
        "callbacks": None if callbacks is None else check_callbacks(_check, callbacks),
        "extensions": None if extensions is None else check_extensions(_check, extensions),
        "external_docs": None
        if external_docs is None
        else check_external_docs(_check, "external_docs", external_docs),
        "security": None if security is None else check_security(_check, security),
        "deprecated": deprecated,
        "hidden": hidden,
    }
    return Description({name: value for name, value in given.items() if value is not None})


def _responses(responses: Any) -> dict[int | str, Any]:
    if not isinstance(responses, Mapping):
        _check.wrong_type("responses", responses, "a mapping from statuses")
    for status in responses:
        if isinstance(status, bool) or not isinstance(status, (int, str)):
            raise TypeError(
                f"describe(responses=...) takes statuses such as 404, not {status!r:.100}"
            )
        if not is_status(status):
            raise ValueError(
                f"describe(responses=...) has the status {status!r:.100}: expected an int from 100 "
                "to 599, 'default', or a range such as '4XX'"
            )
        check_response(_check, status, responses[status])
    return dict(responses)


def check_security(check: OptionChecks, security: Any) -> list[Mapping[str, Any]]:
    """Checks Security Scheme Objects, or requirements that name them, and returns a list of them.

    Raises:
        TypeError: If they are anything else.
        ValueError: If a `scheme` can't be used, see `check_scheme`.
    """
    expected = "Security Scheme Objects, or a list of them"
    schemes = [security] if isinstance(security, Mapping) else security
    if isinstance(schemes, str) or not isinstance(schemes, Sequence):
        check.wrong_type("security", security, expected)
    for scheme in schemes:
        if not isinstance(scheme, Mapping):
            check.wrong_type("security", security, expected)
        check_scheme(check, "security['scheme']", scheme)
    return list(schemes)


def check_scheme(check: OptionChecks, option: str, scheme: Mapping[str, Any]) -> None:
    """Checks the `scheme` of a Security Scheme Object.

    Args:
        check: The checks of the called function.
        option: The option that has the object.
        scheme: The object.

    Raises:
        TypeError: If it isn't a str.
        ValueError: If it isn't a token (RFC 9110, section 11.1).
    """
    word = scheme.get("scheme")
    if scheme.get("type") == "http" and word is not None:
        check.text(option, word)
        if not is_token(word):
            check.unusable(option, word, "a scheme of RFC 9110 such as 'bearer'")
