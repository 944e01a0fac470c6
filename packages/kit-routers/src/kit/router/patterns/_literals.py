# SPDX-License-Identifier: MIT
"""The literal segments of patterns, which may contain escapes."""

from __future__ import annotations

import re

from kit.http.paths import decode_path
from kit.interface import UnsupportedPathError

# The escapes of characters with a special meaning in patterns.
_ESCAPE = re.compile(r"%(7[BbDd]|3[CcEe])")


def literal_in_paths(pattern: str, text: str, method: str | None = None) -> str:
    """Returns a literal segment in the form that it has in routing paths.

    Routing paths are decoded, so this decodes the escapes of braces and angle brackets. A pattern
    needs them, since these characters have a meaning there.

    Args:
        pattern: The pattern, for the error.
        text: The segment of the pattern.
        method: The method of the route, for the error; None if there is none, or several.

    Raises:
        UnsupportedPathError: If the routing path of no URL has such a segment.
    """
    literal = unescape_literal(text)
    if "?" in literal or "#" in literal:
        raise UnsupportedPathError(pattern, "a path can't contain '?' or '#'", method)
    decoded = decode_path(literal)
    if decoded != literal:
        raise UnsupportedPathError(
            pattern, f"paths are decoded before they are matched: write {decoded!r}", method
        )
    return literal


def unescape_literal(text: str) -> str:
    """Decodes the escapes of braces and angle brackets in a literal segment."""
    return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
