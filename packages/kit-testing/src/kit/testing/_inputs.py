# SPDX-License-Identifier: MIT
"""The options of a test client call, and the request that they make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypedDict
from urllib.parse import urlencode

from kit.cookie import format_cookie
from kit.testing._errors import did_you_mean
from kit.web import Blob, BodyInit, FormData, Headers, Request, Response

URLENCODED = "application/x-www-form-urlencoded"

Values: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]


class RequestOptions(TypedDict, total=False):
    """Keyword options of a test client call.

    `param`, `query`, `form`, `headers` and `cookies` are mappings; all but `param` may also be
    pairs of name and value, and may have lists as values. Values other than str are written as in
    JSON: `True` as `true`, a date in ISO format, an enum as its value. None leaves a name out.

    Attributes:
        param: Parameters of the path, if the call names a route; `*` is the part that a wildcard
            matches.
        query: Parameters of the query, after those in the path; a list repeats a name.
        json: The body, sent as JSON: anything that `Context.json` takes, but None means no body.
        form: The body, sent as a form: as multipart if it is a FormData or contains a File or
            Blob, else urlencoded.
        content: The body as it is: str, bytes, or an (async) iterable of them, which is streamed.
        headers: Headers, which replace the client's headers of the same name; a list sends several
            lines, None removes the client's header.
        cookies: Cookies for this request, encoded as `set_cookie` does; they replace those that the
            client keeps of the same name, and None leaves one of these out.
        follow_redirects: Whether to follow redirects within the app, at most 20. Default: that of
            the client.
        header: Another name of `headers`.
        cookie: Another name of `cookies`.
    """

    param: Mapping[str, Any] | None
    query: Values | None
    json: Any
    form: Values | FormData | None
    content: BodyInit | None
    headers: Values | None
    cookies: Values | None
    follow_redirects: bool
    header: Values | None
    cookie: Values | None


class WebSocketOptions(TypedDict, total=False):
    """Keyword options of `ws()`; all but `protocols` are as in `RequestOptions`.

    Attributes:
        param: Parameters of the path, if the call names a route.
        query: Parameters of the query.
        headers: Headers, e.g. `{"origin": "https://example.com"}`. By default no Origin is sent.
        cookies: Cookies for this handshake.
        protocols: The subprotocols to offer.
        header: Another name of `headers`.
        cookie: Another name of `cookies`.
    """

    param: Mapping[str, Any] | None
    query: Values | None
    headers: Values | None
    cookies: Values | None
    protocols: list[str]
    header: Values | None
    cookie: Values | None


# Other names of options.
_SYNONYMS = {"header": "headers", "cookie": "cookies"}


def read_options(call: str, options: Mapping[str, Any], known: Iterable[str]) -> Any:
    """Checks that a call takes all the given options, and returns them by their first names.

    Raises:
        TypeError: If an option is unknown, or is given by two names.
    """
    names = [name for name in known if name not in _SYNONYMS]
    read: dict[str, Any] = {}
    for given, value in options.items():
        name = _SYNONYMS.get(given, given)
        if name not in names:
            raise TypeError(
                f"{call}: there is no keyword {given!r}, but {', '.join(names)}."
                + did_you_mean(name, names)
            )
        if name in read:
            raise TypeError(f"{call}: {name} is given twice, as {name!r} and as {name[:-1]!r}")
        read[name] = value
    return read


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
    """Appends the query to a path or URL, unless it is empty."""
    written = urlencode(_text_pairs("query", query))
    if not written:
        return path
    path, _, fragment = path.partition("#")
    joined = f"{path}{'&' if '?' in path else '?'}{written}"
    return f"{joined}#{fragment}" if fragment else joined


def build_headers(given: Values | None) -> Headers:
    """Returns the headers of a client.

    Raises:
        ValueError: If a header is invalid.
    """
    headers = Headers()
    _set_headers(headers, given)
    return headers


class Call(NamedTuple):
    """A request, and what the client has to know besides.

    Attributes:
        request: The request, without the cookies that the client keeps.
        follows: Whether redirects are followed.
        without: Names of cookies that the client doesn't add.
    """

    request: Request
    follows: bool
    without: frozenset[str]


def build_call(
    method: str, url: str, defaults: Headers, options: RequestOptions, *, follows: bool
) -> Call:
    """Returns the request of a call.

    Args:
        method: Its method.
        url: Its URL.
        defaults: The headers of the client.
        options: The options of the call; `url` already contains its `param`.
        follows: Whether redirects are followed unless the call says otherwise.

    Raises:
        TypeError: If a value has the wrong type, there is more than one body, or GET or HEAD has
            one.
        ValueError: If the URL, the method, a header or a cookie is invalid.
    """
    headers = Headers(defaults)
    body, content_type = _build_body(options)
    if body is not None:
        headers.delete("content-type")  # the client's default doesn't describe this body
    _set_headers(headers, options.get("headers"))
    if content_type and not headers.has("content-type"):
        headers.set("content-type", content_type)
    own = headers.get_all("cookie")
    given = list_pairs("cookies", options.get("cookies"))
    cookies = [format_cookie(*pair) for pair in _texts("cookies", given)]
    if cookies:
        headers.set("cookie", "; ".join([*own, *cookies]))
    in_headers = (pair.partition("=")[0].strip() for line in own for pair in line.split(";"))
    without = frozenset((*(name for name, _ in given), *in_headers))
    sent, _, _ = with_query(url, options.get("query")).partition("#")  # as a browser sends it
    request = Request(sent, method=method, headers=headers, body=body)
    return Call(request, options.get("follow_redirects", follows), without)


def _build_body(options: RequestOptions) -> tuple[Any, str | None]:
    """Returns the body, and its content type if the body doesn't imply one."""
    given = [name for name in ("json", "form", "content") if options.get(name) is not None]
    if len(given) > 1:
        raise TypeError(f"A request has one body: give {' or '.join(given)}, not both")
    if not given:
        return None, None
    value: Any = options.get(given[0])
    if given == ["json"]:
        return encode(value), "application/json"
    if given == ["content"]:
        if isinstance(value, dict):
            raise TypeError("content takes str, bytes or an iterable of them; give a dict as json")
        return value, None
    return _build_form(value)


def _build_form(form: Any) -> tuple[Any, str | None]:
    if isinstance(form, FormData):
        return form, None
    entries = [
        (name, value if isinstance(value, Blob) else as_text(value, f"The form field {name!r}"))
        for name, value in list_pairs("form", form)
        if value is not None
    ]
    if any(isinstance(value, Blob) for _, value in entries):
        return FormData(entries), None
    return urlencode(entries).encode(), URLENCODED


def _text_pairs(what: str, given: Values | None) -> list[tuple[str, str]]:
    return _texts(what, list_pairs(what, given))


def _texts(what: str, pairs: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [
        (name, as_text(value, f"The {what.removesuffix('s')} {name!r}"))
        for name, value in pairs
        if value is not None
    ]


def _set_headers(headers: Headers, given: Values | None) -> None:
    """Sets headers, replacing those of the same name."""
    pairs = list_pairs("headers", given)
    for name, _ in pairs:
        headers.delete(name)
    for name, value in pairs:
        if value is not None:
            headers.append(name, as_text(value, f"The header {name!r}"))


def list_pairs(what: str, given: Any) -> list[tuple[str, Any]]:
    """Returns names and values in order, with one pair for each item of a list.

    Raises:
        TypeError: If it is neither a mapping nor pairs.
    """
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
