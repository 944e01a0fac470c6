# SPDX-License-Identifier: MIT
"""An app for many workers on many machines: shared state is in Redis, jobs go to a queue."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from jobs import broker, make_report, redis_url
from redis.asyncio import Redis

from kit import Context, HTTPException, Kit, Response
from kit.channels import Channels, ChannelsUnavailableError, RedisBackend
from kit.health import health
from kit.rate_limit import RedisStore as RateLimitStore
from kit.rate_limit import rate_limit
from kit.session import get_session, session
from kit.session.redis import RedisStore
from kit.streaming import SSEStreamingApi, stream_sse

LIMIT = os.environ.get("RATE_LIMIT", "600/minute")
READY_S = 1.0

sessions = RedisStore(redis_url)
channels = Channels(RedisBackend(redis_url))
redis: Redis = Redis.from_url(redis_url, socket_timeout=READY_S, socket_connect_timeout=READY_S)


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[None]:
    """Opens the connections of a worker: its only state."""
    async with AsyncExitStack() as stack:
        stack.push_async_callback(redis.aclose)
        await stack.enter_async_context(channels.lifespan(app))
        await broker.startup()
        stack.push_async_callback(broker.shutdown)
        await sessions.open()
        stack.push_async_callback(sessions.close)
        yield


app: Kit[Any, Any] = Kit(lifespan=lifespan)


async def redis_answers() -> None:
    """Raises an exception if Redis can't be reached."""
    await redis.ping()


# A machine that fails /livez is replaced. One that fails /readyz gets no requests.
app.use(health({"redis": redis_answers}, timeout=READY_S))

# One proxy, which sets X-Forwarded-For to the address of the client.
limiter = rate_limit(LIMIT, name="api", store=RateLimitStore(redis_url), trusted_hops=1)
app.use("/visits", limiter, session(store=sessions, secure=False))
app.use("/reports/*", limiter)


@app.get("/visits")
async def visits(c: Context[Any, Any]) -> Response:
    found = await get_session(c)
    return c.json({"count": found.get("count", 0), "worker": os.getpid()})


def one_more(data: dict[str, Any]) -> None:
    data["count"] = data.get("count", 0) + 1


@app.post("/visits")
async def visit(c: Context[Any, Any]) -> Response:
    found = await get_session(c)
    found.update(one_more)
    with suppress(ChannelsUnavailableError):  # the visit counts even if nobody is notified
        await channels.publish("visits", str(found["count"]))
    return c.json({"count": found["count"], "worker": os.getpid()}, 201)


@app.get("/events")
async def events(c: Context[Any, Any]) -> Response:
    """Streams all visits, whichever worker handled them."""

    async def send(out: SSEStreamingApi) -> None:
        async with channels.subscribe("visits") as subscription:
            await out.write_sse("", event="subscribed")
            async for message in subscription:
                await out.write_sse(str(message))

    return stream_sse(c, send, keep_alive=15)


@app.post("/reports/:name")
async def order(c: Context[Any, Any]) -> Response:
    task = await make_report.kiq(c.req.param("name", str))
    return c.json({"id": task.task_id}, 202)


@app.get("/reports/:id")
async def report(c: Context[Any, Any]) -> Response:
    backend = broker.result_backend
    if not await backend.is_result_ready(c.req.param("id", str)):
        raise HTTPException(404, "not done")
    result = await backend.get_result(c.req.param("id", str))
    result.raise_for_error()
    return c.json(result.return_value)
