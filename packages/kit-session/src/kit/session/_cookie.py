# SPDX-License-Identifier: MIT
"""The cookie of a session: reads it from requests, and adds it to responses."""

from __future__ import annotations

import re
from typing import Any

from kit.cookie import CookieOptions, cookie_header, generate_cookie, parse_cookies
from kit.http.vary import add_vary
from kit.interface import Context

from ._errors import SessionDataError
from ._state import SessionState

__all__ = ("MOST_OCTETS", "SessionCookie", "protect_from_caches")

# SPEC: RFC 6265bis section 5.6: clients ignore larger cookies.
MOST_OCTETS = 4096
_KEPT_PRIVATE = re.compile(r"\b(?:no-store|private)\b(?!=)", re.I)


class SessionCookie:
    """The cookie.

    Args:
        name: Its full name, with the prefix.
        options: Its attributes except Max-Age.
    """

    __slots__ = ("_attributes", "name")

    def __init__(self, name: str, options: CookieOptions) -> None:
        self.name = name
        # PERF: checked and formatted once.
        self._attributes = generate_cookie(name, "", **options).removeprefix(f"{name}=")

    def read(self, c: Context[Any, Any]) -> str | None:
        """Returns the unchecked value in the request; None if there is none."""
        values = [value for _, value in parse_cookies(cookie_header(c), self.name)]
        # APPSEC: if there are two cookies with the name, another host of the site may have set
        # either.
        if len(values) != 1 and len(set(values)) != 1:
            return None
        value = values[0]
        return value if len(value) <= MOST_OCTETS else None

    def set(self, state: SessionState, value: str, max_age_s: int | None) -> None:
        """Adds the cookie to the response.

        Raises:
            SessionDataError: If it is too large.
        """
        size = len(self.name) + len(value)
        if size > MOST_OCTETS:
            raise SessionDataError(
                f"The session is too large for a cookie: name and value have {size} octets, "
                f"but clients keep at most {MOST_OCTETS}. Keep less in it, or give "
                "session(store=...) a store"
            )
        self._add(state, value, max_age_s)

    def delete(self, state: SessionState) -> None:
        """Makes the client delete the cookie."""
        self._add(state, "", 0)

    def _add(self, state: SessionState, value: str, max_age_s: int | None) -> None:
        age = "" if max_age_s is None else f"; Max-Age={max_age_s}"
        line = f"{self.name}={value}{age}{self._attributes}"
        state.c.header("Set-Cookie", line, append=True)
        state.sets_cookie = True


def protect_from_caches(c: Context[Any, Any], *, sets_cookie: bool) -> None:
    """Marks the response for caches as meant for one client.

    A shared cache may store a response with Set-Cookie unless told otherwise (RFC 9111 section
    7.3). If the handler didn't set Cache-Control, a response that depends on the session is private
    (RFC 9111 section 5.2.2.7).

    Args:
        c: The context.
        sets_cookie: Whether the response has the cookie of a session.
    """
    headers = c.res.headers
    if headers.has("vary"):
        add_vary(headers, "Cookie")
    else:  # PERF: nearly always
        headers.append("Vary", "Cookie")
    if not headers.has("cache-control"):
        headers.append("Cache-Control", "no-store" if sets_cookie else "private")
    elif sets_cookie and not _KEPT_PRIVATE.search(headers["cache-control"]):
        headers.set("Cache-Control", "no-store")
