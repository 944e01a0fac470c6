# SPDX-License-Identifier: MIT
"""Logs users out: here, at the provider, and when the provider says so."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urlencode

from kit.http.media_types import media_type
from kit.interface import Context, Response
from kit.session import SessionStoreError, get_session, revoke_login, revoke_sessions
from kit.session.stores import SessionRecord, SessionStore

from ._callback import leave, login_key
from ._errors import LoginError, ProviderError
from ._id_token import invalid
from ._provider import OpenIDProvider
from ._session_logins import find_login, raise_unavailable, require_store
from ._settings import Settings
from ._user import User

__all__ = ("complete_logout", "end_by_provider", "log_out")

_logger = logging.getLogger("kit.oidc")

_STATE = "kit.oidc.logout"
_NO_STORE = {"Cache-Control": "no-store"}


async def log_out(settings: Settings, c: Context[Any, Any], return_uri: str) -> Response:
    """Ends the session, and sends the user to the provider to log out there.

    SPEC: OpenID Connect RP-Initiated Logout 1.0, section 2.

    Args:
        settings: The login.
        c: The context.
        return_uri: Where the provider sends the user back to.
    """
    record = await find_login(c, settings.key)
    session = await get_session(c)
    session.destroy()
    endpoint = None
    if record is not None and settings.ends_at_provider:
        try:
            endpoint = (await settings.provider.metadata()).end_session_endpoint
        except ProviderError as error:
            _logger.warning("A user is logged out only here, not at the provider: %s", error)
    if record is None or endpoint is None:
        return leave(c, settings.after_logout)
    state = token_urlsafe(16)
    session[_STATE] = state
    parameters = {
        "client_id": settings.client.id,
        "post_logout_redirect_uri": return_uri,
        "state": state,
    }
    if record.tokens.id_token is not None:
        parameters["id_token_hint"] = record.tokens.id_token
    mark = "&" if "?" in endpoint else "?"
    return leave(c, f"{endpoint}{mark}{urlencode(parameters)}")


async def complete_logout(settings: Settings, c: Context[Any, Any]) -> Response:
    """Handles the request that the provider sends the user back with after a logout."""
    session = await get_session(c)
    state = session.get(_STATE)
    if state is None or c.req.queries("state") != [state]:
        return c.text("This logout was not started in this browser", 400, _NO_STORE)
    del session[_STATE]
    return leave(c, settings.after_logout)


async def end_by_provider(settings: Settings, c: Context[Any, Any]) -> Response:
    """Ends the sessions that the provider names in a logout token.

    SPEC: OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8.
    """
    store = require_store(c)
    provider = settings.provider
    try:
        if not isinstance(provider, OpenIDProvider):
            raise invalid("the provider has no logout tokens")
        if media_type(c.req.header("Content-Type")) != "application/x-www-form-urlencoded":
            raise invalid("the request is no form")
        token = (await c.req.parse_body()).get("logout_token")
        if not isinstance(token, str) or not token:
            raise invalid("the request has no logout_token")
        claims = await provider.id_tokens.validate_logout(token)
        with raise_unavailable():
            await _revoke(settings, store, claims)
    except LoginError as error:
        _logger.warning("A logout of %s is refused: %s", provider.issuer, error)
        if error.status == 503:
            return c.json({"error": "temporarily_unavailable"}, 503, _NO_STORE)
        return c.json({"error": "invalid_request"}, 400, _NO_STORE)
    return c.body(None, 200, _NO_STORE)


async def _revoke(settings: Settings, store: SessionStore, claims: Mapping[str, Any]) -> None:
    """Ends the sessions that a logout token names, once.

    Raises:
        LoginError: If the token was used before.
        SessionStoreError: If the store can't be reached.
    """
    name = f"kit.oidc.jti {login_key(settings, claims['jti'])}"
    key = sha256(name.encode()).hexdigest()
    ends_at = max(float(claims["exp"]), time.time()) + settings.leeway_s + 1
    if not await store.insert(key, SessionRecord(b"{}", 1, time.time(), ends_at)):
        raise invalid("the logout token was used before")
    try:
        sid = claims.get("sid")
        if sid is not None:
            await revoke_login(store, login_key(settings, sid))
        else:
            await revoke_sessions(store, User(issuer=claims["iss"], sub=claims["sub"]).id)
    except SessionStoreError:
        with suppress(SessionStoreError):
            await store.delete(key)  # the provider will try again with the same token
        raise
