# SPDX-License-Identifier: MIT
"""Colours, and what the commands say besides their output."""

from __future__ import annotations

import sys

from kit.authoring.terminal import supports_color

# SPEC: ECMA-48 section 8.3.117, Select Graphic Rendition.
FAINT = 2
RED = 31
GREEN = 32
YELLOW = 33
CYAN = 36


def painted(text: str, color: int) -> str:
    """A text in a colour."""
    return f"\x1b[{color}m{text}\x1b[0m"


def say(text: str, color: int | None = None) -> None:
    """Writes a line to standard error, coloured if that takes colours."""
    if color is not None and supports_color(sys.stderr):
        text = painted(text, color)
    sys.stderr.write(f"{text}\n")
