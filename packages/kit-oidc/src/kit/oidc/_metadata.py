# SPDX-License-Identifier: MIT
"""Discovers the endpoints of a provider, and keeps them for an hour."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Generic, TypeVar

import anyio
import msgspec
from anyio.lowlevel import RunVar

from kit.http.secure_uris import is_secure_uri

from ._errors import ProviderError
from ._http import HttpClient

__all__ = ("Discovery", "IssuerMetadata", "ProviderMetadata")

_LIFETIME_S = 3600.0
_MAX_STALE_S = 24 * 3600.0
_RETRY_S = 5.0


class IssuerMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed of an issuer of access tokens (RFC 8414, section 2).

    Attributes:
        issuer: The issuer.
        jwks_uri: Where its keys are.
    """

    issuer: str
    jwks_uri: str

    @property
    def endpoints(self) -> tuple[str | None, ...]:
        """All addresses that requests are sent to."""
        return (self.jwks_uri,)


class ProviderMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed of a provider (OpenID Connect Discovery 1.0, section 3).

    Attributes:
        issuer: The provider.
        authorization_endpoint: Where users log in.
        token_endpoint: Where tokens are issued.
        jwks_uri: Where the keys are; None for providers without ID tokens.
        userinfo_endpoint: Where more claims are.
        end_session_endpoint: Where users log out.
        token_endpoint_auth_methods_supported: How clients may authenticate.
        authorization_response_iss_parameter_supported: Whether responses name the issuer (RFC 9207,
            section 3).
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str | None = None
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] | None = None
    authorization_response_iss_parameter_supported: bool = False

    @property
    def endpoints(self) -> tuple[str | None, ...]:
        """All addresses that requests are sent to."""
        return (
            self.authorization_endpoint,
            self.token_endpoint,
            self.jwks_uri,
            self.userinfo_endpoint,
            self.end_session_endpoint,
        )


M = TypeVar("M", bound=IssuerMetadata | ProviderMetadata)


class Discovery(Generic[M]):
    """The metadata of an issuer, fetched on first use.

    Args:
        http: Sends the requests.
        kind: The type of the metadata.
        issuer: The issuer, which the metadata must name exactly.
        urls: Where the metadata is; the first that there is is used.
    """

    def __init__(self, http: HttpClient, kind: type[M], issuer: str, urls: Sequence[str]) -> None:
        self._http = http
        self._kind = kind
        self._issuer = issuer
        self._urls = urls
        self._found: M | None = None
        self._found_at = self._failed_at = -float("inf")
        self._failure: ProviderError | None = None
        self._locks: RunVar[anyio.Lock | None] = RunVar("kit.oidc.discovery", None)

    async def get(self) -> M:
        """Returns the metadata; concurrent callers share one request.

        Raises:
            ProviderError: If it can't be fetched or used, and there is none from the last day.
        """
        found = self._until(_LIFETIME_S)
        if found is not None:
            return found
        lock = self._locks.get()
        if lock is None:
            lock = anyio.Lock()
            self._locks.set(lock)
        async with lock:
            found = self._until(_LIFETIME_S)
            if found is None:
                found = await self._refresh()
            return found

    def _is_accepted(self, endpoint: str) -> bool:
        # APPSEC: only an issuer on this machine may name http addresses on it, or another issuer
        # could reach what listens there (server-side request forgery).
        is_local = self._issuer.startswith("http:")
        return is_secure_uri(endpoint) and (is_local or endpoint.startswith("https:"))

    def _until(self, most_s: float) -> M | None:
        return self._found if time.monotonic() - self._found_at < most_s else None

    async def _refresh(self) -> M:
        # A provider that is down isn't asked by every request.
        if self._failure is None or time.monotonic() - self._failed_at >= _RETRY_S:
            try:
                self._found = await self._fetch()
                self._found_at, self._failure = time.monotonic(), None
                return self._found
            except ProviderError as error:
                self._failed_at, self._failure = time.monotonic(), error
        stale = self._until(_LIFETIME_S + _MAX_STALE_S)
        if stale is not None:
            return stale
        raise self._failure.with_traceback(None)

    async def _fetch(self) -> M:
        for url in self._urls:
            answer = await self._http.send("GET", url)
            if answer.status == 404 and url != self._urls[-1]:
                continue
            if answer.status != 200:
                raise ProviderError(f"{answer.url} has the status {answer.status}, expected 200")
            found = answer.decode(self._kind)
            # SPEC: OpenID Connect Discovery section 4.3, RFC 8414 section 3.3: exactly, or another
            # issuer could take the place of this one.
            if found.issuer != self._issuer:
                raise ProviderError(
                    f"{answer.url} is of the issuer {found.issuer!r:.200}, expected "
                    f"{self._issuer!r}",
                    "wrong_issuer",
                )
            for endpoint in found.endpoints:
                if endpoint is not None and not self._is_accepted(endpoint):
                    raise ProviderError(
                        f"{answer.url} has the address {endpoint!r:.200}, expected https"
                    )
            return found
        raise AssertionError("unreachable: the last address returns or raises")
