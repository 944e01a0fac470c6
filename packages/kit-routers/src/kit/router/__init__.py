# SPDX-License-Identifier: MIT
"""The routers of Kit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .reg_exp_router import RegExpRouter
from .smart_router import SmartRouter, default_router
from .trie_router import TrieRouter

if TYPE_CHECKING:
    from ._path_matcher import path_matcher
    from .linear_router import LinearRouter
    from .pattern_router import PatternRouter

__all__ = (
    "LinearRouter",
    "PatternRouter",
    "RegExpRouter",
    "SmartRouter",
    "TrieRouter",
    "default_router",
    "path_matcher",
)

# Imported on first use, since the default router needs none of them.
_LATER = {
    "LinearRouter": "linear_router",
    "PatternRouter": "pattern_router",
    "path_matcher": "_path_matcher",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found
