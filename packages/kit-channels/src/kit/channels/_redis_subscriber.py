# SPDX-License-Identifier: MIT
"""The connection to Redis that receives."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from kit.authoring.redis import disconnect

from ._backend import Receiver
from ._errors import ChannelsUnavailableError
from ._redis_connections import BINARY, Connector

__all__ = ("Subscriber",)

_logger = logging.getLogger("kit")

_FIRST_BACKOFF_S = 0.05
# The number of commands sent together.
_MOST_AT_ONCE = 512
# The number of messages delivered before other tasks get to run and read them.
_MOST_IN_A_ROW = 64


class _Command(NamedTuple):
    """A command to the server.

    Attributes:
        name: Its name.
        channel: Its channel; None for a PING.
    """

    name: bytes
    channel: str | None = None

    def parts(self, prefix: bytes) -> tuple[bytes, ...]:
        """Returns the command as it is sent."""
        return (self.name,) if self.channel is None else (self.name, prefix + self.channel.encode())


_SUBSCRIBE = b"SUBSCRIBE"
_UNSUBSCRIBE = b"UNSUBSCRIBE"
_PING = (_Command(b"PING"),)
# Everything else that is a list was not asked for.
_REPLIES = (b"subscribe", b"unsubscribe", b"pong")


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
        self._write_timeout_s = min(ping_interval_s, connector.timeout_s)
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
        self._commands: deque[_Command] = deque()
        # The commands that were sent on this connection, in order; each gets one reply.
        self._sent: deque[_Command] = deque()
        # Channels that the server has refused after a reconnection, and when they are tried again.
        self._refused: dict[str, asyncio.TimerHandle] = {}
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
            ChannelsUnavailableError: If it isn't confirmed in time, or the server refuses it.
        """
        loop = asyncio.get_running_loop()
        futures = []
        for channel in channels:
            future: asyncio.Future[None] = loop.create_future()
            futures.append(future)
            self._wanted[channel] = None
            self._unanswered.setdefault(channel, deque()).append([future])
            self._commands.append(_Command(_SUBSCRIBE, channel))
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
                if not future.cancel() and not future.cancelled():
                    future.exception()  # asyncio would log one that nobody has looked at

    def unsubscribe(self, channel: str) -> None:
        """Ends the subscription to a channel."""
        self._wanted.pop(channel, None)
        self._confirmed.discard(channel)
        self._interrupted.discard(channel)
        self._forget_refusal(channel)
        if channel in self._unanswered:
            self._ended[channel] = len(self._unanswered[channel])
        self._commands.append(_Command(_UNSUBSCRIBE, channel))
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
            for channel in list(self._refused):
                self._forget_refusal(channel)
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
            await disconnect(connection)
            self._interrupted |= self._confirmed

    def _begin_again(self) -> None:
        """Builds the commands for a new connection: subscriptions to the needed channels only."""
        groups = self._unanswered
        self._unanswered = {
            channel: deque([[future for group in groups.get(channel, ()) for future in group]])
            for channel in self._wanted
        }
        self._ended.clear()
        self._sent.clear()
        self._commands = deque(_Command(_SUBSCRIBE, channel) for channel in self._wanted)
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
            commands: list[_Command] = []
            while self._commands and len(commands) < _MOST_AT_ONCE:
                commands.append(self._commands.popleft())
            if not self._commands:
                self._arrival.clear()
            # If the connection is lost, the receiving task notices and rebuilds the commands.
            await self._write(self._connection, commands)

    async def _write(self, connection: Any, commands: Sequence[_Command]) -> bool:
        """Sends commands; returns False if the connection is lost, or doesn't take them in time."""
        from redis.exceptions import RedisError

        # redis-py would reconnect on its own.
        if not commands or connection is None or not connection.is_connected:
            return False
        packed = connection.pack_commands([each.parts(self._prefix) for each in commands])
        # redis-py writes before any other task runs, so the replies come in this order.
        self._sent.extend(commands)
        try:
            # Once the buffer is full, a server that hangs takes no more.
            async with asyncio.timeout(self._write_timeout_s):
                await connection.send_packed_command(packed, check_health=False)
        except (RedisError, OSError):
            return False
        return True

    async def _receive(self, connection: Any) -> None:
        from redis.exceptions import ResponseError

        in_a_row = 0
        is_asked = False
        while True:
            try:
                answer = await connection.read_response(
                    disable_decoding=True,
                    timeout=self._ping_interval_s,
                    disconnect_on_error=False,
                    push_request=True,
                )
            except ResponseError as error:
                answer = error
            if answer is None:
                if is_asked or not await self._write(connection, _PING):
                    raise ChannelsUnavailableError("Redis stopped responding")
                is_asked = True
                continue
            is_asked = False
            self._take(answer)
            in_a_row += 1
            if in_a_row == _MOST_IN_A_ROW:
                in_a_row = 0
                await asyncio.sleep(0)

    def _take(self, answer: Any) -> None:
        if isinstance(answer, list) and answer[0] == b"message":
            _, name, payload = answer
            channel = name[len(self._prefix) :].decode()
            # Other messages belong to an earlier subscription that has ended.
            if channel in self._confirmed:
                self._receiver.deliver(channel, _parse_message(payload))
        elif not isinstance(answer, list) or answer[0] in _REPLIES:
            if not self._sent:
                raise ChannelsUnavailableError(f"Redis sent an unexpected reply: {answer}")
            command = self._sent.popleft()
            if command.name != _SUBSCRIBE or command.channel is None:
                # Even an error shows that the server is there.
                return
            if isinstance(answer, Exception):
                self._refuse(command.channel, answer)
            else:
                self._confirm(command.channel)

    def _confirm(self, channel: str) -> None:
        group, is_current = self._answered(channel)
        if is_current:
            self._confirmed.add(channel)
        self._forget_refusal(channel)
        if channel in self._interrupted:
            self._interrupted.discard(channel)
            self._receiver.interrupted(channel)
        for future in group:
            if not future.done():
                future.set_result(None)

    def _refuse(self, channel: str, error: Exception) -> None:
        group, is_current = self._answered(channel)
        text = f"Redis refused the subscription to {channel!r}: {error}"
        for future in group:
            if not future.done():
                # Each task gets its own exception, since a traceback belongs to one task.
                refusal = ChannelsUnavailableError(text)
                refusal.__cause__ = error
                future.set_exception(refusal)
        if is_current and channel in self._interrupted:
            # The server accepted it before, on another connection, and may do so again.
            if not self._forget_refusal(channel):
                _logger.warning("Channels: %s. Trying again", text)
            loop = asyncio.get_running_loop()
            self._refused[channel] = loop.call_later(self._max_backoff_s, self._try_again, channel)

    def _forget_refusal(self, channel: str) -> bool:
        """Returns whether the server had refused the channel."""
        timer = self._refused.pop(channel, None)
        if timer is not None:
            timer.cancel()
        return timer is not None

    def _try_again(self, channel: str) -> None:
        if channel not in self._unanswered:
            self._unanswered[channel] = deque([[]])
            self._commands.append(_Command(_SUBSCRIBE, channel))
            self._arrival.set()

    def _answered(self, channel: str) -> tuple[list[asyncio.Future[None]], bool]:
        """Takes note of the reply to a SUBSCRIBE.

        Returns:
            The tasks that wait for it, and whether it belongs to a subscription that still exists.
        """
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
        return group, channel in self._wanted and not ended


def _parse_message(payload: bytes) -> str | bytes:
    if payload[:1] == BINARY:
        return payload[1:]
    try:
        return payload.decode()
    except UnicodeDecodeError:  # published by another program
        return payload
