# SPDX-License-Identifier: MIT
"""Fetches a JSON Web Key Set over HTTPS in a thread, without a client library."""

from __future__ import annotations

from functools import partial


async def fetch_keys(uri: str, timeout_s: float) -> bytes:
    """Fetches a document.

    The request runs in a thread; its connection is closed after the timeout.

    Args:
        uri: The URI of the document; see `is_secure_uri`.
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
