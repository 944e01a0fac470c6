# SPDX-License-Identifier: MIT
"""Middleware that accepts only requests with a user in their session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.interface import AnyContext, AsyncMiddleware, Context, HTTPException, Next, Response
from kit.interface.metadata import attach

from ._options import check_cookie_name
from ._session import get_session

__all__ = ("OnMissing", "require_user")

OnMissing: TypeAlias = Callable[[AnyContext], Any]
"""Returns the response to a request without a user: `def on_missing(c)`, plain or async."""


def require_user(
    *, on_missing: OnMissing | None = None, cookie: str = "__Host-session"
) -> AsyncMiddleware:
    """Returns middleware that accepts only requests with a user in their session.

    Any other request gets a 401 (RFC 9110 section 15.5.2), or the response of `on_missing`.
    Register it after `session()`.

    Args:
        on_missing: Function `(c)`, plain or async, that returns the response to a request without a
            user, e.g. a redirect to the login page. Default: 401.
        cookie: Full name of the cookie, for the challenge of the 401 and for OpenAPI; see the
            options of `session`.

    Returns:
        The middleware, for `app.use(path, ...)`. It declares its security scheme and the 401, see
        `kit.interface.metadata`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If `cookie` isn't a valid cookie name.

    Example:
        app.use("/account/*", require_user(on_missing=lambda c: c.redirect("/login", 303)))
    """
    check = OptionChecks("require_user")
    if on_missing is not None:
        check.function("on_missing", on_missing, "(c)")
    check_cookie_name(check, cookie)
    # There is no registered scheme for cookies, but a 401 needs a challenge (RFC 9110 section
    # 11.6.1). Browsers ignore unknown schemes.
    challenge = {"WWW-Authenticate": f'Cookie cookie-name="{cookie}"'}

    async def require_user(c: Context[Any, Any], next: Next) -> Response | None:
        session = await get_session(c)
        if session.user is not None:
            await next()
            return None
        if on_missing is None:
            raise HTTPException(401, "Unauthorized", headers=challenge)
        response: Response = await call(on_missing, c)
        return response

    scheme = {"type": "apiKey", "in": "cookie", "name": cookie}
    return attach(
        require_user,
        security=scheme,
        responses={401: "No user is logged in"} if on_missing is None else None,
    )
