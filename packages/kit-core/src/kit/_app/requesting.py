# SPDX-License-Identifier: MIT
"""Builds the request of `Kit.request`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from kit._support.json import encode
from kit.http.paths import merge_path
from kit.web import Headers, Request, RequestInit
from kit.web._url import text_of_url


def build_request(
    input: Any, init: RequestInit | None, keywords: Mapping[str, Any], json: Any
) -> Request:
    """Builds a request.

    Args:
        input: A path, a URL, or a request.
        init: The method, headers and body.
        keywords: The same as keyword arguments; None if not given.
        json: A value to encode as the body; None: no body.

    Raises:
        TypeError: If the input is neither a path, a URL nor a request, if a part is given twice,
            unknown or of the wrong type, or if a GET or HEAD request is given a body.
        ValueError: If the URL, the method or a header is invalid.
    """
    call = f"request({input!r:.100}, ...)"
    if init is not None and not isinstance(init, Mapping):
        raise TypeError(
            f"{call}: init is a mapping such as {{'method': 'POST'}}, not {init!r:.100}"
        )
    source = input if isinstance(input, Request) else None
    parts = _merged(call, init, keywords)
    body = parts.get("body")
    if json is not None and body is not None:
        raise TypeError(f"{call} was given body and json: a request has one body")
    method = parts.get("method")
    if method is None:
        method = source.method if source else "GET"
    if not isinstance(method, str):
        raise TypeError(f"{call}: method is a str such as 'POST', not {method!r:.100}")
    method = method.upper()
    if method in ("GET", "HEAD") and (json is not None or body is not None):
        raise TypeError(f"{call} is a {method} request, which can't have a body: add method='POST'")
    if json is not None:
        parts["body"] = encode(json)
        parts["headers"] = _headers_of_json(source, parts)
    merged = cast("RequestInit", parts)
    if source is not None:
        return Request(source, **merged) if merged else source
    url = text_of_url("request()", input, "a path such as '/books', a URL or a Request")
    if not url.startswith(("http://", "https://")):
        url = "http://localhost" + merge_path("/", url)
    return Request(url, **merged)


def check_fetch(request: object, env: object, execution_ctx: object) -> None:
    """Checks the arguments of `Kit.fetch`.

    Raises:
        TypeError: If one of them has the wrong type.
    """
    if not isinstance(request, Request):
        raise TypeError(
            f"fetch() takes a Request, not {request!r:.100}: for a path or a URL write request(...)"
        )
    if env is not None and not isinstance(env, Mapping):
        raise TypeError(f"fetch() takes env as a mapping for c.env, not {env!r:.100}")
    if execution_ctx is not None and not hasattr(execution_ctx, "wait_until"):
        raise TypeError(
            "fetch() takes execution_ctx as an ExecutionContext, which has wait_until(), not "
            f"{execution_ctx!r:.100}"
        )


def _merged(call: str, init: RequestInit | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {**(init or {})}
    for name in parts:
        if name not in keywords:
            raise TypeError(f"{call}: init has {', '.join(keywords)}, not {name!r}")
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
