# SPDX-License-Identifier: MIT
"""The middleware that verifies tokens with one key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware

from ._claims import VerifyOptions, claim_checks
from ._credentials import Credentials, TokenCookie
from ._guard import CurrentUser, IsRevoked, check_hooks, guard
from ._keys import SignatureAlgorithm, SignatureKey
from ._tokens import check_keys, with_keys

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ("jwt",)

P = TypeVar("P")
R = TypeVar("R")


@overload
def jwt(
    *,
    secret: SignatureKey | Sequence[SignatureKey],
    alg: SignatureAlgorithm | None = None,
    cookie: str | TokenCookie | None = None,
    header_name: str = "Authorization",
    realm: str | None = None,
    verification: VerifyOptions | None = None,
    scheme: str = "Bearer",
    type: TypeForm[Any] | None = None,
    is_revoked: IsRevoked | None = None,
    allow_anon: bool = False,
    allow_short_secret: bool = False,
) -> AsyncMiddleware: ...
@overload
def jwt(
    *,
    secret: SignatureKey | Sequence[SignatureKey],
    alg: SignatureAlgorithm | None = None,
    cookie: str | TokenCookie | None = None,
    header_name: str = "Authorization",
    realm: str | None = None,
    verification: VerifyOptions | None = None,
    scheme: str = "Bearer",
    type: TypeForm[P],
    load: Callable[[P, Any], R],
    user_variable: str = "user",
    is_revoked: IsRevoked | None = None,
    allow_short_secret: bool = False,
) -> CurrentUser[R]: ...
@overload
def jwt(
    *,
    secret: SignatureKey | Sequence[SignatureKey],
    alg: SignatureAlgorithm | None = None,
    cookie: str | TokenCookie | None = None,
    header_name: str = "Authorization",
    realm: str | None = None,
    verification: VerifyOptions | None = None,
    scheme: str = "Bearer",
    load: Callable[[dict[str, Any], Any], R],
    user_variable: str = "user",
    is_revoked: IsRevoked | None = None,
    allow_short_secret: bool = False,
) -> CurrentUser[R]: ...
def jwt(
    *,
    secret: Any = None,
    alg: Any = None,
    cookie: Any = None,
    header_name: str = "Authorization",
    realm: str | None = None,
    verification: Any = None,
    scheme: str = "Bearer",
    type: Any = None,
    load: Any = None,
    user_variable: str = "user",
    is_revoked: Any = None,
    allow_anon: bool = False,
    allow_short_secret: bool = False,
) -> Any:
    """Returns middleware that only lets requests with a valid JSON Web Token through.

    The claims are in `c.get("jwt_payload")`. Any other request raises an `HTTPException` with the
    response in `res`: 401 with a challenge (RFC 6750, section 3). If a token is rejected, the
    `__cause__` of the exception is a `JwtError` with the reason, which isn't sent to the client.

    The middleware has its security schemes, its 401 and the types of its variables as metadata, see
    `kit.interface.metadata`.

    Args:
        secret: The key: a secret for HS256, HS384 and HS512; for other algorithms a public or
            private key as PEM, a JSON Web Key or a cryptography object. With a list of keys, any
            of them verifies and `sign` uses the first, so you can replace a secret: `[new, old]`.
        alg: The algorithm. Tokens signed with any other are rejected. It may be omitted for a JSON
            Web Key that has `alg`.
        cookie: The cookie to read the token from if the header is absent: its name, or a
            `TokenCookie`. Browsers send cookies with requests from other sites too: use `kit.csrf`.
        header_name: The request header that contains the token.
        realm: Name of the protected area, for the challenge. Default: the URL of the request.
        verification: Which claims are checked, and how: `VerifyOptions`.
        scheme: The scheme before the token, case-insensitive, and the scheme of the challenge.
        type: Type of the payload, for msgspec or pydantic: a Struct, dataclass, TypedDict or model.
            Tokens with claims that don't match it are rejected. Default: a dict.
        load: Function `(payload, c)`, plain or async, that returns the user of the token, or None
            or False to reject it.
        user_variable: Name of the variable for the user, for `c.get(user_variable)`.
        is_revoked: Function `(payload, c)`, plain or async, that returns True to reject a token
            that is otherwise valid.
        allow_anon: Whether to let requests without a token through. Tokens are still verified.
        allow_short_secret: Accept a secret that is shorter than the hash of the algorithm.
            Attackers can guess such a secret once they have a token.

    Returns:
        The middleware, for `app.use(path, ...)`; with `load`, a `CurrentUser` that provides it.

    Raises:
        ValueError: If a value is invalid, e.g. a key that doesn't match the algorithm.
        TypeError: If an argument has the wrong type.

    Example:
        app.use("/api/*", jwt(secret=os.environ["JWT_SECRET"], alg="HS256"))
    """
    check = OptionChecks("jwt")
    if secret is None:
        raise ValueError("jwt() needs secret=..., the key to verify tokens with")
    check.flag("allow_short_secret", allow_short_secret)
    alg, verifiers = check_keys(check, "secret", secret, alg, allow_short_secret)
    verify = with_keys(alg, verifiers, claim_checks(check, verification))
    return guard(
        check,
        Credentials(check, cookie=cookie, header_name=header_name, scheme=scheme, realm=realm),
        lambda token, c: verify(token),
        check_hooks(check, type, is_revoked, load),
        allow_anon=allow_anon,
        user_variable=user_variable,
        responses={},
    )
