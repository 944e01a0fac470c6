# SPDX-License-Identifier: MIT
"""Keeps the keys of a remote set, and decides when they are fetched anew."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kit.interface.calls import call

from ._keys import KeySet, key_list

if TYPE_CHECKING:
    from anyio import Event

_log = logging.getLogger("kit.jwk")
# After a failure the source is asked again sooner than for an unknown key: nobody can log in.
_RETRY_S = 5.0


class JwksUnavailableError(Exception):
    """The keys can't be fetched, so that nothing can be said about a token."""


class Policy(NamedTuple):
    """When keys are fetched.

    Attributes:
        fetch: Function `(uri)`, plain or async, that returns the key set.
        lifetime_s: Seconds for which keys are used without a question.
        cooldown_s: Seconds between two requests to the source.
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

    One request is under way at a time; what needs its keys waits for it. The source is asked when
    the keys have outlived their time, and for a key that is not among them, since keys are rotated:
    but only once in each cooldown, or anyone could have it flooded with invented ids
    (CVE-2026-48524).

    Args:
        uri: Where the key set is.
        policy: When it is fetched.
    """

    def __init__(self, uri: str, policy: Policy) -> None:
        self._uri = uri
        self._shown_uri = uri.partition("?")[0]  # a query may have a secret in it
        self._policy = policy
        self._keys: KeySet | None = None
        self._fetched_at = self._asked_at = -float("inf")
        self._pause_s = 0.0
        self._answers = 0
        # Each thread has an event loop of its own, and none can wait for the event of another.
        self._under_way: dict[int, Event] = {}

    async def current(self) -> KeySet:
        """Returns the keys, fetched anew if they have outlived their time.

        Raises:
            JwksUnavailableError: If there are none, or the source has failed for too long.
        """
        policy = self._policy
        keys = self._keys_until(policy.lifetime_s)
        if keys is not None:
            return keys
        # Only the request that asks waits for an answer, while old keys will do for the others.
        stale = self._keys_until(policy.lifetime_s + policy.max_stale_s)
        if stale is None or get_ident() not in self._under_way:
            await self._refresh()
            stale = self._keys_until(policy.lifetime_s + policy.max_stale_s)
        if stale is None:
            raise JwksUnavailableError(f"The keys of {self._shown_uri} can't be fetched")
        return stale

    async def newer(self, known: KeySet) -> KeySet | None:
        """Returns keys that were fetched after others; None if there are none for now.

        Args:
            known: Those in which a key is missing.
        """
        await self._refresh()
        return None if self._keys is known else self._keys

    def _keys_until(self, most_s: float) -> KeySet | None:
        """Returns the keys, unless they are that old."""
        return self._keys if monotonic() - self._fetched_at < most_s else None

    async def _refresh(self) -> None:
        """Asks the source, or waits for the answer to who did, unless that was a moment ago."""
        answers = self._answers
        thread = get_ident()
        while (event := self._under_way.get(thread)) is not None:
            await event.wait()
        # An answer came meanwhile; there is none if the request that asked was cancelled.
        if self._answers != answers or monotonic() - self._asked_at < self._pause_s:
            return
        from anyio import CancelScope, Event

        event = self._under_way[thread] = Event()
        try:
            # Clients that leave must not keep the keys from those who stay.
            with CancelScope(shield=True):
                await self._ask()
        finally:
            del self._under_way[thread]
            event.set()

    async def _ask(self) -> None:
        from anyio import fail_after

        asked_at = monotonic()
        try:
            with fail_after(self._policy.timeout_s):
                found: Any = await call(self._policy.fetch, self._uri)
            if isinstance(found, (bytes, str)):
                found = msgspec.json.decode(found)
            self._keys = KeySet(key_list(found))
            self._fetched_at = asked_at
            self._pause_s = self._policy.cooldown_s
        except Exception as error:
            # Not with a traceback: what it says comes from the network.
            reason = f"{type(error).__name__} {error}".replace(self._uri, self._shown_uri)
            _log.warning(
                "The keys of %s can't be fetched: %.200s", self._shown_uri, reason.rstrip()
            )
            self._pause_s = min(_RETRY_S, self._policy.cooldown_s)
        self._asked_at = asked_at
        self._answers += 1
