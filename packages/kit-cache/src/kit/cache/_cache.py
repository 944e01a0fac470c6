# SPDX-License-Identifier: MIT
"""The middleware: serves stored responses, or runs the handlers and stores their responses."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

from kit.interface import Context, Next, Response
from kit.interface.dependence import dependence
from kit.interface.fields import add_vary, list_members
from kit.interface.paths import decode_path

from ._client import accepts_stale, satisfies
from ._collecting import CollectingBody
from ._control import merged, parse_directives
from ._entries import Entry, Key, Variants
from ._failures import Failures
from ._flights import Flight, Flights
from ._keys import key_of, paths_to_invalidate, variant_of
from ._memory import MemoryStore
from ._options import Options
from ._policy import (
    Storing,
    has_nonce,
    is_for_one,
    may_be_sent,
    stored_headers,
    storing,
    vary_values,
)
from ._preconditions import answer_not_modified, hidden, is_conditional, is_not_modified
from ._refreshing import Refreshing, later
from ._sending import send
from ._store import RequestView

VARIABLE = "cache"
"""The variable in which handlers find the cache."""

NONCE = "secure_headers_nonce"
"""The variable in which kit-secure-headers stores the nonce of a response."""

# Methods that are neither stored nor change any state.
_IGNORED = frozenset(("CONNECT", "OPTIONS", "TRACE"))
# SPEC: section 4.3.2: a cache doesn't evaluate the first two. Range requests a partial response.
_PASSED = frozenset(("if-match", "if-unmodified-since", "range"))
# The largest difference between the clocks of machines that share a store.
_LARGEST_SKEW_S = 60
_ERRORS = frozenset((500, 502, 503, 504))
# How many responses of others that weren't stored a request waits for, at most: if they fail one
# after another, requests must not queue up.
_MOST_WAITS = 3


class _Found(NamedTuple):
    """The result of a lookup.

    Attributes:
        key: The key of the URL.
        variant: The key of the response, if it is stored.
        names: The request headers that responses of this URL depend on.
        entry: The stored response, fresh or stale.
        varies: Whether there are only responses for other values of these headers.
        store: The store during this request; None if the lookup failed.
    """

    key: Key
    variant: Key
    names: tuple[str, ...]
    entry: Entry | None
    varies: bool
    store: RequestView | None


class Cache:
    """Middleware that stores responses; created by `cache(...)`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._store = options.store
        self._for_request: Callable[[], RequestView] | None = getattr(
            self._store, "for_request", None
        )
        self._reading = Failures("read", logging.WARNING, "requests are handled without it")
        self._writing = Failures("write", logging.WARNING, "responses aren't stored")
        self._removing = Failures("remove", logging.ERROR, "old responses may be sent again")
        self._flights = Flights()
        self._refreshing = Refreshing(options.app)

    async def purge(self, *groups: str, cache_name: str | None = None) -> None:
        """Removes the responses for paths, with any host and query.

        Args:
            *groups: Paths, as in a URL or in `c.req.path`, or keys that `key_generator` returned.
            cache_name: The name of the cache; required if `cache_name` is a function.

        Raises:
            TypeError: If the name is missing.
            Exception: The exception that the store raised.
        """
        name = self._name_for("purge", cache_name)
        if self._options.key_generator is None:
            groups = (*groups, *map(decode_path, groups))
        for group in dict.fromkeys(groups):
            self._flights.outdate(name, group)
            await self._store.delete(name, group)

    async def purge_all(self, *, cache_name: str | None = None) -> None:
        """Removes all responses.

        Args:
            cache_name: The name of the cache; required if `cache_name` is a function.

        Raises:
            TypeError: If the name is missing.
            Exception: The exception that the store raised.
        """
        name = self._name_for("purge_all", cache_name)
        self._flights.outdate(name)
        await self._store.clear(name)

    def _name_for(self, method: str, cache_name: str | None) -> str:
        name = self._options.cache_name if cache_name is None else cache_name
        if not isinstance(name, str):
            raise TypeError(f"{method}() needs cache_name, since the cache's name is a function")
        return name

    async def __call__(self, c: Context[Any, Any], next: Next) -> Response | None:
        """Returns a stored response, or runs the handlers."""
        c.set(VARIABLE, self)
        # PERF: reading all headers takes no longer than looking up three of them.
        method, headers = c.req.method, c.req.header()
        if method in _IGNORED or ("upgrade" in headers and _is_handshake(method, headers)):
            await next()
            return None
        if method not in ("GET", "HEAD", "QUERY"):
            await next()
            await self._invalidate(c)
            self._tell(c, "fwd=method")
            return None
        key = await key_of(c, self._options, headers)
        if key is None or not _PASSED.isdisjoint(headers):
            await next()
            self._tell(c, "fwd=bypass")
            return None
        found = await self._find(c, key, headers)
        asked = headers.get("cache-control")
        directives = parse_directives(asked) if asked is not None else {}
        answer = self._answer(c, found, directives, headers)
        if answer is not None:
            return answer
        if "only-if-cached" in directives:
            return c.text("Gateway Timeout", 504)
        if method == "HEAD" or "no-store" in directives:
            await next()
            self._add_headers(c)
            self._tell(c, _why(found))
            return None
        return await self._forward(c, next, found)

    # Finding ----------------------------------------------------------------------------------

    async def _find(self, c: Context[Any, Any], key: Key, headers: Mapping[str, str]) -> _Found:
        """Looks up a stored response; if the store fails, there is none."""
        variant = key
        names: tuple[str, ...] = ()
        store: RequestView | None = None
        try:
            store = self._store if self._for_request is None else self._for_request()
            stored = await store.get(key)
            if isinstance(stored, Variants):
                names = stored.names
                variant = variant_of(key, vary_values(headers, names))
                stored = await store.get(variant)
            self._reading.worked()
        except Exception:
            self._reading.failed(key.group)
            stored = store = None
        entry = stored if isinstance(stored, Entry) and may_be_sent(headers, stored) else None
        if entry is not None and entry.stored_at > self._options.clock() + _LARGEST_SKEW_S:
            entry = None  # the clock was set back, so its age is unknown
        varies = entry is None and variant is not key
        return _Found(key, variant, names, entry, varies, store)

    def _answer(
        self,
        c: Context[Any, Any],
        found: _Found,
        directives: Mapping[str, str | None],
        headers: Mapping[str, str],
    ) -> Response | None:
        """Returns the stored response, if it may be sent without running the handlers."""
        entry = found.entry
        if entry is None or self._refreshing.is_under_way_here():
            return None
        now = self._options.clock()
        left = entry.lifetime - entry.age(now)
        if self._options.client_directives and not satisfies(headers, entry, left, directives):
            return None
        if left > 0 or (
            self._options.client_directives and accepts_stale(entry, -left, directives)
        ):
            return send(c, entry, now, self._status(f"hit; ttl={int(left)}"))
        if -left >= entry.stale_while_revalidate or not self._refreshing.begin(c, found.variant):
            return None
        return send(c, entry, now, self._status(f"hit; ttl={int(left)}"))

    # Running the handlers ---------------------------------------------------------------------

    async def _forward(self, c: Context[Any, Any], next: Next, found: _Found) -> Response | None:
        """Runs the handlers, unless a concurrent request for the same response already does."""
        if c.req.header("authorization") is not None or self._refreshing.is_under_way_here():
            await self._run(c, next, found, self._flights.begin(found.variant, alone=True))
            return None
        waits = 0
        while (flight := self._flights.under_way(found.variant)) is not None:
            await flight.wait()
            entry = flight.entry
            if entry is None:
                waits += flight.ended
                if flight.is_unstorable or waits == _MOST_WAITS:
                    break  # waiting for the next request is pointless
                continue
            variant = _stored_under(c, found.key, entry)
            if flight.stored_under == variant:
                now = self._options.clock()
                return send(c, entry, now, self._status(f"{_why(found)}; collapsed"))
            # It is for other header values; only now is it known that these headers matter.
            found = found._replace(variant=variant, names=entry.vary, varies=True)
        hides = is_conditional(c) and not self._flights.is_unstored(found.variant)
        with self._flights.leading(found.variant) as flight:
            if waits:  # what the store knew of purges before is outdated
                again = await self._find(c, found.key, c.req.header())
                found = found._replace(store=again.store)
            await self._run(c, next, found, flight, hides=hides)
        return None

    async def _run(
        self,
        c: Context[Any, Any],
        next: Next,
        found: _Found,
        flight: Flight,
        *,
        hides: bool = False,
    ) -> None:
        """Runs the handlers, and stores the response if possible.

        Args:
            c: The context.
            next: Runs the handlers.
            found: The result of the lookup.
            flight: This request.
            hides: Whether to hide the preconditions of the request from the handlers.
        """
        before = dict(c.res.headers.items())
        with hidden(c) if hides else nullcontext():
            await next()
        options, entry = self._options, found.entry
        flight.ended = True
        res = c.res
        if res.status in _ERRORS and entry is not None:
            now = options.clock()
            if entry.age(now) < entry.lifetime + entry.stale_if_error:
                failed = res.status
                c.res = None
                status = self._status(f"fwd=stale; fwd-status={failed}")
                c.res = send(c, entry, now, status)
                return
        self._add_headers(c)
        is_known = hides and c.res.status == 200 and is_not_modified(c, dict(c.res.headers.items()))
        result = _why(found) + ("; fwd-status=200" if is_known else "")
        if await self._keep(c, found, flight, before, is_sent=not is_known):
            result += "; stored"
        if is_known:
            await answer_not_modified(c)
        self._tell(c, result)

    async def _keep(
        self,
        c: Context[Any, Any],
        found: _Found,
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
        depends_on = dependence(c)
        how = storing(c.req, res.status, res.headers, depends_on, options.statuses, options.clock())
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
        flight.stored_under = _stored_under(c, found.key, entry)
        if found.store is None:
            return False
        work = self._set(found, flight.stored_under, entry, flight)
        if not options.wait and not isinstance(self._store, MemoryStore) and later(c, work):
            return True
        return await work

    def _add_headers(self, c: Context[Any, Any]) -> None:
        """Adds the configured headers to a response if its status can be stored."""
        options = self._options
        if c.res.status not in options.statuses:
            return
        if options.cache_control and not self._is_for_one(c):
            c.header("Cache-Control", merged(c.res.headers, options.cache_control))
        if options.vary:
            names = c.res.headers.get("vary")
            if "*" not in list_members(names):
                c.header("Vary", names)
                add_vary(c.res.headers, *options.vary)

    def _is_for_one(self, c: Context[Any, Any]) -> bool:
        """Returns whether a response must not be declared fresh for all clients."""
        body = c.res.body
        if isinstance(body, bytes) and has_nonce(c.get(NONCE), (), body):
            return True
        return is_for_one(c.req, c.res.headers, dependence(c))

    def _keep_stream(
        self,
        c: Context[Any, Any],
        found: _Found,
        how: Storing,
        headers: tuple[tuple[str, str], ...],
        body: Any,
        flight: Flight,
    ) -> None:
        # Takes the headers now, before outer middleware changes the response.
        entry = self._entry(c, found, how, headers, b"")
        variant = _stored_under(c, found.key, entry)
        nonce = c.get(NONCE)

        async def done(whole: bytes) -> None:
            from msgspec.structs import replace

            if has_nonce(nonce, headers, whole):
                return
            if length is not None and length != str(len(whole)):
                return  # SPEC: section 3.3: it is incomplete
            await self._set(found, variant, replace(entry, body=whole), flight)

        length = c.res.headers.get("content-length")
        res = c.res.replace(body=CollectingBody(body, self._options.max_body_size, done))
        c.res = res
        if length is not None:
            c.header("Content-Length", length)

    def _entry(
        self,
        c: Context[Any, Any],
        found: _Found,
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

    async def _set(self, found: _Found, variant: Key, entry: Entry, flight: Flight) -> bool:
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
            self._writing.failed(key.group)
            return False
        self._writing.worked()
        return True

    async def _set_variants(self, store: RequestView, key: Key, entry: Entry) -> None:
        """Declares which headers the responses of a key depend on."""
        now = self._options.clock()
        ends_at = now + entry.ttl
        present = await store.get(key)
        if isinstance(present, Variants):  # responses for other values may be kept for longer
            ends_at = max(ends_at, present.ends_at)
        await store.set(key, Variants(entry.vary, ends_at), ends_at - now)

    # Afterwards -------------------------------------------------------------------------------

    async def _invalidate(self, c: Context[Any, Any]) -> None:
        """Removes the responses that a request has invalidated (section 4.4)."""
        if not 200 <= c.res.status < 400:
            return
        groups = await paths_to_invalidate(c, self._options)
        for name, group in groups:
            self._flights.outdate(name, group)
            try:
                await self._store.delete(name, group)
            except Exception:
                self._removing.failed(group)
            else:
                self._removing.worked()

    def _status(self, text: str) -> str | None:
        name = self._options.status_name
        return None if name is None else f"{name}; {text}"

    def _tell(self, c: Context[Any, Any], text: str) -> None:
        """Adds the result to Cache-Status (RFC 9211)."""
        status = self._status(text)
        if status is not None:
            c.header("Cache-Status", status, append=True)


def _is_handshake(method: str, headers: Mapping[str, str]) -> bool:
    """Returns whether a request opens a WebSocket (RFC 6455, section 4.1)."""
    return method == "GET" and "websocket" in list_members(headers["upgrade"].lower())


def _stored_under(c: Context[Any, Any], key: Key, entry: Entry) -> Key:
    """Returns the key of a response among those of its URL, for the headers of a request."""
    return variant_of(key, vary_values(c.req.header(), entry.vary)) if entry.vary else key


def _why(found: _Found) -> str:
    """Returns why a request was not served from the store (RFC 9211, section 2.2)."""
    if found.entry is not None:
        return "fwd=stale"
    return "fwd=vary-miss" if found.varies else "fwd=uri-miss"
