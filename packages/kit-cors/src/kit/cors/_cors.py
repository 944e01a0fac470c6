# SPDX-License-Identifier: MIT
"""The middleware: answers preflights, and adds CORS headers to all other responses."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware, Context, Next, Response

from ._options import (
    AllowMethods,
    AllowOrigin,
    Decide,
    check_flags,
    check_headers,
    check_methods,
    check_origin,
    checked,
)
from ._preflight import Preflights

__all__ = ("AllowMethods", "AllowOrigin", "cors")

_Answer: TypeAlias = Callable[[Context[Any, Any], str, str | None], Awaitable[Response]]

_ORIGIN = "Access-Control-Allow-Origin"
_CREDENTIALS = "Access-Control-Allow-Credentials"
_EXPOSE = "Access-Control-Expose-Headers"
_ASKED_METHOD = "Access-Control-Request-Method"
# The variable in which inner `cors` middleware reports the allowed origin to outer one.
_ALLOWED = "kit.cors"


def cors(
    *,
    origin: str | Iterable[str] | re.Pattern[str] | AllowOrigin = "*",
    allow_methods: str | Iterable[str] | AllowMethods = (
        "GET",
        "HEAD",
        "PUT",
        "POST",
        "DELETE",
        "PATCH",
        "QUERY",
    ),
    allow_headers: str | Iterable[str] = (),
    max_age: int | None = None,
    credentials: bool = False,
    expose_headers: str | Iterable[str] = (),
    allow_private_network: bool = False,
) -> AsyncMiddleware:
    """Returns middleware that lets scripts from other origins call the routes it covers.

    It responds to preflights, which are OPTIONS requests with Access-Control-Request-Method, with
    a 204. All other requests go on to the handlers, and their responses get the headers, whatever
    their status. Register it before guards, since preflights have no credentials, and scripts must
    be able to read errors and rejections.

    CORS controls which pages may read responses. It doesn't prevent requests from being handled:
    see kit-csrf.

    Args:
        origin: The allowed origins: `*` for all; one or several, compared literally, e.g.
            `https://app.example.com`; a compiled pattern, which has to match the whole origin; or
            a function `(origin, c)`, plain or async, that returns the origin to allow, `*`, or
            None. The function gets `""` if there is no Origin header.
        allow_methods: The allowed methods, or a function `(origin, c)`, plain or async, that
            returns them.
        allow_headers: The allowed request headers. If empty, all that the preflight requests.
        max_age: Seconds for which browsers may cache the preflight response. None: the browser's
            default, 5 seconds according to the standard.
        credentials: Whether to allow requests with cookies and other credentials. Requires named
            origins. If a function returns `*`, the response doesn't allow them.
        expose_headers: The response headers that scripts may read, in addition to the safelisted
            ones.
        allow_private_network: Whether public sites may call a server in a private network (Private
            Network Access). Requires named origins.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid, by itself or in combination with another one.

    SPEC: WHATWG Fetch, section 3.3.

    Example:
        app.use("/api/*", cors(origin="https://app.example.com", credentials=True))
    """
    check = OptionChecks("cors")
    any_origin = isinstance(origin, str) and origin == "*"
    check_flags(
        check,
        credentials=credentials,
        allow_private_network=allow_private_network,
        any_origin=any_origin,
    )
    origins = None if any_origin else check_origin(check, origin)
    listed = origins if isinstance(origins, frozenset) else None
    decide = checked(origins) if callable(origins) else None
    exposed = check_headers(check, "expose_headers", expose_headers, credentials=credentials)
    if max_age is not None:
        check.number("max_age", max_age, least=0, unit="seconds")
    answer = Preflights(
        any_origin=any_origin,
        allow_methods=check_methods(check, allow_methods, credentials=credentials),
        allow_headers=check_headers(check, "allow_headers", allow_headers, credentials=credentials),
        max_age=None if max_age is None else str(max_age),
        credentials=credentials,
        expose_headers=exposed,
        allow_private_network=allow_private_network,
    ).answer
    if any_origin:
        return _for_any(answer, exposed)
    return _for_some(listed, decide, answer, exposed, credentials=credentials)


def _for_any(answer: _Answer, exposed: str | None) -> AsyncMiddleware:
    async def cors(c: Context[Any, Any], next: Next) -> Response | None:
        req = c.req
        if req.method == "OPTIONS" and req.header(_ASKED_METHOD) is not None:
            return await answer(c, req.header("Origin") or "", "*")
        try:
            await next()
        finally:  # a timeout further out cancels it, and answers with the headers that are set
            inner = c.get(_ALLOWED)
            if not inner:
                c.set(_ALLOWED, "*")
                c.header(_ORIGIN, "*")
                # A mounted app may have allowed them to the origin that it had named.
                c.header(_CREDENTIALS)
            if exposed is not None and (inner is None or not c.res.headers.has(_EXPOSE)):
                c.header(_EXPOSE, exposed)
        return None

    return cors


def _for_some(
    listed: frozenset[str] | None,
    decide: Decide | None,
    answer: _Answer,
    exposed: str | None,
    *,
    credentials: bool,
) -> AsyncMiddleware:
    async def cors(c: Context[Any, Any], next: Next) -> Response | None:
        req = c.req
        origin = req.header("Origin") or ""
        allowed: str | None
        if decide is not None:
            allowed = await decide(origin, c)
        else:
            allowed = origin if listed is not None and origin in listed else None
        if req.method == "OPTIONS" and req.header(_ASKED_METHOD) is not None:
            return await answer(c, origin, allowed)
        try:
            await next()
        finally:  # a timeout further out cancels it, and answers with the headers that are set
            inner = c.get(_ALLOWED)
            if not inner:
                c.set(_ALLOWED, allowed or "")
            if allowed is not None and (not inner or inner == allowed):
                c.header(_ORIGIN, allowed)
                if credentials and allowed == origin != "*":
                    c.header(_CREDENTIALS, "true")
                elif not inner:
                    # A mounted app may have allowed them, but not to this origin.
                    c.header(_CREDENTIALS)
            if exposed is not None and (inner is None or not c.res.headers.has(_EXPOSE)):
                c.header(_EXPOSE, exposed)
            # PERF: appended without checking for duplicates, which costs more than a second line.
            c.header("Vary", "Origin", append=True)
        return None

    return cors
