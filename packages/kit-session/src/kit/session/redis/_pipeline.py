# SPDX-License-Identifier: MIT
"""One connection to Redis, over which concurrent callers send their commands together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from contextvars import Context
from typing import Any

from kit.authoring.redis import cancel_tasks, connect, disconnect, is_usable
from kit.session import SessionStoreError

__all__ = ("Pipeline",)

# The number of commands to send before reading replies.
_MOST_AT_ONCE = 256


class _Command:
    """A waiting command; the future has its reply, or the error."""

    __slots__ = ("future", "is_repeatable", "parts")

    def __init__(
        self, parts: Sequence[Any], is_repeatable: bool, future: asyncio.Future[Any]
    ) -> None:
        self.parts = parts
        self.is_repeatable = is_repeatable
        self.future = future

    def answer(self, answer: Any) -> None:
        """Resolves the future, unless the caller has given up."""
        if not self.future.done():
            self.future.set_result(answer)


class Pipeline:
    """Sends commands in order, connects on demand, and ends with its event loop.

    The connection isn't taken from the pool of the client. In redis-py, the overhead of a command
    costs more than the command, a cancelled task can lose a connection, and a repeated write could
    be done twice.

    Args:
        pool: The pool with the settings.
        timeout_s: How long connecting and each command may take.
    """

    def __init__(self, pool: Any, timeout_s: float) -> None:
        self._pool = pool
        self._timeout_s = timeout_s
        self._connection: Any = None
        self._waiting: deque[_Command] = deque()
        self._task: asyncio.Task[None] | None = None

    async def ask(self, *parts: Any, is_repeatable: bool = False) -> Any:
        """Returns the reply to a command.

        Args:
            *parts: The command.
            is_repeatable: Whether it may be sent again if the connection breaks before the reply.

        Raises:
            ResponseError: If the server refuses it.
            SessionStoreError: If there is no reply in time.
        """
        command = _Command(parts, is_repeatable, asyncio.get_running_loop().create_future())
        self._waiting.append(command)
        if self._task is None:
            # It works for all callers, so it must not have this caller's context variables.
            self._task = asyncio.create_task(
                self._run(), name="kit.session: Redis", context=Context()
            )
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await command.future
        except TimeoutError:
            raise _unusable(_late(self._timeout_s)) from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        """Disconnects; waiting commands fail."""
        # A caller may have started another one meanwhile.
        while self._task is not None and not self._task.done():
            await cancel_tasks([self._task])
        self._end([])
        await self._disconnect()

    async def _run(self) -> None:
        batch: list[_Command] = []
        try:
            # Others may have commands to send, or the server may have closed the connection.
            await asyncio.sleep(0)
            while self._waiting:
                batch = self._take()
                await self._send(batch)
        finally:
            # Some wait if this was cancelled.
            self._end(batch)

    def _end(self, batch: Sequence[_Command]) -> None:
        # A task that is cancelled before it has started never reaches its `finally`.
        self._task = None
        _fail([*batch, *self._waiting], "the store was closed")
        self._waiting.clear()

    def _take(self) -> list[_Command]:
        batch: list[_Command] = []
        while self._waiting and len(batch) < _MOST_AT_ONCE:
            command = self._waiting.popleft()
            if not command.future.done():
                batch.append(command)
        return batch

    async def _send(self, batch: list[_Command]) -> None:
        from redis.exceptions import RedisError

        is_new = False
        try:
            async with asyncio.timeout(self._timeout_s):
                is_new = await self._connect()
                await self._exchange(batch)
        except (RedisError, OSError) as error:
            await self._disconnect()
            if isinstance(error, TimeoutError):
                _fail(batch, _late(self._timeout_s))
            else:
                _fail(batch if is_new else self._put_back(batch), str(error))
        except BaseException:
            # No caller may read the reply to another caller's command.
            await self._disconnect()
            raise

    async def _connect(self) -> bool:
        """Connects, unless there is a working connection; returns whether it did."""
        if self._connection is not None:
            if await is_usable(self._connection):
                return False
            await self._disconnect()
        self._connection = await connect(self._pool)
        return True

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await disconnect(connection)

    async def _exchange(self, batch: list[_Command]) -> None:
        from redis.exceptions import ResponseError

        connection = self._connection
        packed = connection.pack_commands([command.parts for command in batch])
        await connection.send_packed_command(packed, check_health=False)
        for command in batch:
            try:
                answer = await connection.read_response(disable_decoding=True)
            except ResponseError as error:
                answer = error
            command.answer(answer)

    def _put_back(self, batch: list[_Command]) -> list[_Command]:
        """Sends repeatable commands again, once; returns the others."""
        again = [each for each in batch if each.is_repeatable and not each.future.done()]
        for each in again:
            each.is_repeatable = False
        self._waiting.extendleft(reversed(again))
        return [each for each in batch if each not in again]


def _fail(batch: Sequence[_Command], reason: str) -> None:
    for each in batch:
        # Each gets its own, since a traceback belongs to one task.
        each.answer(_unusable(reason))


def _unusable(reason: str) -> SessionStoreError:
    return SessionStoreError(f"Redis can't be used: {reason}")


def _late(timeout_s: float) -> str:
    return f"no reply within {timeout_s:g} s"
