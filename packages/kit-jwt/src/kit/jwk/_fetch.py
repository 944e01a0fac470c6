# SPDX-License-Identifier: MIT
"""Fetches a JSON Web Key Set over HTTPS in a thread, without a client library."""

from __future__ import annotations

import re
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

# SPEC: RFC 3986 section 2: a URI consists of visible ASCII. Parsers silently drop some others.
_is_text_of_uri = re.compile("[!-~]+").fullmatch


def is_safe_uri(uri: Any) -> bool:
    """Returns whether keys may be fetched from a URI: HTTPS, or HTTP from this machine."""
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


async def fetch_keys(uri: str, timeout_s: float) -> bytes:
    """Fetches a document.

    The request runs in a thread; its connection is closed after the timeout.

    Args:
        uri: The URI of the document; see `is_safe_uri`.
        timeout_s: Seconds until the request fails.

    Returns:
        The body.

    Raises:
        OSError: If it can't be fetched, or the status isn't 200. Redirects aren't followed.
        ValueError: If the body is too large.
    """
    from anyio import to_thread

    return await to_thread.run_sync(partial(_read, uri, timeout_s), abandon_on_cancel=True)


def _read(uri: str, timeout_s: float) -> bytes:
    from ._http import read

    return read(uri, timeout_s)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        # Excludes subdomains of localhost, which some systems look up in the DNS.
        return host == "localhost"
