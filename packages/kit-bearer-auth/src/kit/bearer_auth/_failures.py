# SPDX-License-Identifier: MIT
"""Builds the error responses for requests that fail authentication."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypedDict

from kit.interface import Context, HTTPException

# SPEC: RFC 9110 section 5.6.4: the characters of a quoted-string, including latin-1 obs-text.
_QUOTABLE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
# SPEC: RFC 9110 section 5.5: a field value; CR, LF or NUL would end the line.
_FIELD_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]+")
# SPEC: RFC 9110 section 11.2: the name of an auth-param is a token.
_PARAMETER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_KEYS = ("message", "www_authenticate_header")


class FailureOptions(TypedDict, total=False):
    """Response to one kind of failure. Absent keys and None select the default.

    Attributes:
        message: The body: a str is sent as text/plain, any other value as JSON; `""` is an empty
            body. A function, plain or async, is called with `c` and returns either of them.
        www_authenticate_header: The challenge: a str is sent unchanged, a mapping as `key="value"`
            pairs after the scheme; `""` selects the default, since a 401 needs a challenge (RFC
            9110 section 11.6.1). A function, plain or async, is called with `c` and returns either
            of them.
    """

    message: Any
    # Any lets the function annotate its context as the core's own class.
    www_authenticate_header: str | Mapping[str, object] | Callable[[Any], Any] | None


def quoted(what: str, value: str) -> str:
    """Returns `value` as a quoted-string (RFC 9110 section 5.6.4).

    Raises:
        ValueError: If it contains a control character or a character beyond latin-1.
    """
    if not _QUOTABLE.fullmatch(value):
        raise ValueError(
            f"bearer_auth: {what} {value!r:.100} can't be sent in a header: "
            "expected latin-1 text without control characters"
        )
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def prepare(
    name: str,
    options: FailureOptions | None,
    status: int,
    default_message: str,
    default_header: str,
    challenge: str,
) -> Callable[[Context[Any, Any]], Awaitable[HTTPException]]:
    """Checks the options for one kind of failure and returns a function that builds the error.

    Args:
        name: Name of the argument of `bearer_auth`, for error messages.
        options: The value of that argument.
        status: HTTP status code of the response.
        default_message: The body if the options set none.
        default_header: The WWW-Authenticate header if the options set none.
        challenge: The scheme and a space, put before key-value pairs, or an empty string.

    Returns:
        An async function that returns the exception to raise.

    Raises:
        TypeError: If the options are not a mapping, or a value has the wrong type.
        ValueError: If a key is unknown, or a header value is invalid.
    """
    message: Any = default_message
    header: Any = default_header
    where = f"{name}['www_authenticate_header']"
    if options is not None:
        _check_keys(name, options)
        if options.get("message") is not None:
            message = options["message"]
        if options.get("www_authenticate_header") not in (None, ""):
            header = options["www_authenticate_header"]
            if not callable(header):
                header = _header_text(where, header, challenge)

    async def failure(c: Context[Any, Any]) -> HTTPException:
        text = header
        if callable(text):
            text = _header_text(where, await _called(text, c), challenge)
        body = await _called(message, c) if callable(message) else message
        headers = {"WWW-Authenticate": text}
        if isinstance(body, str):
            return HTTPException(status, body, res=c.text(body, status, headers))
        return HTTPException(status, res=c.json(body, status, headers))

    return failure


def _check_keys(name: str, options: Mapping[str, Any]) -> None:
    if not isinstance(options, Mapping):
        raise TypeError(
            f"bearer_auth({name}=...) takes a mapping with {_KEYS[0]!r} and {_KEYS[1]!r}, "
            f"not {type(options).__name__}"
        )
    for key in options:
        if key not in _KEYS:
            raise ValueError(
                f"bearer_auth({name}=...) has the unknown key {key!r}: "
                f"expected {_KEYS[0]!r} or {_KEYS[1]!r}"
            )


def _header_text(where: str, value: Any, challenge: str) -> str:
    if isinstance(value, str):
        if not _FIELD_VALUE.fullmatch(value):
            raise ValueError(
                f"bearer_auth: {where} {value!r:.100} can't be sent in a header: "
                "expected latin-1 text without control characters"
            )
        return value
    if not isinstance(value, Mapping):
        raise TypeError(
            f"bearer_auth: {where} is {type(value).__name__}, expected a str, a mapping, or a "
            "function that gives one of them"
        )
    pairs = []
    for key, each in value.items():
        if not isinstance(key, str) or not _PARAMETER.fullmatch(key):
            raise ValueError(
                f"bearer_auth: {where} has the key {key!r:.100}: expected a token such as 'error'"
            )
        pairs.append(f"{key}={quoted(where, str(each))}")
    return challenge + ",".join(pairs)


async def _called(function: Callable[[Context[Any, Any]], Any], c: Context[Any, Any]) -> Any:
    result = function(c)
    return await result if hasattr(result, "__await__") else result
