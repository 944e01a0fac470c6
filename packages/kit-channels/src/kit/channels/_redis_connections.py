# SPDX-License-Identifier: MIT
"""The two connections to Redis: one publishes, one receives.

Neither comes from the client's pool, and neither retries commands: a PUBLISH retried by redis-py
could arrive twice, and a retried SUBSCRIBE would hide the messages lost in between.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ._backend import Receiver
from ._errors import ChannelsUnavailableError

_logger = logging.getLogger("kit")

_BINARY = b"\xff"
_FIRST_BACKOFF_S = 0.05
_CANCEL_AGAIN_S = 0.1
# Concurrently published messages are sent together; their replies are read before more are sent.
_MOST_AT_ONCE = 512
# The number of messages delivered before other tasks get to run and read them.
_MOST_IN_A_ROW = 64


class _Waiting(NamedTuple):
    """A message waiting to be published."""

    channel: bytes
    payload: bytes
    future: asyncio.Future[None]


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
            await close(connection)

    async def publish(self, channel: str, message: str | bytes) -> None:
        """Publishes a message, and waits for the server to confirm it.

        Raises:
            ChannelsUnavailableError: If the server doesn't confirm it.
        """
        payload = message.encode() if isinstance(message, str) else _BINARY + message
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
        if connection is not None and not await _is_usable(connection):
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


async def _is_usable(connection: Any) -> bool:
    """Whether an idle connection is open at both ends, as far as is known."""
    if not connection.is_connected:
        return False
    # `can_read` (redis-py 8 and later) and its predecessor report both data and the end.
    can_read = getattr(connection, "can_read", None) or connection.can_read_destructive
    try:
        return not await can_read()
    except Exception:
        return False


def _fail(batch: Sequence[_Waiting], error: ChannelsUnavailableError) -> None:
    for each in batch:
        if not each.future.done():
            # Each task gets its own exception, since a traceback belongs to one task.
            failure = ChannelsUnavailableError(*error.args)
            failure.__cause__ = error.__cause__
            each.future.set_exception(failure)


class Subscriber:
    """Receives messages, and reconnects when the connection is lost.

    Args:
        connector: Creates the connection.
        prefix: Prefix of channel names.
        receiver: Receives the messages.
        ping_interval_s: Seconds without a message after which the server is pinged.
        max_backoff_s: Maximum delay between attempts to connect.
    """

    def __init__(
        self,
        connector: Connector,
        prefix: bytes,
        receiver: Receiver,
        ping_interval_s: float,
        max_backoff_s: float,
    ) -> None:
        self._connector = connector
        self._prefix = prefix
        self._receiver = receiver
        self._ping_interval_s = ping_interval_s
        self._max_backoff_s = max_backoff_s
        self._connection: Any = None
        # The channels that this process needs, in order.
        self._wanted: dict[str, None] = {}
        # The channels that the server has confirmed, on this connection or the previous one.
        self._confirmed: set[str] = set()
        # The waiting tasks of each SUBSCRIBE that was sent but not yet confirmed.
        self._unanswered: dict[str, deque[list[asyncio.Future[None]]]] = {}
        # How many of these belong to subscriptions that have ended.
        self._ended: dict[str, int] = {}
        # Channels for which to report a gap after resubscribing.
        self._interrupted: set[str] = set()
        # The commands to send, in order.
        self._commands: deque[tuple[bytes, str]] = deque()
        self._arrival = asyncio.Event()
        self._is_back = asyncio.Event()

    async def connect(self) -> None:
        """Connects for the first time.

        Raises:
            ChannelsUnavailableError: If the server can't be reached.
        """
        self._connection = await self._connector.connect()

    async def subscribe(self, channels: Sequence[str]) -> None:
        """Subscribes to channels, and waits for confirmation.

        Raises:
            ChannelsUnavailableError: If it isn't confirmed in time.
        """
        loop = asyncio.get_running_loop()
        futures = []
        for channel in channels:
            future: asyncio.Future[None] = loop.create_future()
            futures.append(future)
            self._wanted[channel] = None
            self._unanswered.setdefault(channel, deque()).append([future])
            self._commands.append((b"SUBSCRIBE", channel))
        self._arrival.set()
        try:
            async with asyncio.timeout(self._connector.timeout_s):
                for future in futures:
                    await future
        except TimeoutError:
            raise ChannelsUnavailableError(
                f"Redis did not answer within {self._connector.timeout_s:g} s; not subscribed"
            ) from None
        finally:
            for future in futures:
                future.cancel()

    def unsubscribe(self, channel: str) -> None:
        """Ends the subscription to a channel."""
        self._wanted.pop(channel, None)
        self._confirmed.discard(channel)
        self._interrupted.discard(channel)
        if channel in self._unanswered:
            self._ended[channel] = len(self._unanswered[channel])
        self._commands.append((b"UNSUBSCRIBE", channel))
        self._arrival.set()

    async def run(self) -> None:
        """Receives until it is cancelled."""
        attempts = 0
        try:
            while True:
                try:
                    if self._connection is None:
                        self._connection = await self._connector.connect()
                        self._begin_again()
                        _logger.info("Channels: connected to Redis again")
                    attempts = 0
                    await self._converse()
                except ChannelsUnavailableError as error:
                    if attempts == 0:
                        _logger.warning("Channels: %s. Connecting again", error)
                    await self.disconnect()
                    self._is_back.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._backoff(attempts)):
                            await self._is_back.wait()
                    attempts += 1
        finally:
            await self.disconnect()
            for groups in self._unanswered.values():
                for future in [future for group in groups for future in group]:
                    if not future.done():
                        future.set_exception(ChannelsUnavailableError("The channels have ended"))

    def hurry(self) -> None:
        """Skips the delay before the next attempt to connect, since the server is available."""
        self._is_back.set()

    def _backoff(self, attempts: int) -> float:
        longest = min(self._max_backoff_s, _FIRST_BACKOFF_S * 2 ** min(attempts, 16))
        # Different in each process, so that they don't all reconnect at the same time.
        return float(longest * random.uniform(0.5, 1))  # noqa: S311 - not secret

    async def disconnect(self) -> None:
        """Closes the connection, and records which channels may miss messages."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await close(connection)
            self._interrupted |= self._confirmed

    def _begin_again(self) -> None:
        """Builds the commands for a new connection: subscriptions to the needed channels only."""
        groups = self._unanswered
        self._unanswered = {
            channel: deque([[future for group in groups.get(channel, ()) for future in group]])
            for channel in self._wanted
        }
        self._ended.clear()
        self._commands = deque((b"SUBSCRIBE", channel) for channel in self._wanted)
        if self._commands:
            self._arrival.set()

    async def _converse(self) -> None:
        """Receives messages until the connection is lost.

        Raises:
            ChannelsUnavailableError: When it is lost.
        """
        from redis.exceptions import RedisError

        try:
            await self._receive(self._connection)
        except (RedisError, OSError) as error:
            raise ChannelsUnavailableError(f"The connection to Redis was lost: {error}") from error

    async def send_commands(self) -> None:
        """Sends waiting commands until it is cancelled."""
        while True:
            await self._arrival.wait()
            commands: list[tuple[bytes, ...]] = []
            while self._commands and len(commands) < _MOST_AT_ONCE:
                name, channel = self._commands.popleft()
                commands.append((name, self._prefix + channel.encode()))
            if not self._commands:
                self._arrival.clear()
            await self._write(self._connection, commands)

    async def _write(self, connection: Any, commands: list[tuple[bytes, ...]]) -> None:
        from redis.exceptions import RedisError

        # If the connection is lost, the receiving task notices and rebuilds the commands. redis-py
        # would reconnect on its own.
        if commands and connection is not None and connection.is_connected:
            packed = connection.pack_commands(commands)
            with suppress(RedisError, OSError):
                await connection.send_packed_command(packed, check_health=False)

    async def _receive(self, connection: Any) -> None:
        in_a_row = 0
        is_asked = False
        while True:
            answer = await connection.read_response(
                disable_decoding=True,
                timeout=self._ping_interval_s,
                disconnect_on_error=False,
                push_request=True,
            )
            if answer is None:
                if is_asked:
                    raise ChannelsUnavailableError("Redis stopped responding")
                await self._write(connection, [(b"PING",)])
                is_asked = True
                continue
            is_asked = False
            self._take(answer)
            in_a_row += 1
            if in_a_row == _MOST_IN_A_ROW:
                in_a_row = 0
                await asyncio.sleep(0)

    def _take(self, answer: Any) -> None:
        # All other replies are pongs and confirmations of UNSUBSCRIBE.
        if not isinstance(answer, list) or len(answer) != 3:
            return
        kind, name, payload = answer
        if kind == b"message":
            channel = self._channel_of(name)
            # Other messages belong to an earlier subscription that has ended.
            if channel in self._confirmed:
                self._receiver.deliver(channel, _message_of(payload))
        elif kind == b"subscribe":
            self._confirm(self._channel_of(name))

    def _channel_of(self, name: bytes) -> str:
        return name[len(self._prefix) :].decode()

    def _confirm(self, channel: str) -> None:
        groups = self._unanswered.get(channel)
        if groups:
            group = groups.popleft()
            if not groups:
                del self._unanswered[channel]
        else:
            group = []
        ended = self._ended.pop(channel, 0)
        if ended > 1:
            self._ended[channel] = ended - 1
        if channel in self._wanted and not ended:
            self._confirmed.add(channel)
        if channel in self._interrupted:
            self._interrupted.discard(channel)
            self._receiver.interrupted(channel)
        for future in group:
            if not future.done():
                future.set_result(None)


def _message_of(payload: bytes) -> str | bytes:
    if payload[:1] == _BINARY:
        return payload[1:]
    try:
        return payload.decode()
    except UnicodeDecodeError:  # published by another program
        return payload
