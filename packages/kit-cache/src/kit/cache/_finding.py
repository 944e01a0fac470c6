# SPDX-License-Identifier: MIT
"""Looks up stored responses (RFC 9111, section 4)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ._entries import Entry, Key, Variants
from ._failures import Failures
from ._keys import build_variant_key
from ._options import Options
from ._policy import may_be_sent, vary_values
from ._store import RequestView

__all__ = ("Finder", "Found", "stored_under")

# The largest difference between the clocks of machines that share a store.
_LARGEST_SKEW_S = 60


class Found(NamedTuple):
    """The result of a lookup.

    Attributes:
        key: The key of the URL.
        variant: The key of the response, if it is stored.
        names: The request headers that responses of this URL depend on.
        entry: The stored response, fresh or stale.
        varies: Whether there are only responses for other values of these headers.
        store: The store during this request; None if the lookup failed.
        headers: The headers of the request; inner middleware may give the handlers others.
    """

    key: Key
    variant: Key
    names: tuple[str, ...]
    entry: Entry | None
    varies: bool
    store: RequestView | None
    headers: Mapping[str, str]

    @property
    def why_forwarded(self) -> str:
        """Why the request was not served from the store (RFC 9211, section 2.2)."""
        if self.entry is not None:
            return "fwd=stale"
        return "fwd=vary-miss" if self.varies else "fwd=uri-miss"


class Finder:
    """Looks up responses in a store.

    Args:
        options: The options of the cache.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._store = options.store
        self._for_request: Callable[[], RequestView] | None = getattr(
            self._store, "for_request", None
        )
        self._failures = Failures("read", logging.WARNING, "requests are handled without it")

    async def find(self, key: Key, headers: Mapping[str, str]) -> Found:
        """Looks up a stored response; if the store fails, there is none.

        Args:
            key: The key of the URL.
            headers: The headers of the request.
        """
        variant = key
        names: tuple[str, ...] = ()
        store: RequestView | None = None
        try:
            store = self._store if self._for_request is None else self._for_request()
            stored = await store.get(key)
            if isinstance(stored, Variants):
                names = stored.names
                variant = build_variant_key(key, vary_values(headers, names))
                stored = await store.get(variant)
            self._failures.worked()
        except Exception:
            self._failures.failed(key.group)
            stored = store = None
        entry = stored if isinstance(stored, Entry) and may_be_sent(headers, stored) else None
        if entry is not None and entry.stored_at > self._options.clock() + _LARGEST_SKEW_S:
            entry = None  # the clock was set back, so its age is unknown
        varies = entry is None and variant is not key
        return Found(key, variant, names, entry, varies, store, headers)


def stored_under(headers: Mapping[str, str], key: Key, entry: Entry) -> Key:
    """Returns the key of a response among those of its URL.

    Args:
        headers: The headers of the request.
        key: The key of the URL.
        entry: The response.
    """
    return build_variant_key(key, vary_values(headers, entry.vary)) if entry.vary else key
