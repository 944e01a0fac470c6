# SPDX-License-Identifier: MIT
"""A session as it is kept between requests, and for how long."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ._data import EMPTY

__all__ = ("Flash", "Lifetime", "Saved")

# A session that is used is prolonged when this part of its idle timeout has passed.
_REFRESHED_AFTER = 0.1


class Flash(NamedTuple):
    """A message for the next page that shows messages.

    Attributes:
        text: The message.
        category: What kind of message it is, e.g. `error`.
    """

    text: str
    category: str


class Saved(msgspec.Struct, frozen=True, gc=False):
    """A session as it is kept between requests.

    Attributes:
        token: The secret id that the client has, or an id within a cookie.
        data: The data, a JSON object.
        created_at: When it began, in seconds since the epoch.
        expires_at: When it ends if it isn't used, in seconds since the epoch.
        user: Whose session it is.
        flashes: The messages that were not shown yet.
        remember_s: How long it lasts, in seconds, if it is one to be remembered.
        version: The version in a store.
    """

    token: str
    created_at: float
    expires_at: float
    data: bytes = EMPTY
    user: str | None = None
    flashes: tuple[Flash, ...] = ()
    remember_s: float | None = None
    version: int = 0


class Lifetime(NamedTuple):
    """When sessions end.

    Attributes:
        max_age_s: Seconds from the beginning of a session to its end.
        idle_timeout_s: Seconds from the last use of a session to its end; None for no such limit.
        is_persistent: Whether cookies outlive the browser.
    """

    max_age_s: float
    idle_timeout_s: float | None
    is_persistent: bool

    def end(self, created_at: float, remember_s: float | None) -> float:
        """Returns when a session ends at the latest."""
        return created_at + (self.max_age_s if remember_s is None else remember_s)

    def expires_at(self, created_at: float, remember_s: float | None, now: float) -> float:
        """Returns when a session ends that is used now."""
        end = self.end(created_at, remember_s)
        # Someone who asked to be remembered will be away for longer.
        if self.idle_timeout_s is None or remember_s is not None:
            return end
        return min(end, now + self.idle_timeout_s)

    def has_ended(self, saved: Saved, now: float) -> bool:
        """Whether a session has expired; by today's options, if they were other ones then."""
        return now >= saved.expires_at or now >= self.end(saved.created_at, saved.remember_s)

    def needs_refresh(self, saved: Saved, now: float) -> bool:
        """Whether the end of a session that is used now has to be moved."""
        idle = self.idle_timeout_s
        if idle is None:
            return False
        end = self.expires_at(saved.created_at, saved.remember_s, now)
        # It comes sooner if there was a longer timeout, or none.
        return abs(end - saved.expires_at) >= idle * _REFRESHED_AFTER

    def cookie_max_age_s(self, saved: Saved, now: float) -> int | None:
        """Returns the Max-Age of the cookie of a session; None for one that ends with the browser.

        The idle timeout isn't part of it, so that a session in a store needs no new cookie each
        time that it is used.
        """
        if not self.is_persistent and saved.remember_s is None:
            return None
        return max(1, round(self.end(saved.created_at, saved.remember_s) - now))
