# SPDX-License-Identifier: MIT
"""Signs, verifies and decodes tokens (RFC 7519, section 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kit.authoring.options import OptionChecks

from ._claims import VERIFY_OPTIONS, ClaimChecks, VerifyOptions
from ._compact import Parts, base64url, json_object, parse
from ._errors import (
    JwtAlgorithmMismatchError,
    JwtTokenSignatureMismatchedError,
)
from ._keys import (
    ALGORITHMS,
    SignatureAlgorithm,
    SignatureKey,
    Verify,
    find_algorithm,
    list_keys,
    signer,
    verifier,
)

if TYPE_CHECKING:
    from typing import Unpack

_TIMES = ("exp", "nbf", "iat")


class DecodedToken(NamedTuple):
    """Header and claims of a token, not verified.

    Attributes:
        header: The JOSE header.
        payload: The claims.
    """

    header: dict[str, Any]
    payload: dict[str, Any]


class VerifiedToken(NamedTuple):
    """A verified token.

    Attributes:
        payload: The claims.
        data: Their JSON.
    """

    payload: dict[str, Any]
    data: bytes


def sign(
    payload: Mapping[str, Any],
    key: SignatureKey | Sequence[SignatureKey],
    alg: SignatureAlgorithm | None = None,
    *,
    header: Mapping[str, Any] | None = None,
    allow_short_secret: bool = False,
) -> str:
    """Signs a token.

    Args:
        payload: The claims. `exp`, `nbf` and `iat` may be aware datetimes; they are sent as whole
            seconds since the epoch.
        key: The secret for HS256, HS384 and HS512, otherwise a private key. Of a list, the first is
            used.
        alg: The algorithm, which must match the key. Default: `alg` of the JSON Web Key, or HS256.
        header: Additional members of the header, such as `kid` (default: `kid` of the JSON Web Key)
            and `typ` (default: `JWT`).
        allow_short_secret: Accept a secret that is shorter than the hash of the algorithm.

    Returns:
        The token.

    Raises:
        TypeError: If the payload isn't a mapping, or contains a value that can't be encoded as
            JSON, or a time of the wrong type.
        ValueError: If the key can't be used with the algorithm, a datetime has no time zone, or a
            time is infinite or NaN.
    """
    check = OptionChecks("sign")
    check.flag("allow_short_secret", allow_short_secret)
    own = checked_keys(check, "key", key)[0]
    alg = check.choice("alg", alg or find_algorithm(own) or "HS256", ALGORITHMS)
    make_signature = keyed(
        check, "key", lambda: signer(own, alg, allow_short_secret=allow_short_secret)
    )
    if not isinstance(payload, Mapping):
        raise TypeError(f"sign(payload=...) takes a mapping, not {type(payload).__name__}")
    if header is not None and "alg" in header:
        raise ValueError("sign(header=...) can't have 'alg': use alg=...")
    kid = {"kid": own["kid"]} if isinstance(own, Mapping) and "kid" in own else {}
    members = {"typ": "JWT", **kid, **(header or {}), "alg": alg}
    claims = {name: _claim(name, value) for name, value in payload.items()}
    signed = b".".join(base64url(msgspec.json.encode(part)) for part in (members, claims))
    return (signed + b"." + base64url(make_signature(signed))).decode("ascii")


def verify(
    token: str,
    key: SignatureKey | Sequence[SignatureKey],
    alg: SignatureAlgorithm | None = None,
    *,
    allow_short_secret: bool = False,
    **options: Unpack[VerifyOptions],
) -> dict[str, Any]:
    """Verifies a token: its signature, then its claims.

    The key is prepared in every call; the middleware prepares it once.

    Args:
        token: The token.
        key: The secret for HS256, HS384 and HS512, otherwise a public or private key. Of a list,
            any key may match.
        alg: The algorithm. Tokens signed with any other are rejected. It may be omitted for a JSON
            Web Key that has `alg`.
        allow_short_secret: Accept a secret that is shorter than the hash of the algorithm.
        **options: Fields of `VerifyOptions`.

    Returns:
        The claims.

    Raises:
        JwtError: If the token is rejected. Its class indicates the reason.
        TypeError: If an option has the wrong type.
        ValueError: If the key can't be used with the algorithm, or an option is invalid.
    """
    check = OptionChecks("verify")
    check.flag("allow_short_secret", allow_short_secret)
    known, verifiers = check_keys(check, "key", key, alg, allow_short_secret)
    for name in options:
        if name not in VERIFY_OPTIONS:
            raise TypeError(
                f"verify() has no option {name!r}: expected one of {', '.join(VERIFY_OPTIONS)}"
            )
    claims = ClaimChecks(check, options)
    return with_keys(known, verifiers, claims)(token).payload


def decode(token: str) -> DecodedToken:
    """Decodes a token without verifying it: don't trust the result.

    Args:
        token: The token.

    Raises:
        JwtError: If it is malformed.
    """
    parts = parse(token)
    return DecodedToken(deepcopy(parts.header), json_object(parts.payload))


def decode_header(token: str) -> dict[str, Any]:
    """Decodes the header of a token without verifying it: don't trust the result.

    Args:
        token: The token.

    Raises:
        JwtError: If it is malformed.
    """
    return deepcopy(parse(token).header)


def with_keys(
    alg: str, verifiers: Sequence[Verify], claims: ClaimChecks
) -> Callable[[str], VerifiedToken]:
    """Returns a function that verifies tokens of one algorithm.

    Args:
        alg: The algorithm.
        verifiers: The results of `verifier` for each key.
        claims: The checks of header and claims.
    """

    def verify(token: str) -> VerifiedToken:
        parts = parse(token)
        if parts.header["alg"] != alg:
            raise JwtAlgorithmMismatchError(
                f"The token is signed with {parts.header['alg']!r:.20}, not with {alg}"
            )
        return verified(parts, verifiers, claims)

    return verify


def verified(parts: Parts, keys: Iterable[Verify], claims: ClaimChecks) -> VerifiedToken:
    """Verifies a token with the keys that it may be signed with.

    Args:
        parts: The token.
        keys: The results of `verifier` for each key and the token's algorithm.
        claims: The checks of header and claims.

    Raises:
        JwtError: If it is rejected.
    """
    # APPSEC: the signature first. The payload isn't parsed before it is verified.
    if not any(verify(parts.signed, parts.signature) for verify in keys):
        raise JwtTokenSignatureMismatchedError("The signature of the token is wrong")
    claims.check_header(parts.header)
    payload = json_object(parts.payload)
    claims.check(payload)
    return VerifiedToken(payload, parts.payload)


def check_keys(
    check: OptionChecks, name: str, value: Any, alg: Any, allow_short_secret: bool
) -> tuple[str, tuple[Verify, ...]]:
    """Checks an option with one or several keys for verification, and their `alg`.

    Returns:
        The algorithm, and the result of `verifier` for each key.

    Raises:
        ValueError: If a key can't be used, or the algorithm is unknown or missing.
    """
    keys = checked_keys(check, name, value)
    alg = find_algorithm(keys[0]) if alg is None else alg
    if alg is None:
        raise ValueError(f"{check.factory}() needs alg=..., the algorithm of the tokens")
    check.choice("alg", alg, ALGORITHMS)
    return alg, keyed(
        check,
        name,
        lambda: tuple(verifier(key, alg, allow_short_secret=allow_short_secret) for key in keys),
    )


def checked_keys(check: OptionChecks, name: str, value: Any) -> tuple[Any, ...]:
    """Returns the keys of an option that takes one or several.

    Raises:
        ValueError: If there are none.
    """
    keys: tuple[Any, ...] = keyed(check, name, lambda: list_keys(value))
    return keys


def keyed(check: OptionChecks, name: str, prepare: Callable[[], Any]) -> Any:
    """Prepares the key of an option; errors name the option.

    Raises:
        ValueError: If the key can't be used.
    """
    try:
        return prepare()
    except ValueError as problem:
        raise ValueError(f"{check.factory}({name}=...) can't be used: {problem}") from None


def _claim(name: str, value: Any) -> Any:
    if name not in _TIMES:
        return value
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"sign(): {name!r} is {value!r}, expected a datetime with a time zone")
        return int(value.timestamp())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"sign(): {name!r} is {value!r:.40}, expected a number or a datetime")
    # In JSON it would become null, which some verifiers treat as a token that never expires.
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"sign(): {name!r} is {value!r}, expected a finite number")
    return value
