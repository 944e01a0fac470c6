# SPDX-License-Identifier: MIT
"""The decorator that documents what Kit can't find out about a handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kit.authoring.options import OptionChecks
from kit.http.fields import is_token
from kit.interface import Codecs, Problem
from kit.interface.metadata import attach

from ._describable import check_describable

__all__ = ("Problem", "describe")

F = TypeVar("F", bound=Callable[..., Any])

_RANGES = ("default", "1XX", "2XX", "3XX", "4XX", "5XX")
# SPEC: the characters of RFC 3986, section 2, since documentation has a URL for each operation.
_URL_SAFE = r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]+"
_check = OptionChecks("describe")


def describe(
    *,
    summary: str | None = None,
    description: str | None = None,
    tags: str | Sequence[str] | None = None,
    operation_id: str | None = None,
    responses: Mapping[int | str, Any] | None = None,
    request_body: Any = None,
    security: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    deprecated: bool | None = None,
    hidden: bool | None = None,
) -> Callable[[F], F]:
    """Returns a decorator that describes a handler for the document.

    The given values take precedence over what Kit finds out. The handler is called as before, at no
    cost per request. A description of middleware applies to all routes that it covers. The
    `responses` of a described `HTTPException` class apply wherever it is raised.

    Args:
        summary: A short summary of the operation. Default: the first paragraph of the docstring.
        description: A longer description, in Markdown (CommonMark). Default: the rest of the
            docstring.
        tags: The groups of the operation. Default: the last part of the prefix of its app, e.g.
            `books` for `app.route("/books", ...)`.
        operation_id: Its name, unique in the document. Default: the name of the function, or method
            and path if several operations have it, e.g. `get_books_by_id`.
        responses: Responses by status (an int, `"default"`, or a range such as `"4XX"`). Each is
            the type of a body, a description, None, or a Response Object (OpenAPI 3.1.1, section
            4.8.17), in whose `content` types may stand for schemas.
        request_body: The type of a JSON body, or a Request Body Object (section 4.8.13), in whose
            `content` types may stand for schemas.
        security: Security Scheme Objects (section 4.8.27); a request must satisfy one of them;
            empty for none. With `{}` among them, credentials are optional. Requirements such as
            `{"oauth": ["read"]}` name schemes passed to `openapi`.
        deprecated: Whether it is deprecated.
        hidden: Whether to leave it out of the document.

    Returns:
        The decorator, which returns the function itself.

    Raises:
        TypeError: If an argument has the wrong type, or if a type is or contains a union that
            msgspec doesn't support.
        ValueError: If a status is not valid, a `scheme` isn't a token (RFC 9110, section 11.1), or
            `operation_id` can't be part of a URL.

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
    own_responses: Any = {} if responses is None else _responses(responses)
    check_described("describe(request_body=...)", request_body)
    given = {
        "summary": summary,
        "description": description,
        "tags": None if tags is None else list(_check.texts("tags", tags)),
        "operation_id": operation_id,
        "responses": own_responses or None,
        "request_body": request_body,
        "security": None if security is None else _security(security),
        "deprecated": deprecated,
        "hidden": hidden,
    }
    facts = {name: value for name, value in given.items() if value is not None}

    def decorate(function: F) -> F:
        described: Any = function
        if isinstance(described, type):
            attach(described, responses=own_responses)
        else:
            attach(described, describes=facts)
        return function

    return decorate


def _responses(responses: Any) -> dict[int | str, Any]:
    if not isinstance(responses, Mapping):
        _check.wrong_type("responses", responses, "a mapping from statuses")
    for status in responses:
        if isinstance(status, bool) or not isinstance(status, (int, str)):
            raise TypeError(
                f"describe(responses=...) takes statuses such as 404, not {status!r:.100}"
            )
        known = status in _RANGES if isinstance(status, str) else 100 <= status <= 599
        if not known:
            raise ValueError(
                f"describe(responses=...) has the status {status!r:.100}: expected an int from 100 "
                "to 599, 'default', or a range such as '4XX'"
            )
        check_described("describe(responses=...)", responses[status])
    return dict(responses)


def check_described(option: str, value: Any, codecs: Codecs | None = None) -> None:
    """Rejects types that can't be described, or would crash the process.

    Args:
        option: The function and its option.
        value: A type, or an object of OpenAPI with types in its `content`; anything else passes.
        codecs: As for `check_describable`.

    Raises:
        TypeError: If it is or contains such a type.
    """
    if isinstance(value, Mapping):
        content = value.get("content")
        for each in content.values() if isinstance(content, Mapping) else ():
            schema = each.get("schema") if isinstance(each, Mapping) else each
            if not isinstance(schema, Mapping):
                check_described(option, schema, codecs)
    elif value is not None and not isinstance(value, str):
        try:
            check_describable(value, codecs)
        except TypeError as error:
            raise TypeError(f"{option} has {value!r:.100}: {error}") from None


def _security(security: Any) -> list[Mapping[str, Any]]:
    schemes = [security] if isinstance(security, Mapping) else security
    if isinstance(schemes, str) or not isinstance(schemes, Sequence):
        _check.wrong_type("security", security, "Security Scheme Objects, or a list of them")
    for scheme in schemes:
        if not isinstance(scheme, Mapping):
            _check.wrong_type("security", security, "Security Scheme Objects, or a list of them")
        check_scheme(_check, "security['scheme']", scheme)
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
