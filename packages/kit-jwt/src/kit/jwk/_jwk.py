# SPDX-License-Identifier: MIT
"""The middleware that verifies tokens with a set of public keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware, Context, HTTPException
from kit.jwt import AsymmetricAlgorithm, CurrentUser, IsRevoked, TokenCookie, VerifyOptions
from kit.jwt._claims import claim_checks
from kit.jwt._credentials import Credentials
from kit.jwt._guard import check_hooks, guard
from kit.jwt._tokens import VerifiedToken

from ._cache import JwksUnavailableError
from ._sources import Sources, check_algorithms, check_policy

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ("Fetch", "Keys", "jwk", "verify_with_jwks")

P = TypeVar("P")
R = TypeVar("R")

Keys: TypeAlias = Sequence[Mapping[str, Any]] | Mapping[str, Any]
"""JSON Web Keys, or a JSON Web Key Set with them in `keys`."""
Fetch: TypeAlias = Callable[[str], Awaitable[bytes | str | Keys] | bytes | str | Keys]
"""Fetches a JSON Web Key Set, as JSON or decoded: `def fetch(uri)`, plain or async."""

LIFETIME_S = 600.0
COOLDOWN_S = 30.0
MAX_STALE_S = 86400.0
TIMEOUT_S = 5.0


@overload
def jwk(
    *,
    keys: Keys | Callable[[Any], Awaitable[Keys] | Keys] | None = None,
    jwks_uri: str | Callable[[Any], Awaitable[str] | str] | None = None,
    alg: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm],
    allow_anon: bool = False,
    cookie: str | TokenCookie | None = None,
    header_name: str = "Authorization",
    realm: str | None = None,
    verification: VerifyOptions | None = None,
    scheme: str = "Bearer",
    type: TypeForm[Any] | None = None,
    is_revoked: IsRevoked | None = None,
    fetch: Fetch | None = None,
    lifetime: float = LIFETIME_S,
    cooldown: float = COOLDOWN_S,
    max_stale: float = MAX_STALE_S,
    timeout: float = TIMEOUT_S,
) -> AsyncMiddleware: ...
@overload
def jwk(
    *,
    keys: Keys | Callable[[Any], Awaitable[Keys] | Keys] | None = None,
    jwks_uri: str | Callable[[Any], Awaitable[str] | str] | None = None,
    alg: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm],
    cookie: str | TokenCookie | None = None,
    header_name: str = "Authorization",
    realm: str | None = None,
    verification: VerifyOptions | None = None,
    scheme: str = "Bearer",
    type: TypeForm[P],
    load: Callable[[P, Any], R],
    user_variable: str = "user",
    is_revoked: IsRevoked | None = None,
    fetch: Fetch | None = None,
    lifetime: float = LIFETIME_S,
    cooldown: float = COOLDOWN_S,
    max_stale: float = MAX_STALE_S,
    timeout: float = TIMEOUT_S,
) -> CurrentUser[R]: ...
@overload
def jwk(
    *,
    keys: Keys | Callable[[Any], Awaitable[Keys] | Keys] | None = None,
    jwks_uri: str | Callable[[Any], Awaitable[str] | str] | None = None,
    alg: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm],
    cookie: str | TokenCookie | None = None,
    header_name: str = "Authorization",
    realm: str | None = None,
    verification: VerifyOptions | None = None,
    scheme: str = "Bearer",
    load: Callable[[dict[str, Any], Any], R],
    user_variable: str = "user",
    is_revoked: IsRevoked | None = None,
    fetch: Fetch | None = None,
    lifetime: float = LIFETIME_S,
    cooldown: float = COOLDOWN_S,
    max_stale: float = MAX_STALE_S,
    timeout: float = TIMEOUT_S,
) -> CurrentUser[R]: ...
def jwk(
    *,
    keys: Any = None,
    jwks_uri: Any = None,
    alg: Any = None,
    allow_anon: bool = False,
    cookie: Any = None,
    header_name: str = "Authorization",
    realm: str | None = None,
    verification: Any = None,
    scheme: str = "Bearer",
    type: Any = None,
    load: Any = None,
    user_variable: str = "user",
    is_revoked: Any = None,
    fetch: Any = None,
    lifetime: float = LIFETIME_S,
    cooldown: float = COOLDOWN_S,
    max_stale: float = MAX_STALE_S,
    timeout: float = TIMEOUT_S,
) -> Any:
    """Returns middleware that only lets requests with a token signed by a key of a set through.

    The claims are in `c.get("jwt_payload")`. Any other request raises an `HTTPException`, as with
    `kit.jwt.jwt`: 401 with a challenge (RFC 6750, section 3), or 503 if the keys can't be fetched.

    A token identifies its key by `kid` in its header. Its `alg` must be allowed and match the key.
    Keys with a `use`, `key_ops` or `alg` for another purpose aren't used (RFC 7517, section 4), nor
    are symmetric and weak keys. A token without `kid` is verified with the keys that have none.

    Args:
        keys: The keys, or a function `(c)`, plain or async, that returns them.
        jwks_uri: The https URI of a JSON Web Key Set, or a function `(c)`, plain or async, that
            returns it. With `keys` too, the set is fetched for tokens whose key isn't in `keys`. A
            function should choose from known URIs, since the keys there are trusted; the keys of
            the last 32 are cached, and up to 1000 during their cooldown.
        alg: The allowed algorithm, or several; only public-key algorithms.
        allow_anon: Whether to let requests without a token through. Tokens are still verified.
        cookie: As for `kit.jwt.jwt`.
        header_name: As for `kit.jwt.jwt`.
        realm: As for `kit.jwt.jwt`.
        verification: As for `kit.jwt.jwt`.
        scheme: As for `kit.jwt.jwt`.
        type: As for `kit.jwt.jwt`.
        load: As for `kit.jwt.jwt`.
        user_variable: As for `kit.jwt.jwt`.
        is_revoked: As for `kit.jwt.jwt`.
        fetch: Function `(uri)`, plain or async, that returns the key set, as JSON or decoded.
            Default: a request in a thread, which follows no redirects and reads at most 512 KiB.
        lifetime: How long fetched keys are used, in seconds.
        cooldown: Minimum time between two requests for a key set, in seconds, regardless of how
            many tokens have unknown keys. At most 5 after a failure.
        max_stale: How long keys are used beyond their lifetime while the source fails, in seconds.
        timeout: Timeout of a request for a key set, in seconds.

    Returns:
        The middleware, for `app.use(path, ...)`; with `load`, a `CurrentUser` that provides it.

    Raises:
        ValueError: If a value is invalid.
        TypeError: If an argument has the wrong type.

    Example:
        app.use("/api/*", jwk(jwks_uri="https://issuer.example/jwks.json", alg=["RS256"]))
    """
    check = OptionChecks("jwk")
    policy = check_policy(check, fetch, lifetime, cooldown, max_stale, timeout)
    sources = Sources(check, keys, jwks_uri, policy)
    algorithms = check_algorithms(check, "alg", alg)
    claims = claim_checks(check, verification)

    async def verify(token: str, c: Context[Any, Any]) -> VerifiedToken:
        try:
            return await sources.verify(token, c, algorithms, claims)
        except JwksUnavailableError as error:
            raise HTTPException(503, "Service Unavailable", headers={"Retry-After": "5"}) from error

    return guard(
        check,
        Credentials(check, cookie=cookie, header_name=header_name, scheme=scheme, realm=realm),
        verify,
        check_hooks(check, type, is_revoked, load),
        allow_anon=allow_anon,
        user_variable=user_variable,
        responses={} if jwks_uri is None else {503: "The keys of the issuer can't be fetched"},
    )


async def verify_with_jwks(
    token: str,
    *,
    keys: Keys | None = None,
    jwks_uri: str | None = None,
    allowed_algorithms: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm],
    verification: VerifyOptions | None = None,
    fetch: Fetch | None = None,
) -> dict[str, Any]:
    """Verifies a token with a set of public keys.

    The key set of `jwks_uri` is fetched in every call; `jwk` caches it.

    Args:
        token: The token.
        keys: The keys.
        jwks_uri: The URI of a JSON Web Key Set, see `jwk`.
        allowed_algorithms: The allowed algorithm, or several; only public-key algorithms.
        verification: Which claims are checked, and how.
        fetch: Function `(uri)` that returns the key set, see `jwk`.

    Returns:
        The claims.

    Raises:
        JwtError: If the token is rejected. Its class indicates the reason.
        JwksUnavailableError: If the key set can't be fetched.
        ValueError: If a value is invalid.
        TypeError: If an argument has the wrong type.
    """
    check = OptionChecks("verify_with_jwks")
    policy = check_policy(check, fetch, LIFETIME_S, COOLDOWN_S, 0, TIMEOUT_S)
    sources = Sources(check, keys, jwks_uri, policy)
    algorithms = check_algorithms(check, "allowed_algorithms", allowed_algorithms)
    claims = claim_checks(check, verification)
    return (await sources.verify(token, None, algorithms, claims)).payload
