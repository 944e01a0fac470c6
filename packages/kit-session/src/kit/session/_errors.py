# SPDX-License-Identifier: MIT
"""The errors of sessions while an app runs."""

from __future__ import annotations

from kit.interface import KitError

__all__ = ("SessionConflictError", "SessionDataError", "SessionError", "SessionStoreError")


class SessionError(KitError):
    """The base of all session errors: a session can't be used as intended."""


class SessionDataError(SessionError, ValueError):
    """The data of a session can't be saved: it isn't JSON, or is too large for a cookie."""


class SessionStoreError(SessionError):
    """A store can't be reached, responded too late, or refused to read or write.

    If a write raises this, it may or may not have happened.
    """


class SessionConflictError(SessionStoreError):
    """Other requests kept changing a session, so this request's changes couldn't be saved."""
