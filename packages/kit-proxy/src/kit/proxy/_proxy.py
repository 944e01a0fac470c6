# SPDX-License-Identifier: MIT
"""`proxy`: passes one request on to a URL."""

from __future__ import annotations

from collections.abc import AsyncIterable
from ssl import SSLContext
from types import EllipsisType
from typing import Any, Unpack, cast

import httpx

from kit.authoring.instrumentation import split_target
from kit.authoring.options import OptionChecks
from kit.http.fields import is_token
from kit.interface import Context, Request
from kit.web import Response

from ._client import default_client
from ._exchange import Target, pass_on
from ._options import Options, ProxyOptions, check_options
from ._target import append_path, encode_path, parse_base, parse_url

__all__ = ("proxy", "send_on")

_CHECK = OptionChecks("proxy")
_DEFAULTS = check_options("proxy")


async def proxy(
    c: Context[Any, Any],
    url: str,
    /,
    *,
    path: str | None = None,
    method: str | None = None,
    body: bytes | AsyncIterable[bytes] | EllipsisType | None = ...,
    **options: Unpack[ProxyOptions],
) -> Response:
    """Passes a request on to a URL, and returns the response; a WebSocket handshake as well.

    Method, header fields and body are those of the request, except for fields of its connection.
    The query is that of the URL. Redirects aren't followed.

    Use `reverse_proxy` or `path` to pass on paths. In an f-string, a `/` must follow the host, as
    in `f"http://backend{c.req.path}"`: without it, a client could continue the host.

    Args:
        c: The context.
        url: An absolute `http` or `https` URL. Its path may be decoded, as `c.req.path` is. Never
            let a client choose its host.
        path: Appended to the path of the URL, which then has no query: the request has that of the
            client. It can't change the host, nor lead out of the path of the URL. Default: nothing
            is appended.
        method: The method. Default: that of the request.
        body: The body, None for none. Default: that of the request, even if it was read.
        **options: See `reverse_proxy`. Without `client`, each request has its own connection.

    Returns:
        The response, as soon as its head has arrived; its body is streamed.

    Raises:
        HTTPException: 400 if the path has dot segments or control characters, in any encoding; 501
            for CONNECT and TRACE; 502 if the upstream server can't be reached, or its response is
            invalid; 503 if all connections are in use; 504 if it takes too long.
        TypeError: If an option has the wrong type.
        ValueError: If the URL or an option can't be used.

    SPEC: RFC 9110, section 7.6.
    """
    checked = check_options("proxy", **options) if options else _DEFAULTS
    check = _CHECK
    check.text("url", url)
    if method is not None and not is_token(check.text("method", method)):
        check.unusable("method", method, "a method such as 'POST'")
    if body is not ... and body is not None and not isinstance(body, (bytes, AsyncIterable)):
        check.wrong_type("body", body, "bytes, an async iterable of bytes, or None")
    if path is None:
        target = Target(parse_url(url))
    else:
        base = parse_base(url)
        rest = encode_path(check.text("path", path))
        query = split_target(c.req.raw)[1] or None
        target = Target(append_path(base, rest, query))
    client = checked.client or default_client.get()
    return await send_on(
        c, c.req.raw, target, client, checked, method=method or c.req.method, body=body
    )


async def send_on(
    c: Context[Any, Any],
    request: Request,
    target: Target,
    client: httpx.AsyncClient,
    options: Options,
    *,
    method: str,
    body: Any = ...,
    ssl_context: SSLContext | None = None,
) -> Response:
    """Passes on a request or a handshake.

    Args:
        c: The context.
        request: The request, `c.req.raw` or the one that a mount has derived from it.
        target: Where it is sent.
        client: The client that sends it.
        options: The options.
        method: The method.
        body: The body; `...` for that of the request.
        ssl_context: The TLS configuration of WebSocket connections; None for the default.
    """
    if (request.scope or {}).get("type") == "websocket":
        from ._websocket import relay  # most requests open no connection

        return cast(Response, await relay(c, request, target, options, ssl_context))
    length = None
    if body is ...:
        # If a handler has read the body, `c.req` has kept it.
        body = await c.req.bytes() if request.body_used else request.body
        # SPEC: RFC 9112, section 6.3: Transfer-Encoding overrides Content-Length.
        is_stream = body is not None and not isinstance(body, bytes)
        if is_stream and "transfer-encoding" not in request.headers:
            length = request.headers.get("content-length")
    # An app has only this class of responses; a package names it so that apps can as well.
    response = await pass_on(c, request, method, body, length, target, client, options)
    return cast(Response, response)
