# SPDX-License-Identifier: MIT
"""One connection to Redis, over which concurrent callers send their commands together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from contextvars import Context
from typing import Any

from kit.session import SessionStoreError

__all__ = ("Pipeline",)

# So many commands are sent before answers are read.
_MOST_AT_ONCE = 256
_CANCEL_AGAIN_S = 0.1


class _Command:
    """A command that waits; the future has its answer, or the error."""

    __slots__ = ("future", "is_repeatable", "parts")

    def __init__(
        self, parts: Sequence[Any], is_repeatable: bool, future: asyncio.Future[Any]
    ) -> None:
        self.parts = parts
        self.is_repeatable = is_repeatable
        self.future = future

    def answer(self, answer: Any) -> None:
        """Ends the wait, unless the caller has given up."""
        if not self.future.done():
            self.future.set_result(answer)


class Pipeline:
    """Sends commands in their order, connects when it has to, and ends with its event loop.

    The connection isn't taken from the pool of the client. What redis-py does for a command costs
    more than the command, a task that is cancelled can take a connection along, and a write that
    redis-py repeats could be done twice.

    Args:
        pool: The pool that knows the settings.
        timeout_s: How long connecting may take, and each command.
    """

    def __init__(self, pool: Any, timeout_s: float) -> None:
        self._pool = pool
        self._timeout_s = timeout_s
        self._connection: Any = None
        self._waiting: deque[_Command] = deque()
        self._task: asyncio.Task[None] | None = None

    async def ask(self, *parts: Any, is_repeatable: bool = False) -> Any:
        """Returns the answer to a command.

        Args:
            *parts: The command.
            is_repeatable: Whether it may be sent again if the connection breaks before the answer.

        Raises:
            ResponseError: If the server refuses it.
            SessionStoreError: If there is no answer in time.
        """
        command = _Command(parts, is_repeatable, asyncio.get_running_loop().create_future())
        self._waiting.append(command)
        if self._task is None:
            # It works for all callers: it has none of this one's context variables.
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
        """Disconnects; commands that wait fail."""
        # Once is not enough if redis-py connects: it uses `asyncio.wait_for`, which before Python
        # 3.12 can lose a cancellation.
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_CANCEL_AGAIN_S)
        self._end([])
        await self._disconnect()

    async def _run(self) -> None:
        batch: list[_Command] = []
        try:
            # Others may have something to send, or the server may have closed the connection.
            await asyncio.sleep(0)
            while self._waiting:
                batch = self._take()
                await self._send(batch)
        finally:
            # Some wait if this was cancelled.
            self._end(batch)

    def _end(self, batch: Sequence[_Command]) -> None:
        # A task that is cancelled before it has begun comes to no `finally`.
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
            # Nobody may read the answer to the command of another one.
            await self._disconnect()
            raise

    async def _connect(self) -> bool:
        """Connects, unless there is a connection that works; returns whether it did."""
        if self._connection is not None:
            if await _is_usable(self._connection):
                return False
            await self._disconnect()
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        self._connection = connection = self._pool.make_connection()
        connection.retry = Retry(NoBackoff(), 0)
        connection.socket_timeout = None
        await connection.connect()
        return True

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                await connection.disconnect(nowait=True)

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
        """Has what may be sent again sent again, once; returns the others."""
        again = [each for each in batch if each.is_repeatable and not each.future.done()]
        for each in again:
            each.is_repeatable = False
        self._waiting.extendleft(reversed(again))
        return [each for each in batch if each not in again]


async def _is_usable(connection: Any) -> bool:
    """Whether an idle connection is open at both ends, as far as is known here."""
    # Both, of redis-py from 8 on and before, tell of data and of the end.
    can_read = getattr(connection, "can_read", None) or connection.can_read_destructive
    try:
        return not await can_read()
    except Exception:
        return False


def _fail(batch: Sequence[_Command], reason: str) -> None:
    for each in batch:
        # Each has its own, since a traceback belongs to one task.
        each.answer(_unusable(reason))


def _unusable(reason: str) -> SessionStoreError:
    return SessionStoreError(f"Redis can't be used: {reason}")


def _late(timeout_s: float) -> str:
    return f"no answer within {timeout_s:g} s"
