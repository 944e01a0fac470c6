# SPDX-License-Identifier: MIT
"""Fetches a JSON Web Key Set over HTTPS in a thread, without a client library."""

from __future__ import annotations

from functools import partial
from ipaddress import ip_address
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

MOST_BYTES = 512 * 1024
_CHUNK_BYTES = 65536


def is_safe_uri(uri: Any) -> bool:
    """Returns whether keys may be fetched from a URI: by https, or by http from this machine."""
    if not isinstance(uri, str):
        return False
    try:
        parts = urlsplit(uri)
        host = parts.hostname
        _ = parts.port  # it raises if it is none
    except ValueError:
        return False
    if not host or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


async def fetch_keys(uri: str, timeout_s: float) -> bytes:
    """Fetches a document.

    The request is made in a thread, which is left behind if it takes too long.

    Args:
        uri: Where it is; see `is_safe_uri`.
        timeout_s: Seconds until the request fails.

    Returns:
        The body.

    Raises:
        OSError: If it can't be fetched, with the status in its text if it is not 200. Redirections
            are not followed.
        ValueError: If the body is too large.
    """
    from anyio import to_thread

    return await to_thread.run_sync(partial(_read, uri, timeout_s), abandon_on_cancel=True)


def _read(uri: str, timeout_s: float) -> bytes:
    # PERF: http and ssl, which programs without a remote key set don't need.
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    end = monotonic() + timeout_s

    class NoRedirection(HTTPRedirectHandler):
        def redirect_request(self, *args: Any, **kwargs: Any) -> None:
            return None

    # APPSEC: the scheme was checked, and a redirection could lead anywhere.
    opener = build_opener(NoRedirection)
    request = Request(uri, headers={"Accept": "application/jwk-set+json, application/json"})  # noqa: S310
    try:
        response = opener.open(request, timeout=timeout_s)
    except HTTPError as error:
        with error:  # it holds the connection
            raise OSError(f"the status is {error.code}, expected 200") from None
    with response:
        if response.status != 200:
            raise OSError(f"the status is {response.status}, expected 200")
        body = bytearray()
        while chunk := response.read1(_CHUNK_BYTES):
            body += chunk
            if len(body) > MOST_BYTES:
                raise ValueError(f"the key set is larger than {MOST_BYTES} bytes")
            # A source that sends byte by byte must not keep the thread.
            if monotonic() > end:
                raise OSError(f"the key set takes longer than {timeout_s:g} seconds")
    return bytes(body)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
