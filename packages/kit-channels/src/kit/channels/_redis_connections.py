# SPDX-License-Identifier: MIT
"""Connections to Redis, which neither come from the client's pool nor retry commands.

A PUBLISH retried by redis-py could arrive twice, and a retried SUBSCRIBE would hide the messages
lost in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ._errors import ChannelsUnavailableError

__all__ = ("BINARY", "Connector", "close", "end")

BINARY = b"\xff"
"""Begins the payload of a message of bytes; it never occurs in UTF-8."""

_CANCEL_AGAIN_S = 0.1


class Connector:
    """Creates connections.

    Args:
        pool: The pool with the settings.
        timeout_s: Timeout for connecting and for each reply.
    """

    def __init__(self, pool: Any, timeout_s: float) -> None:
        self._pool = pool
        self.timeout_s = timeout_s

    async def connect(self) -> Any:
        """Returns an open connection.

        Raises:
            ChannelsUnavailableError: If it can't connect in time.
        """
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
        from redis.exceptions import RedisError

        connection = self._pool.make_connection()
        connection.retry = Retry(NoBackoff(), 0)
        # All timeouts are applied here, since redis-py uses `asyncio.wait_for`, which can lose a
        # cancellation before Python 3.12.
        connection.socket_timeout = None
        try:
            async with asyncio.timeout(self.timeout_s):
                await connection.connect()
        except TimeoutError:
            await close(connection)
            raise ChannelsUnavailableError(
                f"Redis did not answer within {self.timeout_s:g} s"
            ) from None
        except (RedisError, OSError) as error:
            await close(connection)
            raise ChannelsUnavailableError(f"No connection to Redis: {error}") from error
        except BaseException:
            await close(connection)
            raise
        return connection


async def close(connection: Any) -> None:
    """Closes a connection, without waiting for the server."""
    with suppress(Exception):
        await connection.disconnect(nowait=True)


async def end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancels tasks until they have ended.

    Once isn't enough while redis-py connects: it uses `asyncio.wait_for`, which can lose a
    cancellation before Python 3.12.
    """
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=_CANCEL_AGAIN_S)
