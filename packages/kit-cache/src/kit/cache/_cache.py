# SPDX-License-Identifier: MIT
"""The middleware: serves stored responses, or runs the handlers and stores their responses."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from kit.authoring.not_modified import answer_not_modified
from kit.authoring.vary import get_vary
from kit.http.fields import list_members
from kit.http.methods import READING_METHODS
from kit.http.paths import decode_path
from kit.http.vary import add_vary
from kit.interface import Context, Next, Response

from ._client import accepts_stale, satisfies
from ._control import merged, parse_directives
from ._failures import Failures
from ._finding import Finder, Found, stored_under
from ._flights import Flight, Flights
from ._keeping import Keeper
from ._keys import build_key, paths_to_invalidate
from ._options import Options
from ._policy import NONCE, has_nonce, is_for_one
from ._preconditions import hidden, is_conditional, is_not_modified
from ._refreshing import Refreshing
from ._sending import send

VARIABLE = "cache"
"""The variable in which handlers find the cache."""

# Methods that are neither stored nor change any state.
_IGNORED = frozenset(("CONNECT", "OPTIONS", "TRACE"))
# SPEC: section 4.3.2: a cache doesn't evaluate the first two. Range requests a partial response.
_PASSED = frozenset(("if-match", "if-unmodified-since", "range"))
_ERRORS = frozenset((500, 502, 503, 504))
# How many responses of others that weren't stored a request waits for, at most: if they fail one
# after another, requests must not queue up.
_MOST_WAITS = 3


class Cache:
    """Middleware that stores responses; created by `cache(...)`."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._store = options.store
        self._finder = Finder(options)
        self._keeper = Keeper(options)
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
        if method not in READING_METHODS:
            await next()
            await self._invalidate(c)
            self._tell(c, "fwd=method")
            return None
        key = await build_key(c, self._options, headers)
        if key is None or not _PASSED.isdisjoint(headers):
            await next()
            self._tell(c, "fwd=bypass")
            return None
        found = await self._finder.find(key, headers)
        asked = headers.get("cache-control")
        directives = parse_directives(asked) if asked is not None else {}
        answer = self._answer(c, found, directives, headers)
        if answer is not None:
            return answer
        if "only-if-cached" in directives:
            return c.text("Gateway Timeout", 504)
        if method == "HEAD" or "no-store" in directives:
            await next()
            self._add_headers(c, headers)
            self._tell(c, found.why_forwarded)
            return None
        return await self._forward(c, next, found)

    # Serving ----------------------------------------------------------------------------------

    def _answer(
        self,
        c: Context[Any, Any],
        found: Found,
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

    async def _forward(self, c: Context[Any, Any], next: Next, found: Found) -> Response | None:
        """Runs the handlers, unless a concurrent request for the same response already does."""
        if "authorization" in found.headers or self._refreshing.is_under_way_here():
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
            variant = stored_under(found.headers, found.key, entry)
            if flight.stored_under == variant:
                now = self._options.clock()
                return send(c, entry, now, self._status(f"{found.why_forwarded}; collapsed"))
            # It is for other header values; only now is it known that these headers matter.
            found = found._replace(variant=variant, names=entry.vary, varies=True)
        hides = is_conditional(c) and not self._flights.is_unstored(found.variant)
        with self._flights.leading(found.variant) as flight:
            if waits:  # what the store knew of purges before is outdated
                again = await self._finder.find(found.key, found.headers)
                found = found._replace(store=again.store)
            await self._run(c, next, found, flight, hides=hides)
        return None

    async def _run(
        self,
        c: Context[Any, Any],
        next: Next,
        found: Found,
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
        self._add_headers(c, found.headers)
        is_known = hides and c.res.status == 200 and is_not_modified(c, dict(c.res.headers.items()))
        result = found.why_forwarded + ("; fwd-status=200" if is_known else "")
        if await self._keeper.keep(c, found, flight, before, is_sent=not is_known):
            result += "; stored"
        if is_known:
            await answer_not_modified(c)
        self._tell(c, result)

    def _add_headers(self, c: Context[Any, Any], headers: Mapping[str, str]) -> None:
        """Adds the configured headers to a response if its status can be stored."""
        options = self._options
        if c.res.status not in options.statuses:
            return
        if options.cache_control and not self._is_for_one(c, headers):
            c.header("Cache-Control", merged(c.res.headers, options.cache_control))
        if options.vary:
            names = c.res.headers.get("vary")
            if "*" not in list_members(names):
                c.header("Vary", names)
                add_vary(c.res.headers, *options.vary)

    def _is_for_one(self, c: Context[Any, Any], headers: Mapping[str, str]) -> bool:
        """Returns whether a response must not be declared fresh for all clients."""
        body = c.res.body
        if isinstance(body, bytes) and has_nonce(c.get(NONCE), (), body):
            return True
        return is_for_one(headers, c.res.headers, get_vary(c))

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
