# SPDX-License-Identifier: MIT
"""The jobs of the app. `taskiq worker jobs:broker` runs them in separate processes."""

from __future__ import annotations

import os

from taskiq_redis import RedisAsyncResultBackend, RedisStreamBroker

redis_url = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379")
# With a stream, another worker takes a job over if the first one doesn't finish it.
broker = RedisStreamBroker(redis_url).with_result_backend(
    RedisAsyncResultBackend(redis_url, result_ex_time=3600)
)


@broker.task
async def make_report(name: str) -> dict[str, object]:
    """Creates a report. May run more than once, so it must be idempotent."""
    return {"name": name, "made_by": os.getpid()}
