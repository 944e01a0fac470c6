# SPDX-License-Identifier: MIT
"""The routers of Kit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .reg_exp_router import RegExpRouter
from .smart_router import SmartRouter, default_router
from .trie_router import TrieRouter

if TYPE_CHECKING:
    from .linear_router import LinearRouter
    from .pattern_router import PatternRouter

__all__ = (
    "LinearRouter",
    "PatternRouter",
    "RegExpRouter",
    "SmartRouter",
    "TrieRouter",
    "default_router",
)

# Imported on first use, since the default router needs neither.
_LATER = {"LinearRouter": "linear_router", "PatternRouter": "pattern_router"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found
