# SPDX-License-Identifier: MIT
"""The options of a test client call, and the request that they make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypedDict
from urllib.parse import urlencode

from kit.cookie import format_cookie
from kit.testing._errors import did_you_mean
from kit.web import Blob, FormData, Headers, Request, Response

ORIGIN = "http://localhost"
URLENCODED = "application/x-www-form-urlencoded"

Values: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]


class RequestOptions(TypedDict, total=False):
    """Keyword options of a test client call.

    Each but `json` is a mapping; all but `param` may also be pairs of name and value, and may have
    lists as values. Values other than str are written as in JSON: `True` as `true`, a date in ISO
    format, an enum as its value. None leaves a name out.

    Attributes:
        param: Parameters of the path; `*` is the part that a wildcard matches.
        query: Parameters of the query; a list repeats a name.
        json: The body, sent as JSON: anything that `Context.json` takes, but None means no body.
        form: The body, sent as a form: as multipart if it is a FormData or contains a File or
            Blob, else urlencoded.
        header: Headers, which replace the client's headers of the same name; a list sends several
            lines, None removes the client's header.
        cookie: Cookies, encoded as `set_cookie` does.
    """

    param: Mapping[str, Any] | None
    query: Values | None
    json: Any
    form: Values | FormData | None
    header: Values | None
    cookie: Values | None


class WebSocketOptions(TypedDict, total=False):
    """Keyword options of `ws()`; all but `protocols` are as in `RequestOptions`.

    Attributes:
        param: Parameters of the path.
        query: Parameters of the query.
        header: Headers, e.g. `{"origin": "https://example.com"}`. By default no Origin is sent.
        cookie: Cookies.
        protocols: The subprotocols to offer.
    """

    param: Mapping[str, Any] | None
    query: Values | None
    header: Values | None
    cookie: Values | None
    protocols: list[str]


def check_options(call: str, options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Checks that a call takes all the given options.

    Raises:
        TypeError: If an option is unknown.
    """
    names = list(known)
    for name in options:
        if name not in names:
            raise TypeError(
                f"{call}: there is no keyword {name!r}, but {', '.join(names)}."
                + did_you_mean(name, names)
            )


def encode(value: Any) -> bytes:
    """Encodes a value as `Context.json` does.

    Raises:
        TypeError: If the value contains something that can't be encoded.
    """
    body: Any = Response.json(value).body
    return bytes(body)


def as_text(value: Any, what: str) -> str:
    """Returns a value as text: a str unchanged, anything else as in JSON.

    Raises:
        TypeError: If it is not a single value.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")
    written = encode(value)
    if written[:1] == b'"':
        return str(json.loads(written))
    if written[:1] in b"[{" or written == b"null":
        raise TypeError(f"{what} must be a str or a single value, not {value!r:.100}")
    return written.decode()


def with_query(path: str, query: Values | None) -> str:
    """Appends the query to a path, unless it is empty."""
    written = urlencode(_text_pairs("query", query))
    return f"{path}?{written}" if written else path


def headers_of(given: Values | None) -> Headers:
    """Returns the headers of a client.

    Raises:
        ValueError: If a header is invalid.
    """
    headers = Headers()
    _set_headers(headers, given)
    return headers


def request_of(method: str, path: str, defaults: Headers, options: RequestOptions) -> Request:
    """Returns the request of a call.

    Args:
        method: Its method.
        path: Its encoded path, without a query.
        defaults: The headers of the client.
        options: The options of the call; `path` already contains its `param`.

    Raises:
        TypeError: If a value has the wrong type, both `json` and `form` are given, or GET or HEAD
            has either of them.
        ValueError: If the method, a header or a cookie is invalid.
    """
    headers = Headers(defaults)
    body, content_type = _body_of(options)
    if body is not None:
        headers.delete("content-type")  # the client's default doesn't describe this body
    _set_headers(headers, options.get("header"))
    if content_type and not headers.has("content-type"):
        headers.set("content-type", content_type)
    cookies = _cookie_pairs(options.get("cookie"))
    if cookies:
        headers.set("cookie", "; ".join([*headers.get_all("cookie"), *cookies]))
    url = ORIGIN + with_query(path, options.get("query"))
    return Request(url, method=method, headers=headers, body=body)


def _body_of(options: RequestOptions) -> tuple[Any, str | None]:
    """Returns the body, and its content type if the body doesn't imply one."""
    json_value, form = options.get("json"), options.get("form")
    if json_value is not None and form is not None:
        raise TypeError("A request has one body: give json or form, not both")
    if json_value is not None:
        return encode(json_value), "application/json"
    if form is None or isinstance(form, FormData):
        return form, None
    entries = [
        (name, value if isinstance(value, Blob) else as_text(value, f"The form field {name!r}"))
        for name, value in _pairs("form", form)
        if value is not None
    ]
    if any(isinstance(value, Blob) for _, value in entries):
        return FormData(entries), None
    return urlencode(entries).encode(), URLENCODED


def _cookie_pairs(cookies: Values | None) -> list[str]:
    if cookies is None:
        return []
    return [format_cookie(name, value) for name, value in _text_pairs("cookie", cookies)]


def _text_pairs(what: str, given: Values | None) -> list[tuple[str, str]]:
    return [
        (name, as_text(value, f"The {what} {name!r}"))
        for name, value in _pairs(what, given)
        if value is not None
    ]


def _set_headers(headers: Headers, given: Values | None) -> None:
    """Sets headers, replacing those of the same name."""
    pairs = _pairs("header", given)
    for name, _ in pairs:
        headers.delete(name)
    for name, value in pairs:
        if value is not None:
            headers.append(name, as_text(value, f"The header {name!r}"))


def _pairs(what: str, given: Any) -> list[tuple[str, Any]]:
    """Returns names and values in order, with one pair for each item of a list."""
    if given is None:
        return []
    items = list(given.items() if hasattr(given, "items") else given)
    pairs: list[tuple[str, Any]] = []
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2 or not isinstance(item[0], str):
            raise TypeError(
                f"{what} takes a mapping, or pairs of a str and a value, not {given!r:.100}"
            )
        name, value = item
        pairs += ((name, v) for v in (value if isinstance(value, (list, tuple)) else (value,)))
    return pairs
