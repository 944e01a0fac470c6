# SPDX-License-Identifier: MIT
"""Checks the options of the middleware, and builds the reader and writer of sessions."""

from __future__ import annotations

from typing import Any

from kit.authoring.options import OptionChecks
from kit.cookie import CookieOptions
from kit.http.fields import is_token

from ._cookie import SessionCookie
from ._cookie_sessions import CookieSessions
from ._saved import Lifetime
from ._secrets import Encryption, Signature, check_secrets
from ._session import MOST_AGE_S
from ._state import Backend
from ._stored_sessions import StoredSessions
from .stores import SessionStore

__all__ = ("ON_STORE_ERROR", "check_cookie_name", "make_backend", "make_cookie", "make_lifetime")

ON_STORE_ERROR = ("unavailable", "anonymous")
_SAME_SITE = ("Strict", "Lax", "None")
_PREFIXES = ("__host-", "__secure-")
_PATH = r"/[ -:<-~]{0,1000}"
_DOMAIN = r"[A-Za-z0-9_](?:[A-Za-z0-9._\-]{0,250}[A-Za-z0-9])?"


def check_cookie_name(check: OptionChecks, name: Any) -> str:
    """Checks the name of a cookie (RFC 6265bis section 4.1.1)."""
    text = check.text("cookie", name)
    if not is_token(text) or len(text) > 100:
        check.unusable("cookie", name, "a token of at most 100 characters such as 'session'")
    return text


def make_lifetime(
    check: OptionChecks, max_age: Any, idle_timeout: Any, persistent: Any
) -> Lifetime:
    """Checks the options for the lifetime of sessions."""
    check.number("max_age", max_age, least=1, most=MOST_AGE_S, unit="seconds", whole=False)
    if idle_timeout is not None:
        check.number("idle_timeout", idle_timeout, least=1, unit="seconds", whole=False)
        if idle_timeout >= max_age:
            check.unusable(
                "idle_timeout", idle_timeout, f"less than max_age, which is {max_age} seconds"
            )
        idle_timeout = float(idle_timeout)
    return Lifetime(float(max_age), idle_timeout, check.flag("persistent", persistent))


def make_cookie(
    check: OptionChecks,
    *,
    cookie: Any,
    secure: Any,
    same_site: Any,
    path: Any,
    domain: Any,
    partitioned: Any,
) -> SessionCookie:
    """Checks the options of the cookie, and finds its full name."""
    name = check_cookie_name(check, cookie)
    if name.lower().startswith(_PREFIXES):
        check.unusable(
            "cookie", name, "a name without prefix: __Host- or __Secure- is added automatically"
        )
    check.flag("secure", secure)
    check.flag("partitioned", partitioned)
    check.choice("same_site", same_site, _SAME_SITE)
    check.text("path", path, _PATH, "a path such as '/' in ASCII without ';'")
    if domain is not None:
        check.text("domain", domain, _DOMAIN, "a host name in ASCII such as 'example.com'")
    if not secure:
        _check_insecure(check, same_site, partitioned)
    prefix = ""
    if secure:
        prefix = "__Host-" if domain is None and path == "/" else "__Secure-"
    options = CookieOptions(
        path=path,
        domain=domain,
        secure=secure,
        http_only=True,
        same_site=same_site,
        partitioned=partitioned,
    )
    return SessionCookie(prefix + name, options)


def _check_insecure(check: OptionChecks, same_site: str, partitioned: bool) -> None:
    rejected = "browsers reject such a cookie. Write secure=True"
    if same_site == "None":
        raise ValueError(
            f"{check.factory}(same_site='None') can't be used with secure=False: {rejected}"
        )
    if partitioned:
        raise ValueError(
            f"{check.factory}(partitioned=True) can't be used with secure=False: {rejected}"
        )


def make_backend(
    check: OptionChecks,
    cookie: SessionCookie,
    lifetime: Lifetime,
    *,
    secret: Any,
    store: Any,
    encrypt: Any,
    on_store_error: Any,
) -> Backend:
    """Checks where sessions are kept, and returns their reader and writer."""
    check.flag("encrypt", encrypt)
    check.choice("on_store_error", on_store_error, ON_STORE_ERROR)
    secrets = None if secret is None else check_secrets(secret)
    # A value signed for one cookie is invalid in another one.
    purpose = f"kit.session {cookie.name}"
    if store is None:
        return _in_cookies(check, cookie, lifetime, secrets, purpose, encrypt, on_store_error)
    if not isinstance(store, SessionStore) or isinstance(store, type):
        expected = "a SessionStore such as MemoryStore()"
        check.wrong_type("store", store, expected)
    if encrypt:
        raise ValueError(
            f"{check.factory}(encrypt=True) is for sessions in cookies: with store=... the cookie "
            "has a random id only. Leave out encrypt"
        )
    return StoredSessions(
        cookie,
        store,
        None if secrets is None else Signature(secrets, f"{purpose} id", encodes=False),
        lifetime,
        tolerates_failures=on_store_error == "anonymous",
    )


def _in_cookies(
    check: OptionChecks,
    cookie: SessionCookie,
    lifetime: Lifetime,
    secrets: tuple[bytes, ...] | None,
    purpose: str,
    encrypt: bool,
    on_store_error: str,
) -> Backend:
    if secrets is None:
        raise ValueError(
            f"{check.factory}() needs a secret, to sign cookies that hold the session, or store=..."
        )
    if on_store_error != ON_STORE_ERROR[0]:
        raise ValueError(f"{check.factory}(on_store_error=...) needs store=...")
    if encrypt:
        # APPSEC: no key is used for two algorithms.
        return CookieSessions(cookie, Encryption(secrets, f"{purpose} encrypted"), lifetime)
    return CookieSessions(cookie, Signature(secrets, purpose), lifetime)
