# SPDX-License-Identifier: MIT
"""Refreshes access tokens: once, however many requests, processes and machines want to."""

from __future__ import annotations

import time
from hashlib import sha256
from typing import Any

import anyio
import msgspec

from kit.session.stores import SessionRecord, SessionStore

from ._errors import LoginError, ProviderError
from ._id_token import Expected, invalid
from ._provider import OpenIDProvider
from ._settings import Settings
from ._tokens import request_tokens
from ._user import LoginRecord, Tokens

__all__ = ("refresh_login",)

# How long requests that read the session before find the new tokens in the store.
_KEPT_S = 300.0
_POLL_S = 0.02


class _Result(msgspec.Struct, omit_defaults=True):
    """The data of the record by which requests agree on one refresh."""

    is_done: bool = False
    tokens: Tokens | None = None
    refusal: str | None = None


async def refresh_login(
    settings: Settings, store: SessionStore, record: LoginRecord
) -> LoginRecord:
    """Returns a login with new tokens.

    A provider that rotates refresh tokens ends the login if one is used twice (RFC 9700, section
    4.14.2). So the first request claims the refresh in the store, and others wait for its result.

    Args:
        settings: The login.
        store: The store of the sessions.
        record: The login, with a refresh token.

    Raises:
        LoginError: If the provider refuses.
        ProviderError: If it can't be reached.
        SessionStoreError: If the store can't be reached.
    """
    old = record.tokens
    # With the access token, since some providers keep the refresh token.
    name = f"kit.oidc.refresh {settings.key} {old.refresh_token} {old.access_token}"
    key = sha256(name.encode()).hexdigest()
    patience_s = settings.provider.http.timeout_s * 4 + 5
    with anyio.move_on_after(patience_s):
        while True:
            now = time.time()
            claim = SessionRecord(_encode(_Result()), 1, now, now + patience_s)
            if await store.insert(key, claim):
                # A client that disconnects must not lose the only copy of the new tokens.
                with anyio.CancelScope(shield=True):
                    return await _refresh(settings, store, key, claim, record)
            found = await store.read(key)
            result = None if found is None else msgspec.json.decode(found.data, type=_Result)
            if result is not None and result.is_done:
                return _apply(result, record)
            await anyio.sleep(_POLL_S)
    raise ProviderError("another request refreshes the tokens, and takes too long")


async def _refresh(
    settings: Settings, store: SessionStore, key: str, claim: SessionRecord, record: LoginRecord
) -> LoginRecord:
    try:
        result = _Result(True, await _request(settings, record))
    except ProviderError:
        await store.delete(key)  # the next request may try again
        raise
    except LoginError as error:
        result = _Result(True, None, str(error))
    except BaseException:
        with anyio.CancelScope(shield=True):
            await store.delete(key)
        raise
    now = time.time()
    await store.replace(key, SessionRecord(_encode(result), 2, claim.created_at, now + _KEPT_S))
    return _apply(result, record)


def _encode(result: _Result) -> bytes:
    return msgspec.json.encode(result)


def _apply(result: _Result, record: LoginRecord) -> LoginRecord:
    if result.tokens is None:
        raise LoginError("invalid_request", f"the login can't be refreshed: {result.refusal}")
    return msgspec.structs.replace(record, tokens=result.tokens)


async def _request(settings: Settings, record: LoginRecord) -> Tokens:
    provider, old = settings.provider, record.tokens
    metadata = await provider.metadata()
    new = await request_tokens(
        provider.http,
        metadata,
        settings.client,
        {"grant_type": "refresh_token", "refresh_token": old.refresh_token or ""},
        assertion_audience=provider.assertion_audience(metadata),
    )
    if new.id_token is not None and isinstance(provider, OpenIDProvider):
        claims = await provider.id_tokens.validate(
            new.id_token, Expected(None, access_token=new.access_token)
        )
        _check_same(claims, record)
    return msgspec.structs.replace(
        new,
        refresh_token=new.refresh_token or old.refresh_token,
        id_token=new.id_token or old.id_token,
        scope=new.scope if new.scope is not None else old.scope,
    )


def _check_same(claims: dict[str, Any], record: LoginRecord) -> None:
    """SPEC: OpenID Connect Core section 12.2."""
    user = record.user
    if (claims["iss"], claims["sub"]) != (user.issuer, user.sub):
        raise invalid("the refreshed ID token is of another user")
    if "nonce" in claims and claims["nonce"] != record.nonce:
        raise invalid("the refreshed ID token has another nonce")
    if "auth_time" in claims and claims["auth_time"] != record.auth_time:
        raise invalid("the refreshed ID token has another auth_time")
