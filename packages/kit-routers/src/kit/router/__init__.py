# SPDX-License-Identifier: MIT
"""The routers of Kit."""

from .trie_router import TrieRouter

__all__ = ("TrieRouter",)
