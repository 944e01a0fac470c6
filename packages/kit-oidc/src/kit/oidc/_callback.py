# SPDX-License-Identifier: MIT
"""Completes a login: checks the response of the provider, and logs the user in."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from hmac import compare_digest
from typing import Any

from kit.authoring.maybe_await import call, check_answer
from kit.interface import Context, Response, is_response
from kit.session import get_session

from ._attempts import Attempt, take_attempt
from ._errors import SILENT_FAILURES, LoginError
from ._id_token import Expected, is_number
from ._metadata import ProviderMetadata
from ._session_logins import raise_unavailable, require_store, save_login
from ._settings import Settings
from ._tokens import request_tokens
from ._user import LoginRecord

__all__ = ("complete_login", "leave", "login_key", "show_error")

_logger = logging.getLogger("kit.oidc")

_LONGEST = 4096


async def complete_login(settings: Settings, c: Context[Any, Any]) -> Response:
    """Handles the request that the provider sends the user back with.

    SPEC: OpenID Connect Core 1.0, section 3.1.2; RFC 6749, section 4.1.2; RFC 9207; RFC 9700.
    """
    store = require_store(c)
    session = await get_session(c)
    try:
        parameters = _read(c)
        state = parameters.get("state")
        with raise_unavailable():
            attempt = await take_attempt(session, store, state) if state else None
        if attempt is None:
            raise LoginError("unknown_attempt", "the session has no attempt with this state")
        # APPSEC: an attempt is over with its first response, whatever that is.
        _check_attempt(settings, attempt)
        metadata = await settings.provider.metadata()
        _check_issuer(settings, metadata, parameters)
        error = parameters.get("error")
        if error is not None:
            if attempt.is_silent and error in SILENT_FAILURES:
                return leave(c, attempt.return_to)
            description = parameters.get("error_description", "")
            raise LoginError(error, f"the provider reported {error!r:.50}: {description!r:.200}")
        code = parameters.get("code")
        if not code:
            raise LoginError("invalid_request", "the response has neither a code nor an error")
        record = await _redeem(settings, attempt, metadata, code)
        if settings.on_login is not None:
            refusal = await call(settings.on_login, record.user, c)
            check_answer("on_login", refusal, "None or a response", may_respond=True)
            if is_response(refusal):
                return _protect(refusal)
            if refusal is not None:
                raise TypeError(
                    f"on_login returned {type(refusal).__name__}: return None to let the user in, "
                    "or a response, or raise an HTTPException"
                )
    except LoginError as error:
        return await show_error(settings, error, c)
    # APPSEC: a new id, so that one from before the login is worth nothing (session fixation).
    session.rotate(user=record.user.id, login=_login_of(settings, record))
    save_login(session, record)
    return leave(c, attempt.return_to)


async def show_error(settings: Settings, error: LoginError, c: Context[Any, Any]) -> Response:
    """Returns the response to a failed login: that of `on_error`, or a text.

    It is returned, not raised: after an error of the server, a session isn't saved, and the attempt
    would not be over.
    """
    _logger.warning("A login at %s failed: %s", settings.provider.issuer, error)
    if settings.on_error is not None:
        response = await call(settings.on_error, error, c)
        if not is_response(response):
            raise TypeError(
                f"on_error returned {type(response).__name__}, expected a response: "
                "return c.text(error.message, error.status)"
            )
        return _protect(response)
    return _protect(c.text(error.message, error.status))


def _protect(response: Response) -> Response:
    """Keeps the address of the callback, with the code, out of caches and Referer headers."""
    for name, value in (("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")):
        if not response.headers.has(name):
            response.headers.set(name, value)
    return response


def login_key(settings: Settings, sid: str) -> str:
    """Returns the login that sessions are found by, for a session of the provider."""
    # All logins of a client, since the provider ends the session for the client.
    return f"{settings.client.key_at(settings.provider.issuer)} {sid}"


def _login_of(settings: Settings, record: LoginRecord) -> str | None:
    sid = record.user.claims.get("sid")
    return login_key(settings, sid) if isinstance(sid, str) and sid else None


def _read(c: Context[Any, Any]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name, values in c.req.queries().items():
        # SPEC: RFC 6749 section 3.1: a parameter must not be there twice.
        if len(values) > 1:
            raise LoginError("invalid_request", f"the response has {name!r:.50} twice")
        if len(values[0]) > _LONGEST:
            raise LoginError("invalid_request", f"{name!r:.50} is too long")
        found[name] = values[0]
    return found


def _check_attempt(settings: Settings, attempt: Attempt) -> None:
    # SPEC: RFC 9700 section 4.4: each provider has its own callback, or one could take the code of
    # another.
    if not compare_digest(attempt.client, settings.key):
        raise LoginError("wrong_issuer", "the attempt is for another provider")
    if attempt.is_expired:
        raise LoginError("expired_attempt", "the attempt is too old")


def _check_issuer(
    settings: Settings, metadata: ProviderMetadata, parameters: Mapping[str, str]
) -> None:
    """SPEC: RFC 9207 section 2.4."""
    issuer = parameters.get("iss")
    if issuer is None:
        if metadata.authorization_response_iss_parameter_supported:
            raise LoginError("wrong_issuer", "the response lacks iss, which the provider supports")
    elif "{tenantid}" not in metadata.issuer and issuer != metadata.issuer:
        raise LoginError("wrong_issuer", f"the response is from {issuer!r:.200}")


async def _redeem(
    settings: Settings, attempt: Attempt, metadata: ProviderMetadata, code: str
) -> LoginRecord:
    provider = settings.provider
    tokens = await request_tokens(
        provider.http,
        metadata,
        settings.client,
        {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect_uri,
            "code_verifier": attempt.verifier,
        },
        assertion_audience=provider.assertion_audience(metadata),
    )
    expected = Expected(attempt.nonce, attempt.max_age, attempt.acr_values, tokens.access_token)
    identity = await provider.identify(tokens, expected)
    auth_time, acr = identity.id_claims.get("auth_time"), identity.id_claims.get("acr")
    return LoginRecord(
        client=settings.key,
        user=identity.user,
        tokens=tokens,
        nonce=attempt.nonce if provider.has_nonce else None,
        auth_time=auth_time if is_number(auth_time) else None,
        acr=acr if isinstance(acr, str) else None,
    )


def leave(c: Context[Any, Any], location: str) -> Response:
    """Returns the redirect after a login or a logout, which no cache may keep."""
    response = c.redirect(location, 303)
    response.headers.set("Cache-Control", "no-store")
    return response
