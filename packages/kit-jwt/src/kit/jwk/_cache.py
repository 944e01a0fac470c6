# SPDX-License-Identifier: MIT
"""Caches a remote key set, and decides when to fetch it again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kit.authoring.maybe_await import call

from ._keys import KeySet, key_list

if TYPE_CHECKING:
    from anyio import Event
    from anyio.lowlevel import RunVar

_log = logging.getLogger("kit.jwk")
# The pause after a failure is shorter than after an unknown key, since all requests may be failing.
_RETRY_S = 5.0


class JwksUnavailableError(Exception):
    """The keys can't be fetched, so tokens can be neither accepted nor rejected."""


class Policy(NamedTuple):
    """When keys are fetched.

    Attributes:
        fetch: Function `(uri)`, plain or async, that returns the key set.
        lifetime_s: Seconds for which fetched keys are used.
        cooldown_s: Minimum seconds between two requests to the source.
        max_stale_s: Seconds for which keys are used beyond their lifetime while the source fails.
        timeout_s: Seconds that a request may take.
    """

    fetch: Callable[[str], Any]
    lifetime_s: float
    cooldown_s: float
    max_stale_s: float
    timeout_s: float


class JwksCache:
    """The keys of one URI.

    There is one request at a time, and concurrent callers wait for it. Keys are fetched when their
    lifetime has ended, and when a token has an unknown key ID, since keys are rotated. The cooldown
    prevents tokens with invented key IDs from flooding the source (CVE-2026-48524).

    Args:
        uri: The URI of the key set.
        policy: When to fetch it.
    """

    def __init__(self, uri: str, policy: Policy) -> None:
        self._uri = uri
        self._shown_uri = uri.partition("?")[0]  # the query may contain a secret
        self._policy = policy
        self._keys: KeySet | None = None
        self._fetched_at = self._asked_at = -float("inf")
        self._pause_s = 0.0
        self._retry_s = min(_RETRY_S, policy.cooldown_s)
        self._answers = 0
        self._requests = 0  # under way; several event loops may have one each
        self._variable: RunVar[Event | None] | None = None

    @property
    def is_resting(self) -> bool:
        """Whether the source isn't asked now, since it was asked a moment ago."""
        return time.monotonic() - self._asked_at < self._pause_s

    @property
    def is_needed(self) -> bool:
        """Whether a new object for the URI would ask the source once more than this one."""
        return self.is_resting or self._requests > 0

    async def current(self) -> KeySet:
        """Returns the keys, and fetches them if their lifetime has ended.

        Raises:
            JwksUnavailableError: If there are none, or the source has failed for too long.
        """
        policy = self._policy
        keys = self._keys_until(policy.lifetime_s)
        if keys is not None:
            return keys
        # One request fetches; concurrent ones use the stale keys instead of waiting.
        stale = self._keys_until(policy.lifetime_s + policy.max_stale_s)
        if stale is None or self._under_way().get() is None:
            await self._refresh()
            stale = self._keys_until(policy.lifetime_s + policy.max_stale_s)
        if stale is None:
            raise JwksUnavailableError(f"The keys of {self._shown_uri} can't be fetched")
        return stale

    async def newer(self, known: KeySet) -> KeySet | None:
        """Returns keys that are newer than these, or None if there are none.

        Args:
            known: The keys that lack the required one.
        """
        await self._refresh()
        return None if self._keys is known else self._keys

    def _under_way(self) -> RunVar[Event | None]:
        """Returns the variable with the event that signals the end of a request in this event loop.

        Several loops may use the keys, in threads or one after the other, but can't wait for each
        other's events.
        """
        if self._variable is None:
            from anyio.lowlevel import RunVar

            self._variable = RunVar("kit.jwk", None)
        return self._variable

    def _keys_until(self, most_s: float) -> KeySet | None:
        """Returns the keys if they are younger than `most_s`."""
        return self._keys if time.monotonic() - self._fetched_at < most_s else None

    async def _refresh(self) -> None:
        """Fetches the keys, or waits for the task that does, unless the cooldown forbids it."""
        answers = self._answers
        under_way = self._under_way()
        while (event := under_way.get()) is not None:
            await event.wait()
        # The other task got a response, unless it was cancelled.
        if self._answers != answers or self.is_resting:
            return
        from anyio import CancelScope, Event

        event = Event()
        token = under_way.set(event)
        self._requests += 1
        try:
            # A client that disconnects must not cancel the request that others wait for.
            with CancelScope(shield=True):
                await self._ask()
        finally:
            self._requests -= 1
            under_way.reset(token)
            event.set()

    async def _ask(self) -> None:
        from anyio import fail_after

        asked_at = time.monotonic()
        if self._keys_until(self._policy.lifetime_s + self._policy.max_stale_s) is not None:
            # APPSEC: cancelled requests count too, or clients that disconnect could flood the
            # source. But without any keys, other tasks have to retry.
            self._asked_at = asked_at
            self._pause_s = self._retry_s
        try:
            with fail_after(self._policy.timeout_s):
                found: Any = await call(self._policy.fetch, self._uri)
            if isinstance(found, (bytes, str)):
                found = msgspec.json.decode(found)
            self._keys = KeySet(key_list(found))
            self._fetched_at = asked_at
            self._pause_s = self._policy.cooldown_s
        except Exception as error:
            # Without a traceback, since its text comes from the network.
            reason = f"{type(error).__name__} {error}".replace(self._uri, self._shown_uri)
            _log.warning(
                "The keys of %s can't be fetched: %.200s", self._shown_uri, reason.rstrip()
            )
            self._pause_s = self._retry_s
        self._asked_at = asked_at
        self._answers += 1
