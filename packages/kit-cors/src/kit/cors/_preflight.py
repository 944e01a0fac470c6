# SPDX-License-Identifier: MIT
"""Answers preflights, with which browsers ask whether they may send a request."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from kit.authoring.maybe_await import call
from kit.http.fields import TOKEN, is_token, list_members
from kit.interface import Context, Response

from ._options import AllowMethods

_ASKED_HEADERS = "Access-Control-Request-Headers"
# SPEC: Private Network Access, section 3.1.
_ASKED_PRIVATE = "Access-Control-Request-Private-Network"
# APPSEC: possessive, since backtracking takes 100 bytes for each name.
_NAMES = re.compile(rf"{TOKEN}+(?:[ \t]*+,[ \t]*+{TOKEN}+)*+")
# Pages ask for a few headers. APPSEC: longer lists aren't kept.
_LONGEST_KEPT = 512


class Preflights:
    """Responses to preflights (Fetch, section 3.3.3).

    Args:
        any_origin: Whether every origin is allowed.
        allow_methods: Value of the header, None for no header, or the function that returns the
            methods.
        allow_headers: Value of the header; None to allow the headers that the preflight requests.
        max_age: Value of the header, or None.
        credentials: Option of `cors`.
        expose_headers: Value of the header, or None.
        allow_private_network: Option of `cors`.
    """

    __slots__ = (
        "_allow_headers",
        "_allow_methods",
        "_allow_private_network",
        "_credentials",
        "_fixed",
        "_vary",
    )

    def __init__(
        self,
        *,
        any_origin: bool,
        allow_methods: str | AllowMethods | None,
        allow_headers: str | None,
        max_age: str | None,
        credentials: bool,
        expose_headers: str | None,
        allow_private_network: bool,
    ) -> None:
        self._allow_methods = allow_methods if callable(allow_methods) else None
        self._allow_headers = allow_headers
        self._credentials = credentials
        self._allow_private_network = allow_private_network
        fixed = {
            "Access-Control-Expose-Headers": expose_headers,
            "Access-Control-Max-Age": max_age,
            "Access-Control-Allow-Methods": None if callable(allow_methods) else allow_methods,
        }
        self._fixed = {name: value for name, value in fixed.items() if value is not None}
        vary = []
        if not any_origin or callable(allow_methods):
            vary.append("Origin")
        if allow_private_network:
            vary.append(_ASKED_PRIVATE)
        self._vary = ", ".join(vary)

    async def answer(self, c: Context[Any, Any], origin: str, allowed: str | None) -> Response:
        """Returns the response to a preflight.

        Args:
            c: The context of the request.
            origin: The origin of the request; `""` if it has none.
            allowed: The origin to allow, `*`, or None.

        Returns:
            A 204.
        """
        asked = c.req.header
        headers = self._fixed.copy()
        if self._allow_methods is not None:
            methods = _joined(await call(self._allow_methods, origin, c, may_yield=True))
            if methods:
                headers["Access-Control-Allow-Methods"] = methods
        vary = self._vary
        names = self._allow_headers
        if names is None and (wanted := asked(_ASKED_HEADERS)) is not None:
            names = _named_kept(wanted) if len(wanted) <= _LONGEST_KEPT else _named(wanted)
        if names:
            headers["Access-Control-Allow-Headers"] = names
            vary = f"{vary}, {_ASKED_HEADERS}" if vary else _ASKED_HEADERS
        if allowed is not None:
            headers["Access-Control-Allow-Origin"] = allowed
            if allowed == origin != "*":
                if self._credentials:
                    headers["Access-Control-Allow-Credentials"] = "true"
                if self._allow_private_network and asked(_ASKED_PRIVATE) == "true":
                    headers["Access-Control-Allow-Private-Network"] = "true"
        # Outer middleware may have set these for a response with a body. Its Vary is kept.
        c.header("Content-Type")
        c.header("Content-Length")
        if vary:
            c.header("Vary", vary, append=True)
        return c.body(None, 204, headers)


def _named(asked: str) -> str:
    """Returns the names in a list of headers."""
    if _NAMES.fullmatch(asked):
        return asked
    return ",".join(filter(is_token, list_members(asked)))


# PERF: pages repeat the same lists.
_named_kept = lru_cache(maxsize=64)(_named)


def _joined(methods: Any) -> str:
    if isinstance(methods, str):
        return methods
    try:
        return ",".join(methods)
    except TypeError:
        raise TypeError(
            f"cors(allow_methods=...) returned {methods!r:.100}: expected a list of methods"
        ) from None
