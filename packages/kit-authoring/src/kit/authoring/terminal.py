# SPDX-License-Identifier: MIT
"""Detects whether a stream supports colors."""

from __future__ import annotations

import os
from typing import Any

__all__ = ("supports_color",)


def supports_color(stream: Any) -> bool:
    """Returns whether ANSI colors may be written to `stream`.

    Checks in this order: a non-empty `NO_COLOR` means no (no-color.org), a non-empty `FORCE_COLOR`
    means yes, `TERM=dumb` means no; otherwise a terminal means yes.

    Args:
        stream: A text stream such as `sys.stdout`. None, a closed stream and an object without
            `isatty` aren't terminals.

    Returns:
        True if the stream supports colors.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.environ.get("TERM") == "dumb":
        return False
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False
