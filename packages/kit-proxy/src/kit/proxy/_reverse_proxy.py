# SPDX-License-Identifier: MIT
"""`reverse_proxy`: a handler that passes on all requests below a path."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Unpack

from kit.authoring.instrumentation import split_target
from kit.authoring.options import OptionChecks
from kit.interface import Codecs, Context, Request
from kit.web import Response

from ._client import UpstreamClient
from ._exchange import Target
from ._location import rewrite_location as rewrite
from ._options import Options, ProxyOptions, check_options
from ._proxy import send_on
from ._rest import count_segments, split_path
from ._target import append_path, parse_base

__all__ = ("ReverseProxy", "reverse_proxy")


class ReverseProxy:
    """The handler that `reverse_proxy` returns.

    For `app.all`, `app.get` and so on, `app.use`, `app.not_found` and `app.mount`.
    """

    def __init__(
        self,
        base: Any,
        options: Options,
        client: UpstreamClient,
        *,
        keep_prefix: bool,
        rewrite_location: bool,
    ) -> None:
        self._base = base
        self._options = options
        self._client = client
        self._keeps_prefix = keep_prefix
        self._rewrites_location = rewrite_location
        self.__name__ = "reverse_proxy"

    async def __call__(self, c: Any, context: Any = None, /) -> Response:
        """Passes a request on.

        Args:
            c: The context; or the request, if a mount calls the handler.
            context: The context, if a mount calls the handler.

        Raises:
            HTTPException: See `proxy`.
        """
        if context is not None:
            pattern = context.matched_routes[context.req.route_index].path
            return await self._pass_on(context, c, self._count_segments(pattern))
        return await self._pass_on(c, c.req.raw, self._count_segments(_find_pattern(c)))

    def __kit_bind__(
        self, method: str, pattern: str, codecs: Codecs
    ) -> Callable[[Context[Any, Any]], Any]:
        """Checks the pattern of a route; see `kit.interface.hooks`."""
        if not self._keeps_prefix:
            count_segments(pattern)
        return self.__call__

    def __kit_options__(self, c: Context[Any, Any]) -> list[Any]:
        """Returns what a mount passes beside the request; see `kit.interface.hooks`."""
        return [c]

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Keeps connections to the upstream server open; an app enters it with its own lifespan."""
        async with self._client.running():
            yield

    __kit_lifespan__ = lifespan

    async def _pass_on(
        self, c: Context[Any, Any], request: Request, segments: int | None
    ) -> Response:
        prefix, rest = split_path(c, segments)
        query = split_target(c.req.raw)[1] or None
        url = append_path(self._base, rest, query)
        change = partial(rewrite, base=self._base, prefix=prefix)
        target = Target(url, prefix, change if self._rewrites_location else None)
        return await send_on(
            c,
            request,
            target,
            self._client.get(),
            self._options,
            method=c.req.method,
            ssl_context=self._client.ssl_context,
        )

    def _count_segments(self, pattern: str) -> int | None:
        return 0 if self._keeps_prefix else count_segments(pattern)

    def __repr__(self) -> str:
        return f"reverse_proxy({str(self._base)!r})"


def _find_pattern(c: Context[Any, Any]) -> str:
    """Returns the pattern of the running route."""
    routes, index = c.matched_routes, c.req.route_index
    # The handler of not_found has no route; the index may be that of a middleware before it.
    if index >= len(routes) or routes[index].takes_next:
        return "/*"
    return routes[index].path


def reverse_proxy(
    url: str,
    /,
    *,
    keep_prefix: bool = False,
    rewrite_location: bool = True,
    max_connections: int | None = 100,
    ssl_context: ssl.SSLContext | None = None,
    **options: Unpack[ProxyOptions],
) -> ReverseProxy:
    """Returns a handler that passes requests and WebSocket connections on to another server.

    The rest of the path, which the `*` of the pattern matches, is appended to the URL, and so is
    the query: at `/api/*`, `http://backend/v1` gets `/v1/users?page=2` for `/api/users?page=2`. A
    pattern without `*` leads to the URL itself. Nothing that a client sends changes scheme, host or
    port, or leads out of the path of the URL.

    Args:
        url: An absolute `http` or `https` URL without a query.
        keep_prefix: Whether the whole path is appended, not only the rest. Default: False.
        rewrite_location: Whether a redirect to a URL below `url` leads through the proxy. Default:
            True.
        max_connections: How many connections are open at a time; further requests wait for
            `connect_timeout`. None: no limit. Default: 100. A `client` has its own limit.
        ssl_context: The TLS configuration, e.g. with the certificate of a private authority.
            A `client` has its own; this one is then for WebSocket connections.
        **options: These are also options of `proxy`:

            `client`: the `httpx.AsyncClient` that sends the requests. Its transport, `auth` and
            hooks apply, its headers, cookies and timeouts don't. You close it. Default: an own one,
            which keeps connections open while the lifespan of the app runs.

            `headers`: fields to set in the request to the upstream server, e.g.
            `{"x-api-key": key, "cookie": None}`; None removes a field. Or a function `(c)`, plain
            or async, that returns them.

            `strict_connection_processing`: whether fields that Connection names are removed, as
            RFC 9110 requires. Default: True.

            `preserve_host`: whether the upstream server gets the client's Host. Default: False, the
            host of the URL.

            `add_forwarded`: whether to add Forwarded and X-Forwarded-For, -Host, -Proto and
            -Prefix. Default: True.

            `trust_forwarded`: whether to pass on such fields of the client, for a server that only
            a trusted proxy can reach. Default: False, they are removed.

            `via`: the name of this proxy in Via; None for no Via. Default: `kit`.

            `connect_timeout`: seconds until a connection is open. Default: 5. `read_timeout`:
            seconds that the upstream server may be silent, or not take data. Default: 60.
            `total_timeout`: seconds until the end of the response. Default: None, no limit. None
            for no limit.

            `max_message_size_bytes`: the largest WebSocket message of either side; a larger one
            closes the connection with 1009. None: no limit. Default: 16 MiB.

    Returns:
        The handler.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If the URL or an option can't be used.

    Example:
        app.all("/api/*", reverse_proxy("http://backend:8080/v1"))
    """
    check = OptionChecks("reverse_proxy")
    base = parse_base(check.text("url", url))
    checked = check_options("reverse_proxy", **options)
    if max_connections is not None:
        check.number("max_connections", max_connections, least=1, unit="connection")
    if ssl_context is not None and not isinstance(ssl_context, ssl.SSLContext):
        check.wrong_type("ssl_context", ssl_context, "an ssl.SSLContext")
    client = UpstreamClient(
        checked.client, max_connections=max_connections, ssl_context=ssl_context
    )
    return ReverseProxy(
        base,
        checked,
        client,
        keep_prefix=check.flag("keep_prefix", keep_prefix),
        rewrite_location=check.flag("rewrite_location", rewrite_location),
    )
