# SPDX-License-Identifier: MIT
"""The jobs of the app, which `taskiq worker jobs:broker` carries out in processes of its own."""

from __future__ import annotations

import os

from taskiq_redis import RedisAsyncResultBackend, RedisStreamBroker

redis_url = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379")
# A stream, since a job is given to another worker there if the one that took it doesn't finish it.
broker = RedisStreamBroker(redis_url).with_result_backend(
    RedisAsyncResultBackend(redis_url, result_ex_time=3600)
)


@broker.task
async def make_report(name: str) -> dict[str, object]:
    """Runs at least once: doing it again must change nothing."""
    return {"name": name, "made_by": os.getpid()}
