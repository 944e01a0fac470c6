# SPDX-License-Identifier: MIT
"""Exchanges codes and refresh tokens for tokens (RFC 6749, sections 4.1.3 and 6)."""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from ._client import Client
from ._errors import LoginError, ProviderError
from ._http import HttpClient
from ._id_token import invalid
from ._metadata import ProviderMetadata
from ._user import Tokens

__all__ = ("request_tokens",)


class _TokenResponse(msgspec.Struct, frozen=True):
    # GitHub sends errors with the status 200.
    error: str | None = None
    access_token: str | None = None
    token_type: str | None = None
    expires_in: int | float | str | None = None
    refresh_token: str | None = None
    id_token: str | None = None
    scope: str | None = None


async def request_tokens(
    http: HttpClient,
    metadata: ProviderMetadata,
    client: Client,
    grant: Mapping[str, str],
    *,
    assertion_audience: str,
) -> Tokens:
    """Requests tokens for a grant.

    Args:
        http: Sends the request.
        metadata: The provider.
        client: The client, which authenticates itself.
        grant: The grant: `grant_type` and its parameters.
        assertion_audience: Who gets the assertion of `private_key_jwt`.

    Raises:
        LoginError: If the provider refuses the grant; its code is `invalid_request`.
        ProviderError: If the request fails, or the response can't be used.
    """
    supported = metadata.token_endpoint_auth_methods_supported
    parameters, headers = client.authenticate(assertion_audience, supported)
    asked_at = time.time()
    answer = await http.send(
        "POST", metadata.token_endpoint, form={**grant, **parameters}, headers=headers
    )
    if answer.status >= 500:
        raise ProviderError(f"{answer.url} has the status {answer.status}")
    found = answer.decode(_TokenResponse)
    if found.error is not None or answer.status != 200:
        error = f"{answer.url} refused with the status {answer.status}: {found.error!r:.100}"
        # A grant that is used or expired is the problem of this login; others are of the app.
        if found.error in ("invalid_grant", "bad_verification_code"):
            raise LoginError("invalid_request", error)
        raise ProviderError(error, "provider_error")
    if not found.access_token or (found.token_type or "").lower() != "bearer":
        raise invalid(f"{answer.url} sent no access token of the type Bearer")
    return Tokens(
        access_token=found.access_token,
        expires_at=_expiry(found.expires_in, asked_at),
        refresh_token=found.refresh_token or None,
        id_token=found.id_token or None,
        scope=found.scope,
    )


def _expiry(expires_in: float | str | None, asked_at: float) -> float | None:
    if expires_in is None:
        return None
    try:
        seconds = float(expires_in)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e10:
        raise invalid(f"expires_in is {expires_in!r:.50}, expected seconds")
    return asked_at + seconds
