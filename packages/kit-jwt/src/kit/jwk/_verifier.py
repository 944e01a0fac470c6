# SPDX-License-Identifier: MIT
"""Verifies tokens outside of the middleware, with keys that are fetched and kept as there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from kit.authoring.options import OptionChecks
from kit.jwt import AsymmetricAlgorithm, VerifyOptions
from kit.jwt._claims import claim_checks

from ._jwk import COOLDOWN_S, LIFETIME_S, MAX_STALE_S, TIMEOUT_S, Fetch, Keys
from ._sources import Sources, check_algorithms, check_policy

__all__ = ("KeySource",)


class KeySource:
    """The keys of an identity provider, for packages that verify its tokens themselves.

    The keys are fetched when they are needed, and again when a token has an unknown key, as by the
    middleware `jwk`: one request at a time, and at most one per `cooldown`.

    Args:
        keys: The keys, as for `jwk`.
        jwks_uri: The https URI of a JSON Web Key Set, or a function `(c)`, plain or async, that
            returns it; it gets the `c` of `verifier`.
        fetch: As for `jwk`.
        lifetime: As for `jwk`.
        cooldown: As for `jwk`.
        max_stale: As for `jwk`.
        timeout: As for `jwk`.

    Raises:
        ValueError: If a value is invalid.
        TypeError: If an argument has the wrong type.
    """

    def __init__(
        self,
        *,
        keys: Keys | None = None,
        jwks_uri: str | Callable[[Any], Awaitable[str] | str] | None = None,
        fetch: Fetch | None = None,
        lifetime: float = LIFETIME_S,
        cooldown: float = COOLDOWN_S,
        max_stale: float = MAX_STALE_S,
        timeout: float = TIMEOUT_S,
    ) -> None:
        check = OptionChecks("KeySource")
        policy = check_policy(check, fetch, lifetime, cooldown, max_stale, timeout)
        self._sources = Sources(check, keys, jwks_uri, policy)

    def verifier(
        self,
        alg: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm],
        verification: VerifyOptions | None = None,
    ) -> Callable[[str, Any], Awaitable[dict[str, Any]]]:
        """Returns a function that verifies tokens of one kind.

        Args:
            alg: The allowed algorithm, or several; only public-key algorithms.
            verification: Which claims are checked, and how.

        Returns:
            A function `verify(token, c)` that returns the claims. It raises a `JwtError` if the
            token is rejected, and a `JwksUnavailableError` if there are no keys.

        Raises:
            ValueError: If a value is invalid.
            TypeError: If an argument has the wrong type.
        """
        check = OptionChecks("KeySource.verifier")
        algorithms = check_algorithms(check, "alg", alg)
        claims = claim_checks(check, verification)
        sources = self._sources

        async def verify(token: str, c: Any) -> dict[str, Any]:
            return (await sources.verify(token, c, algorithms, claims)).payload

        return verify
