# SPDX-License-Identifier: MIT
"""The logins that were started in a session and aren't complete."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

import msgspec

from kit.session import Session
from kit.session.stores import SessionRecord, SessionStore

__all__ = ("Attempt", "add_attempt", "new_attempt", "take_attempt")

# How long a login may take.
_MOST_AGE_S = 600.0
_KEY = "kit.oidc.attempts"
# Each tab of a browser may have one.
_MOST = 10


class Attempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """A login that isn't complete.

    Attributes:
        client: The provider and the client that it is for.
        nonce: What the ID token repeats.
        verifier: The secret of PKCE (RFC 7636, section 4.1).
        redirect_uri: Where the provider sends the user back to.
        return_to: The path to return to.
        at: When it began, in seconds since the epoch.
        max_age: How long ago the user may have been authenticated, in seconds.
        acr_values: How the user has to be authenticated.
        is_silent: Whether the provider must not ask the user anything.
    """

    client: str
    nonce: str
    verifier: str
    redirect_uri: str
    return_to: str
    at: float
    max_age: float | None = None
    acr_values: tuple[str, ...] = ()
    is_silent: bool = False

    def __repr__(self) -> str:
        # APPSEC: a repr ends up in logs and in error pages.
        return f"Attempt(client={self.client!r}, return_to={self.return_to!r}, at={self.at!r})"

    @property
    def challenge(self) -> str:
        """The challenge for the verifier (RFC 7636, section 4.2)."""
        digest = sha256(self.verifier.encode()).digest()
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    @property
    def is_expired(self) -> bool:
        """Whether it has taken too long."""
        return not 0 <= time.time() - self.at <= _MOST_AGE_S


def new_attempt(
    client: str,
    redirect_uri: str,
    return_to: str,
    max_age: float | None,
    acr_values: tuple[str, ...],
    is_silent: bool,
) -> Attempt:
    """Returns a new attempt, with secrets of 256 bits."""
    return Attempt(
        client,
        token_urlsafe(32),
        token_urlsafe(32),
        redirect_uri,
        return_to,
        time.time(),
        max_age,
        acr_values,
        is_silent,
    )


def add_attempt(session: Session[dict[str, Any]], attempt: Attempt) -> str:
    """Keeps an attempt in a session, and returns its state. The oldest ones are dropped."""
    state = token_urlsafe(32)
    value = msgspec.to_builtins(attempt)

    def add(data: dict[str, Any]) -> None:
        kept: Mapping[str, Any] = data.get(_KEY) or {}
        newest = sorted(kept.items(), key=lambda item: item[1]["at"])[1 - _MOST :]
        data[_KEY] = {**dict(newest), state: value}

    session.update(add)
    return state


async def take_attempt(
    session: Session[dict[str, Any]], store: SessionStore, state: str
) -> Attempt | None:
    """Removes an attempt from a session, and returns it; None if there is none.

    Of concurrent requests with the same state, one gets the attempt.
    """
    found = (session.get(_KEY) or {}).get(state)

    def remove(data: dict[str, Any]) -> None:
        kept = data.get(_KEY) or {}
        kept.pop(state, None)
        if not kept:
            data.pop(_KEY, None)

    if found is None:
        return None
    session.update(remove)
    # APPSEC: the session is saved only after the response, so the store decides who was first.
    now = time.time()
    name = f"kit.oidc.state {state}"
    used = SessionRecord(b"{}", 1, now, now + 2 * _MOST_AGE_S)
    if not await store.insert(sha256(name.encode()).hexdigest(), used):
        return None
    return msgspec.convert(found, Attempt)
