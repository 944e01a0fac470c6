# SPDX-License-Identifier: MIT
"""The HTTP clients that send requests to upstream servers."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from kit.authoring.event_loops import running_trio

__all__ = ("UpstreamClient", "default_client")

_KEEP_ALIVE_S = 60.0


class UpstreamClient:
    """The client of a reverse proxy: the user's, or one of its own.

    Its own client keeps connections open while the lifespan of the app runs. Without a lifespan, as
    in a test, nothing would close them: each request then has its own connection.

    Args:
        client: The user's client, which the user closes; None for an own one.
        max_connections: How many connections the own client opens at a time; None: no limit.
        ssl_context: The TLS configuration of the own client; None for that of httpx.

    Attributes:
        ssl_context: The TLS configuration.
    """

    def __init__(
        self,
        client: httpx.AsyncClient | None = None,
        *,
        max_connections: int | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._given = client
        self._max_connections = max_connections
        self.ssl_context = ssl_context
        self._pooled: httpx.AsyncClient | None = None
        # A client stays with the kind of event loop that has first used it: asyncio's or trio's.
        self._single: dict[bool, httpx.AsyncClient] = {}
        self._users = 0

    def get(self) -> httpx.AsyncClient:
        """Returns the client to use now."""
        client = self._given or self._pooled
        if client is not None:
            return client
        is_trio = running_trio() is not None
        if is_trio not in self._single:
            self._single[is_trio] = self._create(keeps_alive=False)
        return self._single[is_trio]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keeps connections open within the block. It may be entered several times."""
        if self._given is None and self._users == 0:
            self._pooled = self._create(keeps_alive=True)
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            client = self._pooled
            if self._users == 0 and client is not None:
                self._pooled = None
                await client.aclose()

    def _create(self, *, keeps_alive: bool) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            # APPSEC: neither a proxy nor passwords from the environment: those are for other
            # requests than a client's.
            trust_env=False,
            verify=True if self.ssl_context is None else self.ssl_context,
            limits=httpx.Limits(
                max_connections=self._max_connections,
                max_keepalive_connections=None if keeps_alive else 0,
                keepalive_expiry=_KEEP_ALIVE_S,
            ),
            # APPSEC: the cookies belong to the clients; here they would only take memory.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )


default_client = UpstreamClient()
"""The client of `proxy` if the caller has none: it keeps no connection open."""
