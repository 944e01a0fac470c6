# SPDX-License-Identifier: MIT
"""Keys for the tests, made anew in each run."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

SECRET = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
CURVES = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}
ASYMMETRIC = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)


def rsa_key(name: str = "", size: int = 2048) -> rsa.RSAPrivateKey:
    """An RSA key; the same one for the same name."""
    return _rsa_key(name, size)


def private_key(alg: str, name: str = "") -> Any:
    """A private key for an algorithm; the same one for the same name."""
    return rsa_key(name) if alg[:2] in ("RS", "PS") else _private_key(alg, name)


@cache
def _rsa_key(name: str, size: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, size)


@cache
def _private_key(alg: str, name: str) -> Any:
    if alg == "Ed448":
        return ed448.Ed448PrivateKey.generate()
    if alg == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(CURVES[alg])


def pem(key: Any) -> str:
    """A key in PEM."""
    if hasattr(key, "private_bytes"):
        data = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    else:
        data = key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    return str(data, "ascii")


def jwk_of(key: Any, **more: Any) -> dict[str, Any]:
    """A key as JSON Web Key, without `key_ops`."""
    name = type(key).__name__
    kind: Any = RSAAlgorithm if "RSA" in name else OKPAlgorithm if "Ed" in name else ECAlgorithm
    made: dict[str, Any] = msgspec.json.decode(kind.to_jwk(key))
    made.pop("key_ops", None)
    return {**made, **more}


def public_jwk(alg: str, name: str = "", /, **more: Any) -> dict[str, Any]:
    """The public key for an algorithm as JSON Web Key."""
    return jwk_of(private_key(alg, name).public_key(), **more)
