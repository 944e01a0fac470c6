# SPDX-License-Identifier: MIT
"""Detects which event loop is running: asyncio's or trio's."""

from __future__ import annotations

from sys import modules
from typing import Any

__all__ = ("running_trio",)


def running_trio() -> Any:
    """Returns the module trio if trio's event loop is running, otherwise None."""
    if "trio" not in modules:
        return None
    trio: Any = modules["trio"]
    try:
        trio.lowlevel.current_task()
    except RuntimeError:  # imported, but not running here
        return None
    return trio
