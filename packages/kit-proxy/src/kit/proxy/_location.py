# SPDX-License-Identifier: MIT
"""Translates the Location of an upstream server to the paths that its clients see."""

from __future__ import annotations

from urllib.parse import quote

import httpx

__all__ = ("rewrite_location",)

_ASCII = bytes(range(128)).decode("ascii")


def rewrite_location(location: str, base: httpx.URL, prefix: str) -> str:
    """Returns a Location that leads through the proxy, if it leads below the base.

    SPEC: RFC 9110, section 10.2.2.

    Args:
        location: The value: an absolute URL, or a reference.
        base: The URL that paths are appended to.
        prefix: The path that clients see in its place; empty for the root.

    Returns:
        The path that leads there through the proxy; other values unchanged.
    """
    # Bytes beyond ASCII, which many servers send as UTF-8, stay those bytes.
    encoded, mark, fragment = quote(location, safe=_ASCII, encoding="latin-1").partition("#")
    try:
        url = httpx.URL(encoded)
        if url.is_absolute_url:
            is_here = (url.scheme, url.host, url.port) == (base.scheme, base.host, base.port)
        else:
            is_here = location.startswith("/") and not location.startswith(("//", "/\\"))
    except (httpx.InvalidURL, ValueError):
        return location
    start = base.path.removesuffix("/")
    whole, _, query = url.raw_path.decode("ascii").partition("?")
    if not is_here or not f"{whole}/".startswith(f"{start}/") or url.userinfo:
        return location
    path = prefix.removesuffix("/") + whole[len(start) :]
    # APPSEC: browsers take `//other.example` and `/\other.example` for another host.
    path = path.replace("\\", "%5C") or "/"
    if path.startswith("//"):
        path = f"/.{path}"
    # As sent: decoded, it could have a line break.
    end = mark + fragment
    return f"{path}?{query}{end}" if query else path + end
