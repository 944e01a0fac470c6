# SPDX-License-Identifier: MIT
"""Content-Disposition (RFC 6266), with names in any language (RFC 8187)."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import quote

# SPEC: RFC 8187, section 3.2.1: attr-char, besides letters and digits.
_ATTR_CHARS = "!#$&+-.^_`|~"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]")
# SPEC: RFC 6266, appendix D: characters at which some clients decode or truncate.
_AMBIGUOUS = re.compile(r'[^ -~]|["%]')


def usable_name(name: str) -> str:
    """Returns the name of a file on disk in a form that `content_disposition` accepts.

    Args:
        name: The name, with any characters that the file system allows.
    """
    return _UNSAFE.sub("_", name) or "_"


def content_disposition(kind: Literal["attachment", "inline"], filename: str) -> str:
    """Returns the value of Content-Disposition for a file.

    Args:
        kind: With `attachment`, browsers save the file; with `inline`, they show it if they can.
        filename: The name to save it under.

    Raises:
        TypeError: If the name isn't a str.
        ValueError: If it is empty, or contains a slash, backslash or control character.
    """
    if not isinstance(filename, str):
        raise TypeError(f"send_file(filename=...) takes a str, not {filename!r:.100}")
    if not filename or _UNSAFE.search(filename):
        raise ValueError(
            f"send_file(filename={filename!r:.100}) can't be used: "
            "expected a name without slashes, backslashes and control characters"
        )
    plain = _AMBIGUOUS.sub("_", filename)
    value = f'{kind}; filename="{plain}"'
    if plain != filename:
        encoded = quote(filename, safe=_ATTR_CHARS, errors="replace")
        value += f"; filename*=UTF-8''{encoded}"
    return value
