# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any, assert_type

from kit.interface import AsyncMiddleware, Context, Next, Response
from kit.rate_limit import (
    Count,
    Limit,
    MemoryStore,
    RateLimitState,
    Store,
    Strategy,
    rate_limit,
)


def by_user(c: Context[Any, Any]) -> str | None:
    return c.req.header("x-user")


async def by_number(c: Context[Any, Any]) -> int:
    return 7


async def on_limit(c: Context[Any, Any], state: RateLimitState) -> Response:
    return c.text(f"{state.retry_after} {state.windows[0].limit.seconds}", 429)


class OwnStore:
    def counter(self, name: str, limits: tuple[Limit, ...], strategy: Strategy, /) -> Count:
        return MemoryStore().counter(name, limits, strategy)


store: Store = MemoryStore(max_keys=100)
few = rate_limit("5/minute", store=store)

assert_type(few, AsyncMiddleware)
assert_type(rate_limit("1/second", Limit(100, 60), ["1000/day"]), AsyncMiddleware)
assert_type(rate_limit("1/second", key=by_user, cost=by_number), AsyncMiddleware)
assert_type(rate_limit("1/second", key=by_number, on_limit=on_limit), AsyncMiddleware)
assert_type(rate_limit("1/second", key=lambda c: c.req.path, cost=lambda c: 2), AsyncMiddleware)
assert_type(rate_limit("1/second", exempt=["::1", ip_network("10.0.0.0/8")]), AsyncMiddleware)
assert_type(rate_limit("1/second", exempt=lambda c: c.req.method == "GET"), AsyncMiddleware)
assert_type(
    rate_limit("1/second", store=OwnStore(), name="a", on_store_error="memory"), AsyncMiddleware
)
rate_limit("1/second", strategy="moving")  # type: ignore
rate_limit(5)  # type: ignore


async def few_writes(c: Context[Any, Any], next: Next) -> Response | None:
    if c.req.method == "GET":
        await next()
        return None
    return await few(c, next)
