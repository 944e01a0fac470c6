# SPDX-License-Identifier: MIT
"""Builds the error responses for requests that fail authentication."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypedDict

from kit.authoring.credentials import build_refusal, check_message
from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.http.fields import TOKEN, is_field_value, is_token, quoted_string
from kit.interface import AnyContext, Context, HTTPException

# PERF: the common ones, without importing http.
_PHRASES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden"}
# SPEC: RFC 9110 section 11.6.1: a challenge begins with a scheme.
_CHALLENGE = re.compile(rf"{TOKEN}(?:[ ,]|$)")
_KEYS = ("message", "www_authenticate_header", "status")


class FailureOptions(TypedDict, total=False):
    """Response to one kind of failure. Absent keys and None select the default.

    Attributes:
        message: The body: a str is sent as text/plain, any other value as JSON; `""` is an empty
            body. A function, plain or async, is called with `c` and returns either of them, or a
            response: its status is kept if it is a redirect or an error, and the challenge is added
            unless it has one.
        www_authenticate_header: The challenge: a str, which begins with a scheme, is sent
            unchanged, a mapping as `key="value"` pairs after the scheme; `""` selects the default,
            since a 401 needs a challenge (RFC 9110 section 11.6.1). A function, plain or async, is
            called with `c` and returns either of them.
        status: HTTP status code, 400 to 499. The challenge is sent with every status.
    """

    message: Any
    www_authenticate_header: str | Mapping[str, object] | Callable[[AnyContext], Any] | None
    status: int | None


class Failure(NamedTuple):
    """The response to one kind of failure.

    Attributes:
        status: HTTP status code.
        error: Async function that is called with `c` and returns the exception to raise.
    """

    status: int
    error: Callable[[Context[Any, Any]], Awaitable[HTTPException]]


def quoted(what: str, value: str) -> str:
    """Returns `value` as a quoted-string (RFC 9110 section 5.6.4).

    Raises:
        ValueError: If it contains a control character or a character beyond latin-1.
    """
    try:
        return quoted_string(value)
    except ValueError as error:
        raise ValueError(f"bearer_auth: {what} {error}") from None


def prepare(
    name: str,
    options: FailureOptions | None,
    status: int,
    challenge: str,
    parameters: Callable[[int], str],
) -> Failure:
    """Checks the options for one kind of failure.

    Args:
        name: Name of the argument of `bearer_auth`, for error messages.
        options: The value of that argument.
        status: HTTP status code if the options set none.
        challenge: The scheme and a space, put before key-value pairs.
        parameters: Called with the status; returns the parameters of the challenge if the options
            set none.

    Raises:
        TypeError: If the options are not a mapping, or a value has the wrong type.
        ValueError: If a key is unknown, or a value is invalid.
    """
    given: Mapping[str, Any] = {}
    if options is not None:
        given = OptionChecks("bearer_auth").keys(name, options, _KEYS)
    if given.get("status") is not None:
        status = _checked_status(name, given["status"])
    message: Any = given.get("message")
    if message is None:
        message = _phrase(status)
    check_message(OptionChecks("bearer_auth"), f"{name}['message']", message)
    where = f"{name}['www_authenticate_header']"
    header: Any = given.get("www_authenticate_header")
    if header is None or header == "":
        header = challenge + parameters(status)
    elif not callable(header):
        header = _header_text(where, header, challenge)

    async def error(c: Context[Any, Any]) -> HTTPException:
        text = header
        if callable(text):
            found = await call(text, c)
            # It may hold what the client sent; a space at the end must not become a 500.
            found = found.strip(" \t\r\n") if isinstance(found, str) else found
            text = _header_text(where, found, challenge)
        return await build_refusal(c, message, status, {"WWW-Authenticate": text})

    return Failure(status, error)


def _checked_status(name: str, status: Any) -> int:
    if isinstance(status, bool) or not isinstance(status, int):
        raise TypeError(f"bearer_auth: {name}['status'] is {status!r:.100}, expected an int")
    if not 400 <= status <= 499:
        raise ValueError(f"bearer_auth: {name}['status'] is {status}, expected 400 to 499")
    return status


def _phrase(status: int) -> str:
    if status in _PHRASES:
        return _PHRASES[status]
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:  # a non-standard status
        return "Unauthorized"


def _header_text(where: str, value: Any, challenge: str) -> str:
    if isinstance(value, str):
        if not value or not is_field_value(value):
            raise ValueError(
                f"bearer_auth: {where} {value!r:.100} can't be sent in a header: "
                "expected latin-1 text without control characters or surrounding spaces"
            )
        if _CHALLENGE.match(value) is None:
            raise ValueError(
                f"bearer_auth: {where} {value!r:.100} is no challenge: expected a scheme before "
                "the parameters, as in 'Bearer realm=\"api\"' (RFC 9110, section 11.6.1)"
            )
        return value
    if not isinstance(value, Mapping):
        raise TypeError(
            f"bearer_auth: {where} is {type(value).__name__}, expected a str, a mapping, or a "
            "function that returns one of them"
        )
    pairs = []
    for key, each in value.items():
        if not isinstance(key, str) or not is_token(key):
            raise ValueError(
                f"bearer_auth: {where} has the key {key!r:.100}: expected a token such as 'error'"
            )
        pairs.append(f"{key}={quoted(where, str(each))}")
    return challenge + ",".join(pairs)
