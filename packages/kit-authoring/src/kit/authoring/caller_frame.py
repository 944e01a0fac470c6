# SPDX-License-Identifier: MIT
"""Finds the line of the user's code from which Kit was called, for warnings and errors."""

from __future__ import annotations

import sys
from types import FrameType

__all__ = ("describe_call_site", "find_caller_frame")


def find_caller_frame() -> tuple[FrameType, int]:
    """Returns the nearest frame outside Kit, and its level.

    Frames of the package `kit` and its subpackages are skipped. If all frames belong to Kit, the
    outermost one is returned.

    Returns:
        The frame, and its level for the `stacklevel` of `warnings.warn` in the function that called
        this one: 1 is that function itself.
    """
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    return frame, level


def describe_call_site() -> str:
    """Returns file and line of the user's call into Kit, as `file:line`."""
    frame, _ = find_caller_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_inside(module: str) -> bool:
    return module == "kit" or module.startswith("kit.")
