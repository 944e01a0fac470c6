# SPDX-License-Identifier: MIT
"""Verifies tokens with configured or fetched keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.http.secure_uris import is_secure_uri
from kit.jwt._claims import ClaimChecks
from kit.jwt._compact import parse
from kit.jwt._errors import (
    JwtAlgorithmNotAllowedError,
    JwtHeaderRequiresKidError,
    JwtKeyNotFoundError,
)
from kit.jwt._keys import ASYMMETRIC, SYMMETRIC
from kit.jwt._tokens import VerifiedToken, verified

from ._cache import JwksCache, JwksUnavailableError, Policy
from ._fetch import fetch_keys
from ._keys import KeySet, key_list, key_set

# A function may return one for each tenant.
_MOST_URIS = 32
_MOST_RESTING = 1000


class Sources:
    """The keys of a middleware: first from `keys`, then from `jwks_uri`.

    Args:
        check: The checks of the factory.
        keys: The option.
        jwks_uri: The option.
        policy: When to fetch keys.
    """

    def __init__(self, check: OptionChecks, keys: Any, jwks_uri: Any, policy: Policy) -> None:
        if keys is None and jwks_uri is None:
            raise ValueError(
                f"{check.factory}() needs keys=... or jwks_uri=..., the keys to verify tokens with"
            )
        self._keys = keys
        self._given: KeySet | None = None
        if callable(keys):
            check.function("keys", keys, "(c)")
        elif keys is not None:
            try:
                self._given = KeySet(_json_web_keys(keys))
            except TypeError as problem:
                raise TypeError(f"{check.factory}(keys=...): {problem}") from None
            except ValueError as problem:
                raise ValueError(f"{check.factory}(keys=...): {problem}") from None
        if callable(jwks_uri):
            check.function("jwks_uri", jwks_uri, "(c)")
        elif jwks_uri is not None:
            check.text("jwks_uri", jwks_uri)
            _check_uri(check, jwks_uri)
        self._check = check
        self._jwks_uri = jwks_uri
        self._policy = policy
        self._caches: dict[str, JwksCache] = {}

    async def verify(
        self, token: str, c: Any, algorithms: Sequence[str], claims: ClaimChecks
    ) -> VerifiedToken:
        """Verifies a token.

        Args:
            token: The token.
            c: The context, for options that are functions.
            algorithms: The allowed algorithms.
            claims: The checks of header and claims.

        Raises:
            JwtError: If it is rejected.
            JwksUnavailableError: If the keys can't be fetched.
        """
        parts = parse(token)
        alg, kid = parts.header["alg"], parts.header.get("kid")
        if alg not in algorithms:
            raise JwtAlgorithmNotAllowedError(f"The token is signed with {alg!r:.20}")
        found = await self._find(c, kid, alg)
        if not found:
            if kid is None:
                raise JwtHeaderRequiresKidError("The header of the token has no 'kid'")
            raise JwtKeyNotFoundError(f"There is no key {kid!r:.40} for {alg}")
        return verified(parts, found, claims)

    async def _find(self, c: Any, kid: str | None, alg: str) -> list[Any]:
        given = self._given
        if given is None and self._keys is not None:
            given = key_set(await call(self._keys, c))
        found = [] if given is None else given.find(kid, alg)
        if found or self._jwks_uri is None:
            return found
        cache = await self._cache(c)
        known = await cache.current()
        found = known.find(kid, alg)
        if not found and kid is not None:
            newer = await cache.newer(known)
            found = [] if newer is None else newer.find(kid, alg)
        return found

    async def _cache(self, c: Any) -> JwksCache:
        uri = self._jwks_uri
        if callable(uri):
            uri = await call(uri, c)
            _check_uri(self._check, uri)
        cache = self._caches.pop(uri, None)
        if cache is None:
            if len(self._caches) >= _MOST_URIS:
                self._drop_one()
            cache = JwksCache(uri, self._policy)
        self._caches[uri] = cache  # ordered by use: the first one is dropped
        return cache

    def _drop_one(self) -> None:
        # APPSEC: not one that is resting or asking, or tokens with unknown keys of many tenants in
        # turn would have a source asked each time.
        for uri, cache in self._caches.items():
            if not cache.is_needed:
                del self._caches[uri]
                return
        if len(self._caches) >= _MOST_RESTING:
            raise JwksUnavailableError(f"{_MOST_RESTING} key sets were fetched just now")


def _json_web_keys(value: Any) -> Sequence[Mapping[str, Any]]:
    keys = key_list(value)
    for key in keys:
        if not isinstance(key, Mapping):
            # APPSEC: the error must not show the key, since it may be a private one.
            raise TypeError(
                f"expected JSON Web Keys, which are mappings, not {type(key).__name__}; use "
                "kit.jwt for a single key in PEM"
            )
    return keys


def check_algorithms(check: OptionChecks, name: str, value: Any) -> tuple[str, ...]:
    """Checks the allowed algorithms, which must have public keys.

    Raises:
        TypeError: If the value is neither a str nor a list of them.
        ValueError: If there is none, or one is unknown or symmetric.
    """
    if value is None:
        raise ValueError(f"{check.factory}() needs {name}=..., the allowed algorithms")
    algorithms = check.texts(name, value)
    for each in algorithms:
        if each in SYMMETRIC:
            check.unusable(
                name, each, "public-key algorithms; use kit.jwt for tokens with a secret"
            )
        check.choice(name, each, ASYMMETRIC)
    if not algorithms:
        check.unusable(name, value, "at least one algorithm, such as 'RS256'")
    return algorithms


def check_policy(
    check: OptionChecks, fetch: Any, lifetime: Any, cooldown: Any, max_stale: Any, timeout: Any
) -> Policy:
    """Checks the options that control when keys are fetched.

    Raises:
        TypeError: If one has the wrong type.
        ValueError: If a number is out of range.
    """
    for name, value in (("lifetime", lifetime), ("cooldown", cooldown), ("max_stale", max_stale)):
        check.number(name, value, least=0, unit="seconds", whole=False)
    check.number("timeout", timeout, least=0.001, unit="seconds", whole=False)
    if fetch is None:
        fetch = partial(fetch_keys, timeout_s=timeout)
    else:
        check.function("fetch", fetch, "(uri)")
    return Policy(fetch, lifetime, cooldown, max_stale, timeout)


def _check_uri(check: OptionChecks, uri: Any) -> None:
    if not is_secure_uri(uri):
        check.unusable(
            "jwks_uri", uri, "an https URI such as 'https://issuer.example/jwks', without a user"
        )
