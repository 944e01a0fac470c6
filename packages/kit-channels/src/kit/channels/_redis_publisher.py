# SPDX-License-Identifier: MIT
"""The connection to Redis that publishes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kit.authoring.redis import disconnect, is_usable

from ._errors import ChannelsUnavailableError
from ._redis_connections import BINARY, Connector

__all__ = ("Publisher",)

# Concurrently published messages are sent together; their replies are read before more are sent.
_MOST_AT_ONCE = 512


class _Waiting(NamedTuple):
    """A message waiting to be published."""

    channel: bytes
    payload: bytes
    future: asyncio.Future[None]


class Publisher:
    """Publishes messages in order, each once.

    Args:
        connector: Creates the connection.
        prefix: Prefix of channel names.
        on_connect: Called when the connection is established.
    """

    def __init__(
        self, connector: Connector, prefix: bytes, on_connect: Callable[[], object]
    ) -> None:
        self._connector = connector
        self._on_connect = on_connect
        self._prefix = prefix
        self._connection: Any = None
        self._waiting: deque[_Waiting] = deque()
        self._arrival = asyncio.Event()

    async def connect(self) -> None:
        """Connects, unless it is already connected.

        Raises:
            ChannelsUnavailableError: If the server can't be reached.
        """
        if self._connection is None:
            self._connection = await self._connector.connect()
            self._on_connect()

    async def disconnect(self) -> None:
        """Closes the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await disconnect(connection)

    async def publish(self, channel: str, message: str | bytes) -> None:
        """Publishes a message, and waits for the server to confirm it.

        Raises:
            ChannelsUnavailableError: If the server doesn't confirm it.
        """
        payload = message.encode() if isinstance(message, str) else BINARY + message
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(self._prefix + channel.encode(), payload, future))
        self._arrival.set()
        try:
            async with asyncio.timeout(self._connector.timeout_s):
                await future
        except TimeoutError:
            raise ChannelsUnavailableError(
                f"Redis did not answer within {self._connector.timeout_s:g} s; the message may "
                "have been delivered or not"
            ) from None

    async def run(self) -> None:
        """Sends waiting messages until it is cancelled."""
        batch: list[_Waiting] = []
        try:
            while True:
                await self._arrival.wait()
                waiting = self._waiting
                while waiting and len(batch) < _MOST_AT_ONCE:
                    each = waiting.popleft()
                    if not each.future.done():  # otherwise no task is waiting for it
                        batch.append(each)
                if not waiting:
                    self._arrival.clear()
                await self._send(batch)
                batch = []
        finally:
            await self.disconnect()
            error = ChannelsUnavailableError("The channels have ended")
            _fail([*batch, *self._waiting], error)
            self._waiting.clear()

    async def _send(self, batch: list[_Waiting]) -> None:
        try:
            await self._exchange(batch)
        except ChannelsUnavailableError as error:
            await self.disconnect()
            _fail(batch, error)

    async def _exchange(self, batch: list[_Waiting]) -> None:
        from redis.exceptions import RedisError, ResponseError

        connection = self._connection
        # The server may have closed the connection while it was idle; no message is lost by that.
        if connection is not None and not await is_usable(connection):
            await self.disconnect()
        await self.connect()
        connection = self._connection
        try:
            packed = connection.pack_commands(
                [("PUBLISH", each.channel, each.payload) for each in batch]
            )
            async with asyncio.timeout(self._connector.timeout_s):
                await connection.send_packed_command(packed, check_health=False)
                for each in batch:
                    try:
                        await connection.read_response(disable_decoding=True)
                    except ResponseError as error:
                        refusal = ChannelsUnavailableError(f"Redis rejected a message: {error}")
                        _fail([each], refusal)
                    else:
                        if not each.future.done():
                            each.future.set_result(None)
        except (RedisError, OSError, TimeoutError) as error:
            raise ChannelsUnavailableError(
                "The connection to Redis was lost; the message may have been delivered or not: "
                f"{error}"
            ) from error


def _fail(batch: Sequence[_Waiting], error: ChannelsUnavailableError) -> None:
    for each in batch:
        if not each.future.done():
            # Each task gets its own exception, since a traceback belongs to one task.
            failure = ChannelsUnavailableError(*error.args)
            failure.__cause__ = error.__cause__
            each.future.set_exception(failure)
