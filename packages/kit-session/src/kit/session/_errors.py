# SPDX-License-Identifier: MIT
"""What can go wrong with sessions while an app runs."""

from __future__ import annotations

from kit.interface import KitError

__all__ = ("SessionConflictError", "SessionDataError", "SessionError", "SessionStoreError")


class SessionError(KitError):
    """A session can't be used as the code wants to; the base of all errors of sessions."""


class SessionDataError(SessionError, ValueError):
    """What a session holds can't be saved: it is no JSON, or too large for a cookie."""


class SessionStoreError(SessionError):
    """A store can't be reached, answered too late, or refused to read or write.

    A write that raised this may have happened or not.
    """


class SessionConflictError(SessionStoreError):
    """Other requests changed a session again and again, so that this one couldn't be saved."""
