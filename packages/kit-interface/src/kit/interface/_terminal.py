# SPDX-License-Identifier: MIT
"""Whether coloured text can be written to a stream."""

from __future__ import annotations

import os
from typing import Any


def supports_color(stream: Any) -> bool:
    """Returns whether ANSI colours may be written to `stream`.

    In this order: `NO_COLOR` set to anything but an empty string means no (no-color.org),
    `FORCE_COLOR` likewise means yes, `TERM=dumb` means no; then a terminal means yes.

    Args:
        stream: A text stream such as `sys.stdout`. None, a closed stream and an object without
            `isatty` are no terminals.

    Returns:
        True if colours are welcome there.
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
