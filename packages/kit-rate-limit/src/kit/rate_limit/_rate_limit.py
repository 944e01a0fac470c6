# SPDX-License-Identifier: MIT
"""The middleware, which counts a request, and calls the next handler or refuses the request."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, NamedTuple, TypeAlias

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import describe
from kit.interface import AnyContext, AsyncMiddleware, Context, HandlerError, Next, Response
from kit.interface.metadata import attach

from ._clients import Client, client_finder, key_text, read_networks
from ._failing import OnStoreError, guarded
from ._fields import field_writer, policy_names, quota_exceeded, retry_after
from ._limits import Limit, read_limits
from ._memory import MemoryStore
from ._stores import RateLimitState, Store, Strategy

Key: TypeAlias = Callable[[AnyContext], str | int | Awaitable[str | int | None] | None]
"""Returns the key that a request counts towards: `def key(c)`, plain or async."""

Cost: TypeAlias = int | Callable[[AnyContext], int | Awaitable[int]]
"""The cost of a request, or a function `(c)`, plain or async, that returns it."""

Exempt: TypeAlias = (
    Iterable[str | IPv4Address | IPv6Address | IPv4Network | IPv6Network]
    | Callable[[AnyContext], bool | Awaitable[bool]]
)
"""Networks whose clients aren't limited, or a function `(c)`, plain or async, returning a bool."""

OnLimit: TypeAlias = Callable[[AnyContext, RateLimitState], Response | Awaitable[Response]]
"""Returns the response to a request over a limit: `def on_limit(c, state)`, plain or async."""

_VARIABLE = "rate_limit"
# For limiters in memory without a name; the space distinguishes it from given names.
_numbers = itertools.count(1)


def rate_limit(
    *limits: str | Limit | Iterable[str | Limit],
    key: Key | None = None,
    strategy: Strategy = "fixed",
    store: Store | None = None,
    name: str | None = None,
    cost: Cost = 1,
    exempt: Exempt | None = None,
    trusted_hops: int = 0,
    ipv6_prefix: int = 64,
    headers: bool = True,
    on_limit: OnLimit | None = None,
    on_store_error: OnStoreError = "refuse",
) -> AsyncMiddleware:
    """Returns middleware that limits how many requests a client may send in a period of time.

    A request within all limits counts towards each of them; a request over any limit is refused
    with 429 (RFC 6585, section 4), and counts towards none. All responses, including refusals, have
    the fields RateLimit-Policy and RateLimit; refusals also have Retry-After.

    There are two strategies for windows:

    - `fixed`: a window starts with the first request of a client, and the next one with the first
      request after its end. Around the end of a window, a client can send twice the limit.
    - `sliding`: the window always ends now. No period of its length has more requests than the
      limit. Quota is available again after the length of the window, or up to a tenth of it later.

    Every request that reaches the middleware is counted, whatever its method. To leave out CORS
    preflights, register kit-cors first: it handles them.

    Handlers read the state of the innermost limiter, a `RateLimitState`, with
    `c.get("rate_limit")`; it is None for a request that isn't limited. The middleware declares the
    type of the state and its statuses, see `kit.interface.metadata`.

    Args:
        *limits: Strings such as `100/minute`, `5 per 10 seconds` or `1000/day`, `Limit` objects, or
            lists of them. Their windows must differ in length.
        key: Function `(c)`, plain or async, that returns the key that the request counts towards, a
            str or an int, such as the id of a user. If it returns None, the client's address
            counts, as without `key`. All addresses of an IPv6 network (`ipv6_prefix`) are one
            client; clients with an unknown address count together.
        strategy: How windows move: `fixed` or `sliding`.
        store: Keeps the counters. Default: a new `MemoryStore`, for one process.
        name: Name of the limiter, in the fields and in the store. Limiters with the same name and
            store share counters for windows of the same length. Without a name, a limiter shares no
            counters in a `MemoryStore`. In another store, all limiters without a name and with the
            same limits share counters, in all processes.
        cost: How much of the limits a request uses, or a function `(c)`, plain or async, that
            returns it. A request with cost 0 isn't counted; a request that costs more than a limit
            allows is always refused.
        exempt: Clients that aren't limited: a list of addresses and networks, or a function `(c)`,
            plain or async, that returns a bool, whether a request is exempt.
        trusted_hops: How many proxies are between the clients and the app; the client's address
            then comes from X-Forwarded-For, see `kit.conninfo.forwarded_conn_info`. With 0, it is
            the address that the server reports.
        ipv6_prefix: How many bits of an IPv6 address make one client, 1 to 128.
        headers: Whether responses have RateLimit-Policy and RateLimit, and refusals list the names
            of the policies. Retry-After is always sent.
        on_limit: Function `(c, state)`, plain or async, that returns the response to a request over
            a limit. Retry-After is added to it. Default: a `ProblemError` with status 429, which
            the app's `on_error` can handle.
        on_store_error: What to do with requests while the store fails: `refuse` them with 503,
            `allow` them without limit, or count them in the `memory` of each process.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If an option has the wrong type. At a request: if `key`, `cost` or `exempt`
            returns something other than documented.
        ValueError: If there is no limit, or an option is invalid, or conflicts with another one.
            At a request: if `cost` returns a negative number.

    Example:
        app.use("/api/*", rate_limit("10/second", "1000/hour"))
    """
    check = OptionChecks("rate_limit")
    checked = read_limits(check, limits)
    _check_counting(check, key, strategy, cost, checked)
    check.number("trusted_hops", trusted_hops, least=0, most=100)
    check.number("ipv6_prefix", ipv6_prefix, least=1, most=128, unit="bits")
    check.flag("headers", headers)
    if on_limit is not None:
        check.function("on_limit", on_limit, "(c, state)")
    check.choice("on_store_error", on_store_error, ("refuse", "allow", "memory"))
    networks, is_exempt = _exemptions(check, exempt)
    kept = _checked_store(check, store, name)
    count: Any = kept.counter(name or _default_name(kept, checked), checked, strategy)

    names = policy_names(name, checked)
    write = field_writer(names, checked) if headers else None
    parts = _Parts(
        client_finder(trusted_hops, networks, ipv6_prefix),
        write,
        _refuser(on_limit, names if headers else None, write),
    )
    is_plain = key is None and is_exempt is None and not callable(cost)
    # A subclass may be slow, or fail.
    if is_plain and type(kept) is MemoryStore:
        limiter = _by_address(parts, count, cost)
    else:
        careful = guarded(count, on_store_error, checked, strategy)
        by_key = key and _by_key(check, key, parts.client)
        limiter = _by_functions(parts, careful, by_key, is_exempt, cost)
    responses = {} if on_limit is not None else {429: "Too many requests"}
    if not isinstance(kept, MemoryStore) and on_store_error == "refuse":
        responses[503] = "Requests can't be counted"
    return attach(limiter, provides={_VARIABLE: RateLimitState}, responses=responses)


class _Parts(NamedTuple):
    """The parts that both forms of the middleware share.

    Attributes:
        client: Returns the key of the client by its address, and whether it is exempt.
        write: Adds the fields to the response; None to leave them out.
        refuse: Returns the response to a request over a limit.
    """

    client: Callable[[Any], Client]
    write: Callable[[Any, RateLimitState], None] | None
    refuse: Callable[[Any, RateLimitState], Awaitable[Response | None]]


def _by_address(parts: _Parts, count: Any, cost: Any) -> AsyncMiddleware:
    """Returns the middleware that counts only in memory, by address."""
    client, write, refuse = parts

    # PERF: one coroutine with plain calls.
    async def rate_limit(c: Context[Any, Any], next: Next) -> Response | None:
        text, is_free = client(c)
        if is_free:
            await next()
            return None
        state = count(text, cost)
        c.set(_VARIABLE, state)
        if not state.allowed:
            return await refuse(c, state)
        await next()
        if write is not None:
            write(c, state)
        return None

    return rate_limit


def _by_functions(
    parts: _Parts, count: Any, by_key: Any, is_exempt: Any, cost: Any
) -> AsyncMiddleware:
    """Returns the middleware that calls functions of the app, or a remote store."""
    client, write, refuse = parts

    async def rate_limit(c: Context[Any, Any], next: Next) -> Response | None:
        text, is_free = client(c) if by_key is None else await by_key(c)
        if not is_free and is_exempt is not None:
            is_free = _checked_exempt(await call(is_exempt, c))
        state = None
        if not is_free:
            used = _checked_cost(await call(cost, c)) if callable(cost) else cost
            state = await count(text, used)
        if state is not None:
            c.set(_VARIABLE, state)
            if not state.allowed:
                return await refuse(c, state)
        await next()
        # Afterwards, so that handlers and mounted apps can't set other values.
        if state is not None and write is not None:
            write(c, state)
        return None

    return rate_limit


def _by_key(
    check: OptionChecks, key: Any, client: Callable[[Any], Client]
) -> Callable[[Any], Awaitable[Client]]:
    """Returns the function that identifies a client by the option `key`."""

    async def by_key(c: Context[Any, Any]) -> Client:
        by_address = client(c)
        if by_address[1]:
            return by_address
        found = await call(key, c)
        return by_address if found is None else (key_text(check, found), False)

    return by_key


def _refuser(
    on_limit: OnLimit | None,
    names: list[str] | None,
    write: Callable[[Any, RateLimitState], None] | None,
) -> Callable[[Any, RateLimitState], Awaitable[Response | None]]:
    async def refuse(c: Context[Any, Any], state: RateLimitState) -> Response | None:
        if on_limit is None:
            if write is not None:
                write(c, state)
            raise quota_exceeded(state, names)
        response = await call(on_limit, c, state)
        if not hasattr(response, "headers"):
            raise HandlerError(
                describe(on_limit),
                f"returned {response!r:.100} as the response of rate_limit(): return a Response",
            )
        # Through the context, so as not to change a response that the app keeps.
        c.res = response
        c.header("Retry-After", str(retry_after(state)))
        if write is not None:
            write(c, state)
        return None

    return refuse


def _check_counting(
    check: OptionChecks, key: Any, strategy: Any, cost: Any, limits: tuple[Limit, ...]
) -> None:
    """Checks the options for counting requests."""
    if key is not None:
        check.function("key", key, "(c)")
    check.choice("strategy", strategy, ("fixed", "sliding"))
    if callable(cost):
        check.function("cost", cost, "(c)")
        return
    # A higher cost would refuse every request.
    check.number("cost", cost, least=1, most=min(limit.amount for limit in limits))


def _exemptions(check: OptionChecks, exempt: Any) -> tuple[tuple[Any, ...], Any]:
    """Returns the exempt networks, and the function that exempts requests, or None."""
    if exempt is None:
        return (), None
    if callable(exempt):
        return (), check.function("exempt", exempt, "(c)")
    if isinstance(exempt, (str, bytes)) or not isinstance(exempt, Iterable):
        check.wrong_type("exempt", exempt, "a list of networks, or a function (c)")
    return read_networks(check, exempt), None


def _checked_store(check: OptionChecks, store: Any, name: Any) -> Store:
    if name is not None:
        check.text("name", name, r"[A-Za-z0-9_.-]{1,64}", "a name such as 'login'")
    if store is None:
        return MemoryStore()
    if isinstance(store, type) or not callable(getattr(store, "counter", None)):
        check.wrong_type(
            "store",
            store,
            "a MemoryStore, a RedisStore, StorageStore(...) for a storage of limits, or an object "
            "with a method counter",
        )
    kept: Store = store
    return kept


def _default_name(store: Store, limits: tuple[Limit, ...]) -> str:
    """Returns the name that the store uses for a limiter without a name.

    A store that several processes share needs a name that is the same in all of them. Some storages
    allow no space, so a slash distinguishes it from given names.
    """
    if isinstance(store, MemoryStore):
        return f"limiter {next(_numbers)}"
    return ",".join(f"{limit.amount}/{limit.seconds}" for limit in limits)


def _checked_exempt(is_free: Any) -> bool:
    # APPSEC: many other values are truthy but mean no, such as a dict with the result.
    if not isinstance(is_free, bool):
        raise TypeError(f"rate_limit(exempt=...) returned {is_free!r:.100}: expected a bool")
    return is_free


def _checked_cost(cost: Any) -> int:
    if isinstance(cost, bool) or not isinstance(cost, int):
        raise TypeError(f"rate_limit(cost=...) returned {cost!r:.100}: expected an int")
    if cost < 0:
        raise ValueError(f"rate_limit(cost=...) returned {cost}: expected at least 0")
    return cost
