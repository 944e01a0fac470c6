# SPDX-License-Identifier: MIT
"""Sessions for the Kit web framework: signed cookies, or stores in memory, SQLite and Redis."""

from ._errors import SessionError, SessionStoreError
from ._middleware import session

__all__ = ("SessionError", "SessionStoreError", "session")
