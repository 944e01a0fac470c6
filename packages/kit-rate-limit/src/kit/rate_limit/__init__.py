# SPDX-License-Identifier: MIT
"""Middleware that limits how many requests a client may send in a period of time."""

from ._limits import Limit
from ._memory import MemoryStore
from ._rate_limit import Cost, Exempt, Key, OnLimit, rate_limit
from ._redis import RedisStore
from ._storage import StorageStore
from ._stores import Count, RateLimitState, RateLimitStoreError, Store, Strategy, WindowState

__all__ = (
    "Cost",
    "Count",
    "Exempt",
    "Key",
    "Limit",
    "MemoryStore",
    "OnLimit",
    "RateLimitState",
    "RateLimitStoreError",
    "RedisStore",
    "StorageStore",
    "Store",
    "Strategy",
    "WindowState",
    "rate_limit",
)
