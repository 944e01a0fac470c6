# SPDX-License-Identifier: MIT
"""Shared HTTP cache (RFC 9111) as middleware for the Kit web framework."""

from ._cache import Cache
from ._entries import Entry, Key, Stored, Variants, decode, encode
from ._factory import cache
from ._memory import MemoryStore
from ._store import RequestView, SharedStore, Store

__all__ = (
    "Cache",
    "Entry",
    "Key",
    "MemoryStore",
    "RequestView",
    "SharedStore",
    "Store",
    "Stored",
    "Variants",
    "cache",
    "decode",
    "encode",
)
