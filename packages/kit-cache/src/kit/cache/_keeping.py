# SPDX-License-Identifier: MIT
"""Stores the responses of handlers (RFC 9111, section 3)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from kit.authoring.bodies import replace_body
from kit.authoring.vary import get_vary
from kit.interface import Context

from ._collecting import CollectingBody
from ._entries import Entry, Key, Variants
from ._failures import Failures
from ._finding import Found, stored_under
from ._flights import Flight
from ._memory import MemoryStore
from ._options import Options
from ._policy import NONCE, Storing, has_nonce, stored_headers, storing
from ._refreshing import later
from ._store import RequestView

__all__ = ("Keeper",)


class Keeper:
    """Stores responses unless they were purged in the meantime.

    Args:
        options: The options of the cache.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._store = options.store
        self._failures = Failures("write", logging.WARNING, "responses aren't stored")

    async def keep(
        self,
        c: Context[Any, Any],
        found: Found,
        flight: Flight,
        before: Mapping[str, str],
        *,
        is_sent: bool,
    ) -> bool:
        """Stores the response if possible.

        Args:
            c: The context.
            found: The result of the lookup.
            flight: This request.
            before: The headers that outer middleware set before.
            is_sent: Whether the body is sent; otherwise a stream isn't read.

        Returns:
            Whether it is stored, or will be after it was sent, as far as is known.
        """
        if flight.is_outdated:
            return False
        options, res = self._options, c.res
        depends_on = get_vary(c)
        how = storing(
            found.headers, res.status, res.headers, depends_on, options.statuses, options.clock()
        )
        if how is None:
            # Errors and 304 are about this request: the next response may be storable.
            flight.is_unstorable = res.status < 400 and res.status != 304
            return False
        headers = stored_headers(res.headers, before)
        body = res.body
        if body is not None and not isinstance(body, bytes):
            flight.is_unstorable = True
            if is_sent:
                self._keep_stream(c, found, how, headers, body, flight)
            return False
        body = body or b""
        if len(body) > options.max_body_size or has_nonce(c.get(NONCE), headers, body):
            flight.is_unstorable = True
            return False
        # Plain bytes, since `c.res.body` may be a subclass that refers to the response.
        entry = self._entry(c, found, how, headers, bytes(body))
        flight.entry = entry
        flight.stored_under = stored_under(found.headers, found.key, entry)
        if found.store is None:
            return False
        work = self._set(found, flight.stored_under, entry, flight)
        if not options.wait and not isinstance(self._store, MemoryStore) and later(c, work):
            return True
        return await work

    def _keep_stream(
        self,
        c: Context[Any, Any],
        found: Found,
        how: Storing,
        headers: tuple[tuple[str, str], ...],
        body: Any,
        flight: Flight,
    ) -> None:
        # Takes the headers now, before outer middleware changes the response.
        entry = self._entry(c, found, how, headers, b"")
        variant = stored_under(found.headers, found.key, entry)
        nonce = c.get(NONCE)

        async def done(whole: bytes) -> None:
            from msgspec.structs import replace

            if has_nonce(nonce, headers, whole):
                return
            if length is not None and length != str(len(whole)):
                return  # SPEC: section 3.3: it is incomplete
            await self._set(found, variant, replace(entry, body=whole), flight)

        length = c.res.headers.get("content-length")
        replace_body(c, CollectingBody(body, self._options.max_body_size, done))

    def _entry(
        self,
        c: Context[Any, Any],
        found: Found,
        how: Storing,
        headers: tuple[tuple[str, str], ...],
        body: bytes,
    ) -> Entry:
        # A header that any response of this URL depends on counts for all of them: a handler may
        # omit Vary when it returns its default.
        names = tuple(sorted({*how.vary, *found.names}))
        return Entry(
            c.res.status,
            headers,
            body,
            self._options.clock(),
            how.initial_age,
            how.lifetime,
            how.stale_while_revalidate,
            how.stale_if_error,
            how.must_revalidate,
            how.for_authorized,
            names,
        )

    async def _set(self, found: Found, variant: Key, entry: Entry, flight: Flight) -> bool:
        """Stores a response unless it was purged in the meantime; logs errors of the store.

        Returns:
            Whether it was stored.
        """
        key, store = found.key, found.store
        if store is None or flight.is_outdated:
            return False
        try:
            if entry.vary:
                await self._set_variants(store, key, entry)
            await store.set(variant, entry, entry.ttl)
            if flight.is_outdated:  # the purge may have run before the response was stored
                await self._store.delete(key.cache, key.group)
                return False
        except Exception:
            self._failures.failed(key.group)
            return False
        self._failures.worked()
        return True

    async def _set_variants(self, store: RequestView, key: Key, entry: Entry) -> None:
        """Declares which headers the responses of a key depend on."""
        now = self._options.clock()
        ends_at = now + entry.ttl
        present = await store.get(key)
        if isinstance(present, Variants):  # responses for other values may be kept for longer
            ends_at = max(ends_at, present.ends_at)
        await store.set(key, Variants(entry.vary, ends_at), ends_at - now)
