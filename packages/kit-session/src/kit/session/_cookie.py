# SPDX-License-Identifier: MIT
"""The cookie of a session: reads it from requests, and adds it to responses."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from kit.cookie import CookieOptions, set_cookie
from kit.interface import Context
from kit.interface.fields import add_vary

from ._errors import SessionDataError

__all__ = ("MOST_OCTETS", "SessionCookie", "protect_from_caches")

# SPEC: RFC 6265bis section 5.6: clients ignore larger cookies.
MOST_OCTETS = 4096
# What seals and ids consist of.
_VALUE = re.compile(r"[A-Za-z0-9_.\-]+")


class SessionCookie(NamedTuple):
    """The cookie.

    Attributes:
        name: Its full name, with the prefix.
        options: Its attributes but Max-Age.
    """

    name: str
    options: CookieOptions

    def read(self, c: Context[Any, Any]) -> str | None:
        """Returns the value that the request has; None if it has none that could be one of ours."""
        header = c.req.header("cookie")
        if header is None or self.name not in header:
            return None
        # SPEC: RFC 9113 section 8.2.3: HTTP/2 may split the header into several lines.
        header = ";".join(c.req.raw.headers.get_all("cookie"))
        pairs = [pair.strip(" \t").partition("=") for pair in header.split(";")]
        values = {value for name, _, value in pairs if name == self.name}
        # APPSEC: of two cookies of the name, another host of the site may have set either.
        if len(values) != 1:
            return None
        value = values.pop()
        if len(value) > MOST_OCTETS or not _VALUE.fullmatch(value):
            return None
        return value

    def set(self, c: Context[Any, Any], value: str, max_age_s: int | None) -> None:
        """Adds the cookie to the response.

        Raises:
            SessionDataError: If it is too large.
        """
        size = len(self.name) + len(value)
        if size > MOST_OCTETS:
            raise SessionDataError(
                f"The session is too large for a cookie: name and value have {size} octets, at "
                f"most {MOST_OCTETS} are kept by clients. Keep less in it, or give "
                "session(store=...) a store"
            )
        self._add(c, value, max_age_s)

    def delete(self, c: Context[Any, Any]) -> None:
        """Makes the client delete the cookie."""
        self._add(c, "", 0)

    def _add(self, c: Context[Any, Any], value: str, max_age_s: int | None) -> None:
        options = self.options.copy()
        if max_age_s is not None:
            options["max_age"] = max_age_s
        set_cookie(c, self.name, value, **options)


def protect_from_caches(c: Context[Any, Any], *, sets_cookie: bool) -> None:
    """Says to caches that the response is for one client.

    A shared cache may store a response with Set-Cookie unless it is told not to (RFC 9111 section
    7.3). Where the handler set no Cache-Control, a response that depends on the session is private
    (RFC 9111 section 5.2.2.7).

    Args:
        c: The context.
        sets_cookie: Whether the response has the cookie of a session.
    """
    headers = c.res.headers
    add_vary(headers, "Cookie")
    control = headers.get("cache-control")
    if sets_cookie:
        if control is None or not re.search(r"\b(?:no-store|private)\b(?!=)", control, re.I):
            headers.set("Cache-Control", "no-store")
    elif control is None:
        headers.set("Cache-Control", "private")
