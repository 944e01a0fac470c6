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
    """Returns middleware that stores responses and sends them again, as a shared cache.

    It follows RFC 9111: a response is stored if its Cache-Control or Expires says for how long it
    is fresh, and if nothing says that it is for one client alone. A request that finds it is
    answered without running what comes after the middleware, guards included: put those that have
    to run each time before it.

    Responses with `private`, `no-cache`, `no-store`, Set-Cookie or `Vary: *` are never stored, nor
    are those for which a handler used a session or a nonce. Those to requests with Authorization
    are stored if the handler says `public`, `must-revalidate` or `s-maxage`. Other middleware
    before the cache that has responses depend on a header calls `kit.interface.dependence`.

    Args:
        cache_name: Name of the cache, or a function `(c)`, plain or async, that returns it. Those
            of different names don't share anything in the store.
        store: Where responses are kept. Default: a `MemoryStore` of 64 MiB.
        wait: Wait until a response is stored before it is sent. Otherwise it is stored afterwards.
        cache_control: Directives to add to the Cache-Control of each response that may be stored,
            e.g. `max-age=60`. Those that it has itself are kept. Nothing is added if the request
            has Authorization.
        vary: Names of request headers that the responses depend on, to be added to Vary.
        key_generator: Function `(c)`, plain or async, that returns the key of a request. Default:
            scheme, host, path and query.
        cacheable_status_codes: The statuses that are stored.
        max_query_body_size: The largest body of a QUERY request, in bytes, whose response is
            stored. 0: none is.
        max_body_size: The largest body of a response, in bytes, that is stored.
        client_directives: Obey the Cache-Control of requests: `no-cache`, `max-age`, `min-fresh`
            and `max-stale`. Any client can then have the handlers run. `no-store` and
            `only-if-cached` are always obeyed.
        cache_status: Name of the cache in the header Cache-Status (RFC 9211); None for no header.
        app: The app that has the cache. A stale response with `stale-while-revalidate` is fetched
            from it in the background. Without it, the request waits for the new response.
        clock: Returns the time, in seconds since 1970-01-01 00:00:00 UTC; for tests.

    Returns:
        The middleware, for `app.use(...)`, which can also purge. Handlers find it with
        `c.get("cache")`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used.

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
