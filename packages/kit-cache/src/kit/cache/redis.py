# SPDX-License-Identifier: MIT
"""A store in Redis, shared by processes on several machines.

It needs the package redis: `pip install "kit-cache[redis]"`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

from kit.authoring.options import OptionChecks
from kit.authoring.redis import PerLoop

from ._entries import Key, Stored, decode, encode
from ._store import RequestView
from ._view import View

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ("RedisStore",)

_GENERATION_BYTES = 8
# The first byte of a generation: whether a purge or a stored response began it.
_BY_PURGE, _BY_RESPONSE = b"p", b"r"
# A generation is kept for longer than the responses that refer to it.
_LONGEST_S = 6 * 86_400
_REMEMBERED_S = 7 * 86_400


class RedisStore:
    """Keeps responses in Redis. It supports only asyncio, like redis-py.

    Redis removes expired responses. To limit their total size, configure Redis with `maxmemory` and
    a `maxmemory-policy` such as `allkeys-lru`.

    A purge takes constant time: it changes the generation of a group, which is stored with each of
    the group's responses. If Redis evicts a generation, its responses are lost too.
    Redis Cluster is not supported.

    Args:
        redis: A URL, such as `redis://localhost:6379/0`, or a client of `redis.asyncio`. You have
            to close that client yourself.
        prefix: Prefix of the keys.
        timeout: Seconds to wait for the server to reply; used with a URL.

    Raises:
        ImportError: If redis-py isn't installed: `pip install "kit-cache[redis]"`.
        TypeError: If an argument has the wrong type.
        ValueError: If one is invalid, or if the client has `decode_responses`.
    """

    def __init__(
        self, redis: str | Redis, *, prefix: str = "kit:cache:", timeout: float = 1.0
    ) -> None:
        check = OptionChecks("RedisStore")
        check.number("timeout", timeout, least=0.001, unit="seconds", whole=False)
        self._prefix = check.text("prefix", prefix)
        connect: Callable[[], Any] = check.redis(
            redis, "kit-cache", lambda url: _connecting(url, timeout), lambda client: lambda: client
        )
        if connect().connection_pool.connection_kwargs.get("decode_responses"):
            raise ValueError(
                "RedisStore() takes a client without decode_responses: responses are bytes"
            )
        self._clients = PerLoop("RedisStore", "MemoryStore or SQLiteStore", connect)
        self._is_given = not isinstance(redis, str)

    def for_request(self) -> RequestView:
        """Returns a view for one request; see `SharedStore`."""
        return View(self._read, self._write)

    async def get(self, key: Key) -> Stored | None:
        """Returns the value of a key, unless it was purged."""
        return (await self._read(key))[0]

    async def set(self, key: Key, stored: Stored, ttl: float) -> None:
        """Stores a value."""
        await self._write(key, stored, ttl, None)

    async def delete(self, cache: str, group: str) -> None:
        """Removes a group."""
        await self._begin(self._generations(cache, group)[1], _BY_PURGE)

    async def clear(self, cache: str) -> None:
        """Removes all entries of a cache."""
        await self._begin(self._generations(cache, "")[0], _BY_PURGE)

    async def close(self) -> None:
        """Closes the connections of the running event loop, unless a client was given."""
        client = self._clients.pop()
        if client is not None and not self._is_given:
            await client.aclose()

    async def _read(self, key: Key) -> tuple[Stored | None, list[bytes | None]]:
        """Returns the value of a key, and the present generations of its group."""
        data, *found = await self._clients.get().mget(
            self._name("response", *key), *self._generations(key.cache, key.group)
        )
        present = _joined(found)
        if data is None or present is None or not data.startswith(present):
            return None, found
        return decode(data[len(present) :]), found

    async def _write(
        self, key: Key, stored: Stored, ttl: float, seen: list[bytes | None] | None
    ) -> None:
        """Stores a value under the generations that were seen; None: under the present ones."""
        names = self._generations(key.cache, key.group)
        # If it is purged after this, or was since they were seen, its generation is outdated.
        generations = await self._to_store_under(names, seen)
        if generations is None:
            return
        pipeline = self._clients.get().pipeline(transaction=False)
        pipeline.set(
            self._name("response", *key),
            generations + encode(stored),
            px=max(1, int(min(ttl, _LONGEST_S) * 1000)),
        )
        for name in names:
            pipeline.expire(name, _REMEMBERED_S)
        await pipeline.execute()

    async def _to_store_under(
        self, names: tuple[str, str], seen: list[bytes | None] | None
    ) -> bytes | None:
        """Returns the prefix for a response; None if it must not be stored."""
        if seen is not None and None not in seen:
            return _joined(seen)
        client = self._clients.get()
        present = await client.mget(*names)
        if None in present:
            for name in names:
                await self._begin(name, _BY_RESPONSE, nx=True)
            present = await client.mget(*names)
        if seen is not None:
            for now, before in zip(present, seen, strict=True):
                # Another response may have begun it in the meantime, but not a purge.
                if before is None and now is not None and now.startswith(_BY_PURGE):
                    return None
            present = [before or now for now, before in zip(present, seen, strict=True)]
        return _joined(present)  # None if Redis has no memory left for them

    async def _begin(self, name: str, by: bytes, *, nx: bool = False) -> None:
        generation = by + token_bytes(_GENERATION_BYTES)
        await self._clients.get().set(name, generation, ex=_REMEMBERED_S, nx=nx)

    def _generations(self, cache: str, group: str) -> tuple[str, str]:
        return self._name("all", cache), self._name("group", cache, group)

    def _name(self, kind: str, *parts: str) -> str:
        # Hashed, since paths and queries may be long, and may contain secrets.
        digest = sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self._prefix}{kind}:{digest}"


def _connecting(url: str, timeout_s: float) -> Callable[[], Any]:
    """Returns the function that creates a client; raises ValueError for an invalid URL."""
    from redis.asyncio import Redis

    connect = partial(
        Redis.from_url, url, socket_timeout=timeout_s, socket_connect_timeout=timeout_s
    )
    connect()
    return connect


def _joined(generations: list[bytes | None]) -> bytes | None:
    """Returns the prefix of responses of these generations; None if one is unknown."""
    return None if None in generations else b"".join(each or b"" for each in generations)
