# SPDX-License-Identifier: MIT
"""Credentials in Authorization (RFC 9110, section 11.4)."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64

__all__ = ("TOKEN68", "parse_basic")

TOKEN68 = r"[A-Za-z0-9\-._~+/]+=*"
"""Pattern of a token68, such as the token of the scheme Bearer (section 11.2)."""

# SPEC: a scheme, spaces, and a token68, of which Basic uses base64.
_BASIC = re.compile(r" *[Bb][Aa][Ss][Ii][Cc] +([A-Za-z0-9+/]+={0,2}) *").fullmatch
# SPEC: RFC 7617 section 2: neither the name nor the password contains a CTL of RFC 5234.
_CONTROL = re.compile(r"[\x00-\x1f\x7f]").search


def parse_basic(value: str | None) -> str | None:
    """Parses the credentials of the scheme Basic.

    Args:
        value: The value of Authorization; None if the header is absent.

    Returns:
        The name, a colon and the password, decoded as UTF-8; None if the header is absent,
        malformed, or uses another scheme.

    SPEC: RFC 7617, section 2.
    """
    match = _BASIC(value) if value else None
    if match is None:
        return None
    encoded = match[1]
    surplus = len(encoded) % 4
    if surplus:
        # SPEC: WHATWG Infra, forgiving-base64 decode: padding is complete or absent.
        if surplus == 1 or encoded[-1] == "=":
            return None
        encoded += "=" * (4 - surplus)
    try:
        text = a2b_base64(encoded, strict_mode=True).decode()
    except (Error, UnicodeDecodeError):
        return None
    if ":" not in text:
        return None
    if text.isascii():
        # PERF: in ASCII, only control characters are not printable.
        return text if text.isprintable() else None
    # SPEC: WHATWG Encoding, UTF-8 decode: a byte order mark is not part of the text.
    return None if _CONTROL(text) else text.removeprefix("\ufeff")
