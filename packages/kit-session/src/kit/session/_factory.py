# SPDX-License-Identifier: MIT
"""The middleware, which gives each request its session, and saves changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware, Context, Next
from kit.interface.metadata import attach

from ._cookie import protect_from_caches
from ._options import make_backend, make_cookie, make_lifetime
from ._session import VARIABLE, Session, get_state
from ._state import Backend, SessionState
from .stores import SessionStore

__all__ = ("session",)

_FORTNIGHT_S = 14 * 24 * 60 * 60


def session(
    secret: str | bytes | Sequence[str | bytes] | None = None,
    *,
    store: SessionStore | None = None,
    max_age: float = _FORTNIGHT_S,
    idle_timeout: float | None = None,
    persistent: bool = True,
    encrypt: bool = False,
    on_store_error: Literal["unavailable", "anonymous"] = "unavailable",
    cookie: str = "session",
    secure: bool = True,
    same_site: Literal["Strict", "Lax", "None"] = "Lax",
    path: str = "/",
    domain: str | None = None,
    partitioned: bool = False,
) -> AsyncMiddleware:
    """Returns middleware that gives requests a session, for `get_session`.

    The session is read when a handler first uses it, and saved after the handlers if they changed
    it, before the headers of the response are sent. If an exception leads to a status of 500 or
    more, nothing is saved; any other response saves the session. If a request doesn't use the
    session, its response isn't changed; all others have `Vary: Cookie`, and `Cache-Control:
    private` or, with a cookie, `no-store`, unless the handler has set an equivalent.

    Several of them can cover a route if their cookies have different names: `get_session` returns
    the session of the innermost one.

    Args:
        secret: Signs the cookie: at least 32 random bytes as a str. In a list, the first one signs
            and all of them verify, so that a secret can be replaced. Required without `store`.
        store: Keeps the sessions on the server; the cookie then has a random id. Default: the
            sessions are in the cookie, at most 4096 octets, which the client can read.
        max_age: Lifetime of a session in seconds, at most 400 days. Only a login starts a new one.
        idle_timeout: Seconds of inactivity after which a session expires, up to 10 % later, so that
            not every use has to be written. Default: no such limit.
        persistent: Whether cookies outlive the browser; `Session.remember` decides for one session.
        encrypt: Whether to also encrypt the session in the cookie. Needs the extra `encryption`.
        on_store_error: The result if a session can't be read or saved: `"unavailable"`
            for 503 with Retry-After (RFC 9110 section 15.6.4), or `"anonymous"` for an empty
            session that isn't saved (`Session.is_degraded`).
        cookie: Name of the cookie without its prefix. With `secure`, the prefix is `__Host-`, or
            `__Secure-` if there is a `domain` or another `path` (RFC 6265bis section 4.1.3).
        secure: Whether the cookie is sent only over https. Chrome and Firefox also accept it from
            http://localhost; Safari and other clients need False in development over http.
        same_site: `"Strict"`, `"Lax"` or `"None"`: whether the cookie is sent with requests from
            other sites.
        path: The cookie is sent for this path and all paths below it.
        domain: The cookie is sent to this host and all its subdomains. Default: only to the host.
        partitioned: Whether browsers keep the cookie apart for each site that embeds this one.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used, options contradict each other, or a secret is too
            short.
        ImportError: If `encrypt` is True and cryptography isn't installed.

    SPEC: RFC 6265bis.

    Example:
        app.use(session(os.environ["SESSION_SECRET"]))
    """
    check = OptionChecks("session")
    lifetime = make_lifetime(check, max_age, idle_timeout, persistent)
    session_cookie = make_cookie(
        check,
        cookie=cookie,
        secure=secure,
        same_site=same_site,
        path=path,
        domain=domain,
        partitioned=partitioned,
    )
    backend = make_backend(
        check,
        session_cookie,
        lifetime,
        secret=secret,
        store=store,
        encrypt=encrypt,
        on_store_error=on_store_error,
    )

    async def session(c: Context[Any, Any], next: Next) -> None:
        outer = c.get(VARIABLE)
        if outer is not None and _has_session(outer, backend):
            await next()
            return
        state = SessionState(backend, c)
        c.set(VARIABLE, Session(state))
        await next()
        state.close()
        if state.is_loaded:
            # A handler that failed may have done only half of its work.
            if c.error is None or c.res.status < 500:
                await backend.save(state)
            protect_from_caches(c, sets_cookie=state.sets_cookie)
        state.release()

    return attach(session, provides={VARIABLE: Session})


def _has_session(outer: Any, backend: Backend) -> bool:
    """Returns whether an outer middleware already handles this cookie.

    Raises:
        RuntimeError: If a different one has the same cookie.
    """
    if not isinstance(outer, Session):
        return False
    other = get_state(outer).backend
    if other is not backend and other.cookie_name == backend.cookie_name:
        raise RuntimeError(
            f"Two session() with the cookie {backend.cookie_name} cover this route: register the "
            "same one for both, or give one of them another name, session(cookie=...)"
        )
    return other is backend
