# SPDX-License-Identifier: MIT
"""Finds the user's line that a call into Kit comes from."""

from __future__ import annotations

import sys
from types import FrameType


def calling_frame() -> tuple[FrameType, int]:
    """Gives the nearest frame outside of Kit, and its level.

    Returns:
        The frame, and its level as `stacklevel` of `warnings.warn` counts it in the function that
        called this one: 1 is that function itself.
    """
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    return frame, level


def _is_inside(module: str) -> bool:
    return module == "kit" or module.startswith("kit.")
