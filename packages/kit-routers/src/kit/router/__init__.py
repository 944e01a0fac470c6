# SPDX-License-Identifier: MIT
"""The routers of Kit."""

from .linear_router import LinearRouter
from .pattern_router import PatternRouter
from .reg_exp_router import RegExpRouter
from .smart_router import SmartRouter, default_router
from .trie_router import TrieRouter

__all__ = (
    "LinearRouter",
    "PatternRouter",
    "RegExpRouter",
    "SmartRouter",
    "TrieRouter",
    "default_router",
)
