# SPDX-License-Identifier: MIT
"""Keeps sessions in Redis."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kit.authoring.options import OptionChecks
from kit.authoring.redis import PerLoop, check_pool
from kit.session import SessionStoreError
from kit.session.stores import SessionRecord

from ._pipeline import Pipeline
from ._scripts import DELETE, DELETE_LISTED, INSERT, REPLACE, TOUCH, Script

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ("RedisStore",)

_FIELDS = ("d", "v", "c", "e", "u", "l")


class RedisStore:
    """Keeps sessions in Redis (or Valkey), on asyncio.

    For an app on several machines. Each change is one Lua script, which the server runs atomically.
    It needs Redis 6 or later, a single server or Sentinel, not Cluster. The server must not evict
    keys (`maxmemory-policy noeviction`): `delete_user` finds sessions through an index, and can't
    find them without it.

    All commands of a process share one connection; concurrent commands are sent together. A write
    is sent only once: without a reply in time, or if the connection breaks, it raises
    `SessionStoreError`. The next command reconnects.

    Args:
        redis: The URL of a server, `redis://[[user]:password@]host[:port][/database]`, `rediss://`
            for TLS or `unix://path`; or a redis-py client, `redis.asyncio.Redis`, with its own
            settings, for TLS certificates or Sentinel. You have to close that client yourself.
        prefix: Prefix of all keys in Redis.
        timeout: How long a command may take, including the connection, in seconds.

    Raises:
        ImportError: If redis-py isn't installed: `pip install "kit-session[redis]"`.
        TypeError: If an argument has the wrong type.
        ValueError: If an argument can't be used.
    """

    def __init__(
        self,
        redis: str | Redis,
        *,
        prefix: str = "session:",
        timeout: float = 2.0,
    ) -> None:
        check = OptionChecks("RedisStore")
        pool = check_pool(check, redis, "kit-session")
        self._prefix = check.text("prefix", prefix).encode()
        check.number("timeout", timeout, least=0.001, unit="seconds", whole=False)
        self._pipelines = PerLoop(
            "RedisStore", "SQLiteStore or MemoryStore", lambda: Pipeline(pool, timeout)
        )

    async def open(self) -> None:
        """Connects.

        Raises:
            SessionStoreError: If the server can't be reached.
            RuntimeError: On trio.
        """
        await self._ask("PING", is_repeatable=True)

    async def close(self) -> None:
        """Closes the connection of the running event loop; waiting commands fail."""
        pipeline = self._pipelines.pop()
        if pipeline is not None:
            await pipeline.close()

    async def read(self, key: str, /) -> SessionRecord | None:
        """Returns the record of a key; None if there is none or it has expired.

        Raises:
            SessionStoreError: If the server doesn't reply in time.
        """
        answer = await self._ask("HMGET", self._name(key), *_FIELDS, is_repeatable=True)
        data, version, created_at, expires_at, user, login = answer
        if data is None or time.time() >= float(expires_at):
            return None
        return SessionRecord(
            data,
            int(version),
            float(created_at),
            float(expires_at),
            None if user is None else user.decode(),
            None if login is None else login.decode(),
        )

    async def insert(self, key: str, record: SessionRecord, /) -> bool:
        """Adds a record; returns False if the key has one.

        Raises:
            SessionStoreError: If the server doesn't reply in time.
        """
        return await self._write(INSERT, key, record)

    async def replace(self, key: str, record: SessionRecord, /) -> bool:
        """Replaces the previous version of a record; returns False if it isn't there.

        Raises:
            SessionStoreError: If the server doesn't reply in time.
        """
        return await self._write(REPLACE, key, record)

    async def touch(self, key: str, expires_at: float, /) -> bool:
        """Moves the end of a session, unless it is later already; returns False if it is gone.

        Raises:
            SessionStoreError: If the server doesn't reply in time.
        """
        return await self._run(TOUCH, self._name(key), self._prefix, *_times(expires_at)) == 1

    async def delete(self, key: str, /) -> bool:
        """Removes a record; returns False if it is gone.

        Raises:
            SessionStoreError: If the server doesn't reply in time.
        """
        return await self._run(DELETE, self._name(key), self._prefix) == 1

    async def delete_user(self, user: str, /, *, keep: str | None = None) -> int:
        """Removes all sessions of a user, and returns how many.

        Raises:
            SessionStoreError: If the server doesn't reply in time.
        """
        kept = b"" if keep is None else self._name(keep)
        return await self._run(DELETE_LISTED, self._prefix + b"user:" + user.encode(), kept)

    async def delete_login(self, login: str, /) -> int:
        """Removes all sessions that a login started, and returns how many.

        Raises:
            SessionStoreError: If the server doesn't reply in time.
        """
        return await self._run(DELETE_LISTED, self._prefix + b"login:" + login.encode(), b"")

    def _name(self, key: str) -> bytes:
        return self._prefix + key.encode()

    async def _write(self, script: Script, key: str, record: SessionRecord) -> bool:
        values = [
            self._prefix,
            record.version - 1,
            record.data,
            record.version,
            repr(record.created_at),
            *_times(record.expires_at),
            *(
                b"" if each is None else b"+" + each.encode()
                for each in (record.user, record.login)
            ),
        ]
        return await self._run(script, self._name(key), *values) == 1

    async def _run(self, script: Script, name: bytes, *values: Any) -> int:
        count = await self._ask("EVALSHA", script.digest, 1, name, *values)
        if count is None:
            count = await self._ask("EVAL", script.source, 1, name, *values)
        return int(count)

    async def _ask(self, *parts: Any, is_repeatable: bool = False) -> Any:
        """Returns the reply of the server; None if it doesn't have the script."""
        from redis.exceptions import NoScriptError, ResponseError

        try:
            return await self._pipelines.get().ask(*parts, is_repeatable=is_repeatable)
        except NoScriptError:  # the server was restarted, or never ran it
            return None
        except ResponseError as error:
            raise SessionStoreError(f"Redis refused a command: {error}") from error


def _times(expires_at: float) -> tuple[str, int]:
    """An expiry time in exact seconds, and in milliseconds."""
    return repr(expires_at), int(expires_at * 1000)
