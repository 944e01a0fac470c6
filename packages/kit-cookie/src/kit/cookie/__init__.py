# SPDX-License-Identifier: MIT
"""Cookies of the request and of the response, plain and signed.

SPEC: RFC 6265bis (draft-ietf-httpbis-rfc6265bis-22, which revises RFC 6265); RFC 2104.

A value may be any text: it is percent-encoded like `encodeURIComponent` does, and decoded when it
is read. A signed value is followed by a dot and its HMAC-SHA256 in base64 before it is encoded.
Hono uses the same format, so the two can share cookies.
"""

from ._attributes import CookieOptions
from ._cookies import (
    delete_cookie,
    format_cookie,
    generate_cookie,
    get_cookie,
    get_cookie_values,
    get_signed_cookie,
    set_cookie,
    set_signed_cookie,
)
from ._reading import cookie_header, parse_cookies

__all__ = (
    "CookieOptions",
    "cookie_header",
    "delete_cookie",
    "format_cookie",
    "generate_cookie",
    "get_cookie",
    "get_cookie_values",
    "get_signed_cookie",
    "parse_cookies",
    "set_cookie",
    "set_signed_cookie",
)
