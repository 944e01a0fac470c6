# SPDX-License-Identifier: MIT
"""The middleware: rejects requests that another site may have sent."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from kit.authoring.maybe_await import check_answer, is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.authoring.origins import check_origins
from kit.http.methods import SAFE_METHODS
from kit.http.origins import is_own_origin
from kit.interface import AnyContext, AsyncMiddleware, Context, HTTPException, Next
from kit.interface.metadata import attach

__all__ = ("IsAllowedOrigin", "IsAllowedSite", "SecFetchSite", "csrf")

SecFetchSite: TypeAlias = Literal["same-origin", "same-site", "none", "cross-site"]
"""The values of Sec-Fetch-Site (W3C Fetch Metadata, section 2.3)."""

IsAllowedOrigin: TypeAlias = Callable[[str, AnyContext], bool | Awaitable[bool]]
"""Returns whether an origin is allowed: `def allowed(origin, c)`, plain or async."""

IsAllowedSite: TypeAlias = Callable[[SecFetchSite, AnyContext], bool | Awaitable[bool]]
"""Returns whether a Sec-Fetch-Site is allowed: `def allowed(site, c)`, plain or async."""

_Allows: TypeAlias = Callable[[Any, AnyContext], Any]

_SITES = get_args(SecFetchSite)
# Without TRACE, which browsers don't send.
# APPSEC: QUERY is safe, too (RFC 10008, section 2), but has a body, and handlers for all methods
# may take it for a POST. Browsers send both headers with it, so pages of the site itself pass.
_PASSED = SAFE_METHODS - {"QUERY", "TRACE"}
# SPEC: the types of forms and links (HTML, sections 4.10.18.6 and 4.6.5), which need no preflight.
# A script of another site can also send a body that has no type.
_FORM = re.compile(
    r"(?:application/x-www-form-urlencoded|multipart/form-data|text/p(?:lain|ing))\b", re.I | re.A
)


def csrf(
    *,
    origin: str | Iterable[str] | IsAllowedOrigin | None = None,
    sec_fetch_site: SecFetchSite | Iterable[SecFetchSite] | IsAllowedSite = "same-origin",
    forms_only: bool = False,
) -> AsyncMiddleware:
    """Returns middleware that rejects requests that a page of another site may have sent.

    GET, HEAD and OPTIONS requests always pass. Any other request passes if its Sec-Fetch-Site or
    its Origin header is allowed. Otherwise, or if it has neither header, the middleware raises an
    `HTTPException` with status 403.

    Browsers set both headers themselves, and scripts can't change them. Clients other than browsers
    send neither, so don't cover routes that are only for them.

    Args:
        origin: The allowed origins: one or several, compared literally, e.g.
            `https://app.example.com`, or a function `(origin, c)`, plain or async, that returns
            whether an origin is allowed. None: the request's own origin, see
            `kit.http.origins.is_own_origin`. If the server sees `http`, e.g. behind a proxy
            that terminates TLS, the `https` origin of the same host is allowed too.
        sec_fetch_site: The allowed values of Sec-Fetch-Site: one or several, or a function
            `(site, c)`, plain or async, which is called only with values of the standard.
        forms_only: Whether to let through requests with a Content-Type that forms can't send. This
            is for APIs that accept only JSON and check the type; see the README.

    Returns:
        The middleware, for `app.use(...)`. Its 403 is described in its metadata.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an origin or a value of Sec-Fetch-Site is invalid.

    SPEC: W3C Fetch Metadata, section 2.3; RFC 6454, section 7.

    Example:
        app.use(csrf())
    """
    check = OptionChecks("csrf")
    is_allowed_origin = _by_origin(check, origin)
    is_allowed_site = _by_site(check, sec_fetch_site)
    check.flag("forms_only", forms_only)

    async def guard(c: Context[Any, Any], next: Next) -> None:
        header = c.req.header
        if forms_only and not _FORM.match(header("Content-Type") or "text/plain"):
            await next()
            return
        site = header("Sec-Fetch-Site")
        if site in _SITES:
            allowed = is_allowed_site(site, c)
            if is_awaitable(allowed):
                allowed = await settle(allowed, "csrf(sec_fetch_site=...)")
            if allowed:
                check_answer("csrf(sec_fetch_site=...)", allowed)
                await next()
                return
        origin = header("Origin")
        # Repeated headers are joined with a comma, which could fool a function that checks only
        # the end.
        if origin is not None and "," not in origin:
            allowed = is_allowed_origin(origin, c)
            if is_awaitable(allowed):
                allowed = await settle(allowed, "csrf(origin=...)")
            if allowed:
                check_answer("csrf(origin=...)", allowed)
                await next()
                return
        raise HTTPException(403, "Forbidden")

    # PERF: not a coroutine, so that safe requests cost almost nothing.
    def csrf(c: Context[Any, Any], next: Next) -> Awaitable[None]:
        return next() if c.req.method in _PASSED else guard(c, next)

    return attach(csrf, responses={403: "The request may come from another site"})


def _by_origin(check: OptionChecks, origin: Any) -> _Allows:
    if origin is None:
        return lambda origin, c: is_own_origin(origin, c.req.url)
    if callable(origin):
        return check.function("origin", origin, "(origin, c)")  # type: ignore[no-any-return]
    if not _is_iterable(origin):
        expected = "an origin, a list of origins or a function (origin, c)"
        check.wrong_type("origin", origin, expected)
    origins = check_origins(check, "origin", origin)
    return lambda origin, c: origin in origins


def _by_site(check: OptionChecks, value: Any) -> _Allows:
    if callable(value):
        return check.function("sec_fetch_site", value, "(site, c)")  # type: ignore[no-any-return]
    if not _is_iterable(value):
        expected = "a value of Sec-Fetch-Site, a list of them or a function (site, c)"
        check.wrong_type("sec_fetch_site", value, expected)
    sites = check.texts("sec_fetch_site", value)
    for site in sites:
        check.choice("sec_fetch_site", site, _SITES)
    return lambda site, c: site in sites


def _is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, Mapping))
