# SPDX-License-Identifier: MIT
"""URIs that an app may send requests to without revealing or trusting what others can change."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

__all__ = ("is_secure_uri",)

# SPEC: RFC 3986 section 2: a URI consists of visible ASCII. Parsers silently drop some others.
_is_text_of_uri = re.compile("[!-~]+").fullmatch


def is_secure_uri(uri: Any) -> bool:
    """Returns whether a value is an absolute URI with `https`, or `http` to this machine.

    Args:
        uri: The value. A URI with a user is not secure, since it ends up in logs.
    """
    if not isinstance(uri, str) or not _is_text_of_uri(uri):
        return False
    try:
        parts = urlsplit(uri)
        host = parts.hostname
        _ = parts.port  # raises ValueError if it is invalid
    except ValueError:
        return False
    if not host or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        # Excludes subdomains of localhost, which some systems look up in the DNS.
        return host == "localhost"
