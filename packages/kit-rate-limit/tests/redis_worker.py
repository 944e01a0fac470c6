# SPDX-License-Identifier: MIT
"""Counts as fast as it can, and prints what was allowed: FILE URL STRATEGY LIMIT SECONDS."""

from __future__ import annotations

import asyncio
import json
import sys
import time

from kit.rate_limit import Limit, RedisStore


async def main(url: str, strategy: str, limit: str, seconds: str) -> None:
    store = RedisStore(url, timeout=30)
    count = store.counter("all", (Limit(int(limit), 1),), strategy)  # type: ignore[arg-type]
    await count("warm up", 1)
    print("ready", flush=True)
    sys.stdin.readline()
    allowed = []
    end = time.time() + int(seconds)
    while (before := time.time()) < end:
        state = await count("client", 1)
        if state.allowed:
            allowed.append((before, time.time(), state.windows[0].remaining))
    await store.close()
    print(json.dumps(allowed))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
