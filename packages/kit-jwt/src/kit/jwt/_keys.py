# SPDX-License-Identifier: MIT
"""Prepares keys: secrets, PEM, JSON Web Keys, and the key objects of cryptography.

Supports the algorithms of PyJWT, with stricter checks: a key is used only with the algorithms it is
meant for, a private key verifies with its public half, and weak keys are rejected (RFC 7518,
sections 3.2, 3.3 and 3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from hmac import compare_digest, digest
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm

from jwt.algorithms import Algorithm, get_default_algorithms
from jwt.exceptions import PyJWTError

from ._secrets import is_asymmetric_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

AsymmetricAlgorithm: TypeAlias = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]
"""Algorithms whose tokens are verified with a public key (RFC 7518, 3.1; RFC 8037, 3.1)."""
SymmetricAlgorithm: TypeAlias = Literal["HS256", "HS384", "HS512"]
"""Algorithms whose tokens are signed and verified with the same secret (RFC 7518, 3.2)."""
SignatureAlgorithm: TypeAlias = SymmetricAlgorithm | AsymmetricAlgorithm
"""All algorithms."""
SignatureKey: TypeAlias = "str | bytes | Mapping[str, Any] | PublicKeyTypes | PrivateKeyTypes"
"""A secret or PEM as str or bytes, a JSON Web Key, or a key object of cryptography."""
Verify: TypeAlias = Callable[[bytes, bytes], bool]

SYMMETRIC = ("HS256", "HS384", "HS512")
# Each with the kty of its keys, and their allowed curves (RFC 7518, 6.2; RFC 8037, 2).
_RSA = ("RSA", (None,))
ASYMMETRIC: Mapping[str, tuple[str, tuple[str | None, ...]]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), _RSA),
    "ES256": ("EC", ("P-256",)),
    "ES384": ("EC", ("P-384",)),
    "ES512": ("EC", ("P-521",)),
    "EdDSA": ("OKP", ("Ed25519", "Ed448")),
}
ALGORITHMS = (*SYMMETRIC, *ASYMMETRIC)

_PUBLIC_MEMBERS = ("kty", "n", "e", "crv", "x", "y")
_UNUSABLE = (PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, KeyError, AttributeError)
# The order of 65537 modulo these primes is small, which reveals such keys.
_ROCA_PRIMES = (
    *(3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97),
    *(101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167),
)


def list_keys(value: Any) -> tuple[Any, ...]:
    """Returns the keys of an option that takes one key or several.

    Raises:
        ValueError: If it is an empty list.
    """
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes, bytearray)):
        return (value,)
    if not value:
        raise ValueError("expected at least one key")
    return tuple(value)


def find_algorithm(key: Any) -> str | None:
    """Returns the `alg` of a JSON Web Key; None if it has none, or it isn't a JSON Web Key."""
    return key.get("alg") if isinstance(key, Mapping) else None


def verifier(key: SignatureKey, alg: str, *, allow_short_secret: bool = False) -> Verify:
    """Prepares a key for verification.

    Args:
        key: The key. Of a private key, the public half is used.
        alg: The algorithm.
        allow_short_secret: Accept a secret that is shorter than the hash.

    Returns:
        A function `(signed, signature)` that returns whether the signature is valid.

    Raises:
        ValueError: If the key can't be used with the algorithm. The text has the reason, as in
            `RS256 needs ...`, but no part of the key.
    """
    algorithm = _algorithms()[alg]
    if isinstance(key, Mapping):
        check_usage(key, alg, "verify")
        members = {name: key[name] for name in _PUBLIC_MEMBERS if name in key}
        prepared = _from_jwk(algorithm, key if alg in SYMMETRIC else members, alg)
    else:
        prepared = _prepared(algorithm, key, alg)
    prepared = prepared.public_key() if hasattr(prepared, "public_key") else prepared
    _check_strength(algorithm, prepared, alg, allow_short_secret)
    if alg in SYMMETRIC:
        # PERF: one call takes a fifth of the time of an hmac object.
        name = f"sha{alg[2:]}"
        return lambda signed, signature: compare_digest(digest(prepared, signed, name), signature)

    def verify(signed: bytes, signature: bytes) -> bool:
        return algorithm.verify(signed, prepared, signature)

    return verify


def signer(
    key: SignatureKey, alg: str, *, allow_short_secret: bool = False
) -> Callable[[bytes], bytes]:
    """Prepares a key for signing.

    Args:
        key: The key: a secret or a private key.
        alg: The algorithm.
        allow_short_secret: Accept a secret that is shorter than the hash.

    Returns:
        A function `(data)` that returns the signature.

    Raises:
        ValueError: As for `verifier`, or if the key is public.
    """
    algorithm = _algorithms()[alg]
    if isinstance(key, Mapping):
        check_usage(key, alg, "sign")
        prepared = _from_jwk(algorithm, key, alg)
    else:
        prepared = _prepared(algorithm, key, alg)
    if alg not in SYMMETRIC and not hasattr(prepared, "sign"):
        raise ValueError(f"{alg} signs with a private key, but this one is public")
    _check_strength(algorithm, prepared, alg, allow_short_secret)
    return partial(algorithm.sign, key=prepared)


def check_usage(jwk: Mapping[str, Any], alg: str, operation: str) -> None:
    """Checks that a JSON Web Key is meant for this use (RFC 7517, sections 4.1 to 4.4).

    Args:
        jwk: The key.
        alg: The algorithm.
        operation: `verify` or `sign`.

    Raises:
        ValueError: If it is meant for another use.
    """
    kty, curves = ("oct", (None,)) if alg in SYMMETRIC else ASYMMETRIC[alg]
    if jwk.get("kty") != kty or (None not in curves and jwk.get("crv") not in curves):
        shown = "" if None in curves else f" and the crv {' or '.join(map(str, curves))}"
        raise ValueError(f"{alg} needs a JSON Web Key with the kty {kty}{shown}")
    if jwk.get("alg", alg) != alg:
        raise ValueError(f"the JSON Web Key is for an alg other than {alg}")
    if jwk.get("use", "sig") != "sig":
        raise ValueError("the JSON Web Key has a use other than sig")
    operations = jwk.get("key_ops", (operation,))
    # A private key that may sign may also verify with its public half.
    allowed = {operation, "sign"} if "d" in jwk or kty == "oct" else {operation}
    if not isinstance(operations, (list, tuple)) or not allowed & {*map(str, operations)}:
        raise ValueError(f"the key_ops of the JSON Web Key don't have {operation!r}")


@cache
def _algorithms() -> dict[str, Algorithm]:
    known = get_default_algorithms()
    return {name: known[name] for name in ALGORITHMS}


def _from_jwk(algorithm: Algorithm, jwk: Mapping[str, Any], alg: str) -> Any:
    try:
        if jwk.get("k") == "":  # older versions of PyJWT accept it
            raise ValueError
        prepared = algorithm.from_jwk(dict(jwk))
    except _UNUSABLE:
        # Their texts may quote the key.
        raise ValueError(f"the JSON Web Key is not a valid key for {alg}") from None
    if alg in SYMMETRIC and is_asymmetric_key(prepared):
        raise ValueError(_not_a_secret(alg))
    return prepared


def _prepared(algorithm: Algorithm, key: Any, alg: str) -> Any:
    if isinstance(key, (str, bytes)):
        key = key.encode() if isinstance(key, str) else key
        if not key:
            raise ValueError("the key is empty")
        if alg in SYMMETRIC and is_asymmetric_key(key):
            raise ValueError(_not_a_secret(alg))
    elif alg in SYMMETRIC:
        raise ValueError(f"{alg} needs a secret as str or bytes, not {type(key).__name__}")
    try:
        return algorithm.prepare_key(key)
    except _UNUSABLE:
        kty, curves = ASYMMETRIC[alg]
        shown = kty if None in curves else " or ".join(map(str, curves))
        raise ValueError(
            f"{alg} needs a key of type {shown}: as PEM, a JSON Web Key or a key object"
        ) from None


def _not_a_secret(alg: str) -> str:
    return (
        f"{alg} needs a secret as str or bytes, but this is a public or private key: use the alg "
        "of that key, such as 'RS256'"
    )


def _check_strength(
    algorithm: Algorithm, prepared: Any, alg: str, allow_short_secret: bool
) -> None:
    if alg in SYMMETRIC:
        if not allow_short_secret and algorithm.check_key_length(prepared):
            size = int(alg[2:]) // 8
            raise ValueError(
                f"{alg} needs a secret of at least {size} bytes (RFC 7518 section 3.2), but this "
                f"one has {len(prepared)}: create one with "
                f'`python -c "import secrets; print(secrets.token_urlsafe({size}))"`'
            )
    elif alg[:2] in ("RS", "PS"):
        if algorithm.check_key_length(prepared):
            raise ValueError(f"{alg} needs a key of at least 2048 bits (RFC 7518 section 3.3)")
        public = prepared.public_key() if hasattr(prepared, "public_key") else prepared
        if _is_roca(public.public_numbers().n):
            raise ValueError("the RSA key can be factored (CVE-2017-15361)")


def _is_roca(modulus: int) -> bool:
    """Whether a modulus is a power of 65537 modulo many primes (CVE-2017-15361)."""
    return all(modulus % prime in powers for prime, powers in _roca_powers().items())


@cache
def _roca_powers() -> dict[int, set[int]]:
    return {prime: {pow(65537, n, prime) for n in range(prime)} for prime in _ROCA_PRIMES}
