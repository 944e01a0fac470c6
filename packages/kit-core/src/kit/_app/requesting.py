# SPDX-License-Identifier: MIT
"""The request that `Kit.request` builds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from kit._support.json import encode
from kit.interface.paths import merge_path
from kit.web import Headers, Request, RequestInit


def build_request(
    input: Any, init: RequestInit | None, keywords: Mapping[str, Any], json: Any
) -> Request:
    """Builds a request.

    Args:
        input: A path, a URL, or a request.
        init: The method, headers and body.
        keywords: The same as keyword arguments; None if not given.
        json: A value to encode as the body; None for none.

    Raises:
        TypeError: If a part is given twice or unknown, or a GET or HEAD request is given a body.
        ValueError: If the URL, the method or a header is invalid.
    """
    call = f"request({input!r:.100}, ...)"
    source = input if isinstance(input, Request) else None
    parts = _merged(call, init, keywords)
    body = parts.get("body")
    if json is not None and body is not None:
        raise TypeError(f"{call} was given body and json: a request has one body")
    method = str(parts.get("method") or (source.method if source else "GET")).upper()
    if method in ("GET", "HEAD") and (json is not None or body is not None):
        raise TypeError(f"{call} is a {method} request, which can't have a body: add method='POST'")
    if json is not None:
        parts["body"] = encode(json)
        parts["headers"] = _headers_of_json(source, parts)
    merged = cast("RequestInit", parts)
    if source is not None:
        return Request(source, **merged) if merged else source
    url = str(input)
    if not url.startswith(("http://", "https://")):
        url = "http://localhost" + merge_path("/", url)
    return Request(url, **merged)


def _merged(call: str, init: RequestInit | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {**(init or {})}
    for name in parts:
        if name not in keywords:
            hint = "; json is a keyword: request(..., json=...)" if name == "json" else ""
            raise TypeError(f"{call}: init has {', '.join(keywords)}, not {name!r}{hint}")
    for name, value in keywords.items():
        if value is not None:
            if name in parts:
                raise TypeError(f"{call} was given {name} twice: in init and as a keyword")
            parts[name] = value
    return parts


def _headers_of_json(source: Request | None, parts: Mapping[str, Any]) -> Headers:
    if source is None or "headers" in parts:
        headers = Headers(parts.get("headers"))
    else:
        headers = Headers(source.headers)
        headers.delete("content-type")  # the type of the replaced body
    if not headers.has("content-type"):
        headers.set("content-type", "application/json")
    return headers
