# SPDX-License-Identifier: MIT
"""Connections to Redis, which neither come from the client's pool nor retry commands.

A PUBLISH retried by redis-py could arrive twice, and a retried SUBSCRIBE would hide the messages
lost in between.
"""

from __future__ import annotations

import asyncio
from typing import Any

from kit.authoring.redis import connect

from ._errors import ChannelsUnavailableError

__all__ = ("BINARY", "Connector")

BINARY = b"\xff"
"""Begins the payload of a message of bytes; it never occurs in UTF-8."""


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
        from redis.exceptions import RedisError

        try:
            async with asyncio.timeout(self.timeout_s):
                return await connect(self._pool)
        except TimeoutError:
            raise ChannelsUnavailableError(
                f"Redis did not answer within {self.timeout_s:g} s"
            ) from None
        except (RedisError, OSError) as error:
            raise ChannelsUnavailableError(f"No connection to Redis: {error}") from error
