# SPDX-License-Identifier: MIT
"""Which event loop runs: asyncio's or trio's."""

from __future__ import annotations

from sys import modules
from typing import Any

__all__ = ("running_trio",)


def running_trio() -> Any:
    """Returns the module trio if the running event loop is trio's, else None."""
    if "trio" not in modules:
        return None
    trio: Any = modules["trio"]
    try:
        trio.lowlevel.current_task()
    except RuntimeError:  # imported, but not running here
        return None
    return trio
