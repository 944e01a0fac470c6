# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.cache import (
    Cache,
    Entry,
    Key,
    MemoryStore,
    RequestView,
    SharedStore,
    Store,
    Stored,
    Variants,
    cache,
    decode,
    encode,
)
from kit.cache.sqlite import SQLiteStore
from kit.interface import AsyncMiddleware, Context


async def tenant(c: Context[Any, Any]) -> str:
    return c.req.header("x-tenant") or ""


assert_type(cache(), Cache)
middleware: AsyncMiddleware = cache(cache_name=tenant, key_generator=lambda c: c.req.path)
store: Store = MemoryStore(max_size=1024)
store = SQLiteStore("cache.db")
shared: SharedStore = SQLiteStore("cache.db")
assert_type(shared.for_request(), RequestView)
assert_type(cache(store=store, vary=["Accept"], cache_control="max-age=60", wait=True), Cache)
assert_type(decode(b""), Stored | None)
assert_type(encode(Variants(("accept",))), bytes)


async def purge(made: Cache, entry: Entry) -> None:
    await made.purge("/books", cache_name="pages")
    await made.purge_all()
    await store.set(Key("a", "/", ""), entry, 60.0)
    assert_type(await store.get(Key("a", "/", "")), Stored | None)


cache(wait="yes")  # type: ignore
cache(store=7)  # type: ignore
