# SPDX-License-Identifier: MIT
"""The factory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from kit.interface import App
from kit.interface.metadata import attach

from ._cache import VARIABLE, Cache
from ._options import TextFunction, check_options
from ._store import Store


def cache(
    *,
    cache_name: str | TextFunction = "default",
    store: Store | None = None,
    wait: bool = False,
    cache_control: str | None = None,
    vary: str | Iterable[str] | None = None,
    key_generator: TextFunction | None = None,
    cacheable_status_codes: Iterable[int] = (200,),
    max_query_body_size: int = 64 * 1024,
    max_body_size: int = 1024 * 1024,
    client_directives: bool = False,
    cache_status: str | None = "Kit",
    app: App | None = None,
    clock: Callable[[], float] = time.time,
) -> Cache:
    """Returns middleware that acts as a shared cache: it stores responses and serves them again.

    It follows RFC 9111: a response is stored if its Cache-Control or Expires defines how long it is
    fresh, and if nothing restricts it to a single client. If a stored response is found, nothing
    registered after the middleware runs, guards included: register middleware that has to run for
    every request before it.

    Responses with `private`, `no-cache`, `no-store`, Set-Cookie or `Vary: *` are never stored, nor
    are responses for which a handler used a session or a nonce. Responses to requests with
    Authorization are stored if the handler sets `public`, `must-revalidate` or `s-maxage`. If other
    middleware before the cache makes responses depend on a header, it has to call `depend_on` of
    `kit.authoring.vary`.

    Args:
        cache_name: Name of the cache, or a function `(c)`, plain or async, that returns it. Caches
            with different names share nothing in the store.
        store: Where responses are kept. Default: a `MemoryStore` of 64 MiB.
        wait: Whether to store a response before it is sent. Otherwise it is stored afterwards.
        cache_control: Directives to add to the Cache-Control of each response that may be stored,
            e.g. `max-age=60`. Existing directives are kept. Nothing is added if the request has
            Authorization.
        vary: Names of request headers that the responses depend on, to add to Vary.
        key_generator: Function `(c)`, plain or async, that returns the key of a request. Default:
            scheme, host, path and query.
        cacheable_status_codes: The statuses to store.
        max_query_body_size: The largest QUERY request body, in bytes, for which a response is
            stored. 0 disables the cache for QUERY.
        max_body_size: The largest response body to store, in bytes.
        client_directives: Whether to obey `no-cache`, `max-age`, `min-fresh` and `max-stale` in
            the Cache-Control of requests, which let any client make the handlers run. `no-store`
            and `only-if-cached` are always obeyed.
        cache_status: Name of the cache in the Cache-Status header (RFC 9211); None omits it.
        app: The app that uses the cache. Stale responses with `stale-while-revalidate` are
            refreshed from it in the background. Without it, requests wait for the new response.
        clock: Returns the time, in seconds since 1970-01-01 00:00:00 UTC; for tests.

    Returns:
        The middleware, for `app.use(...)`; it also has methods to purge. Handlers can access it
        with `c.get("cache")`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid.

    Example:
        app.use("/books/*", cache(cache_control="max-age=60"))
    """
    made = Cache(
        check_options(
            cache_name=cache_name,
            store=store,
            wait=wait,
            cache_control=cache_control,
            vary=vary,
            key_generator=key_generator,
            cacheable_status_codes=cacheable_status_codes,
            max_query_body_size=max_query_body_size,
            max_body_size=max_body_size,
            client_directives=client_directives,
            cache_status=cache_status,
            app=app,
            clock=clock,
        )
    )
    return attach(made, provides={VARIABLE: Cache})
