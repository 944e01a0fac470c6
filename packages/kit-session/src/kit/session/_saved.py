# SPDX-License-Identifier: MIT
"""A session as it is stored between requests, and its lifetime."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ._data import EMPTY

__all__ = ("Flash", "Lifetime", "Saved")

# A session in use is extended when this part of its idle timeout has passed. It expires later by
# the same part, so that it never expires before its idle timeout.
_REFRESHED_AFTER = 0.1


class Flash(NamedTuple):
    """A message for the next page that shows messages.

    Attributes:
        text: The message.
        category: The kind of message, e.g. `error`.
    """

    text: str
    category: str


class Saved(msgspec.Struct, frozen=True, gc=False):
    """A session as it is stored between requests.

    Attributes:
        token: The client's secret id, or an id within a cookie.
        data: The data, a JSON object.
        created_at: When it started, in seconds since the epoch.
        expires_at: When it expires if it isn't used, in seconds since the epoch.
        user: The user of the session.
        flashes: The messages that haven't been shown yet.
        remember_s: The lifetime of a remembered session, in seconds.
        login: The login at an identity provider that started it.
        version: The version in a store.
    """

    token: str
    created_at: float
    expires_at: float
    data: bytes = EMPTY
    user: str | None = None
    flashes: tuple[Flash, ...] = ()
    remember_s: float | None = None
    login: str | None = None
    version: int = 0


class Lifetime(NamedTuple):
    """The lifetime of sessions.

    Attributes:
        max_age_s: Lifetime of a session, in seconds.
        idle_timeout_s: Seconds of inactivity after which a session expires, up to 10 % later; None
            for no such limit.
        is_persistent: Whether cookies outlive the browser.
    """

    max_age_s: float
    idle_timeout_s: float | None
    is_persistent: bool

    def end(self, created_at: float, remember_s: float | None) -> float:
        """Returns the latest time when a session expires."""
        return created_at + (self.max_age_s if remember_s is None else remember_s)

    def expires_at(self, created_at: float, remember_s: float | None, now: float) -> float:
        """Returns when a session that is used now expires."""
        end = self.end(created_at, remember_s)
        # A remembered user will be away for longer.
        if self.idle_timeout_s is None or remember_s is not None:
            return end
        return min(end, now + self.idle_timeout_s * (1 + _REFRESHED_AFTER))

    def has_ended(self, saved: Saved, now: float) -> bool:
        """Returns whether a session has expired, according to the current options."""
        return now >= saved.expires_at or now >= self.end(saved.created_at, saved.remember_s)

    def needs_refresh(self, saved: Saved, now: float) -> bool:
        """Returns whether the expiry of a session that is used now has to be moved."""
        idle = self.idle_timeout_s
        if idle is None:
            return False
        end = self.expires_at(saved.created_at, saved.remember_s, now)
        # It is earlier if there was a longer timeout, or none.
        return abs(end - saved.expires_at) >= idle * _REFRESHED_AFTER

    def cookie_max_age_s(self, saved: Saved, now: float) -> int | None:
        """Returns the Max-Age of the cookie of a session; None for one that ends with the browser.

        It doesn't include the idle timeout, so a session in a store needs no new cookie at each
        use.
        """
        if not self.is_persistent and saved.remember_s is None:
            return None
        return max(1, round(self.end(saved.created_at, saved.remember_s) - now))
