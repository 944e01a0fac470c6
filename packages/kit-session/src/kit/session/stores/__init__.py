# SPDX-License-Identifier: MIT
"""The protocol of stores, and the in-memory store."""

from ._memory import MemoryStore
from ._protocol import ImmediateSessionStore, SessionRecord, SessionStore

__all__ = ("ImmediateSessionStore", "MemoryStore", "SessionRecord", "SessionStore")

# Public classes show the module that they are imported from.
for _class in (ImmediateSessionStore, MemoryStore, SessionRecord, SessionStore):
    _class.__module__ = __name__
