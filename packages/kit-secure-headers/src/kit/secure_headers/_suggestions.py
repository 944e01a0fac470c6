# SPDX-License-Identifier: MIT
"""Suggests a known name for an unknown one."""

from __future__ import annotations

import re
from collections.abc import Collection

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def suggestion(name: object, known: Collection[str], otherwise: str) -> str:
    """Returns the end of an error about an unknown name.

    Args:
        name: The unknown name.
        known: The known names.
        otherwise: The text to use if none of them is close.

    Returns:
        `did you mean 'script_src'?`, or `otherwise`.
    """
    text = str(name)
    # The spellings of headers and of JavaScript: `script-src`, `scriptSrc`.
    snake = _HUMP.sub("_", text).replace("-", "_").lower()
    if snake in known:
        return f"did you mean {snake!r}?"
    from difflib import get_close_matches

    close = get_close_matches(text, known, 1) or get_close_matches(snake, known, 1)
    return f"did you mean {close[0]!r}?" if close else otherwise
