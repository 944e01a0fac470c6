# SPDX-License-Identifier: MIT
"""Keys that sign the tokens of the provider for tests."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

from kit.jwt import sign

__all__ = ("TestKey",)

_CURVES: Mapping[str, Any] = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}


class TestKey:
    """A key pair.

    Args:
        kid: Its id.
        alg: Its algorithm.

    Attributes:
        kid: Its id.
        alg: Its algorithm.
        private: The private key, as JSON Web Key.
        public: The public key, as JSON Web Key.
    """

    __test__ = False  # it isn't a class of tests

    def __init__(self, kid: str, alg: str = "ES256") -> None:
        self.kid = kid
        self.alg = alg
        key: Any
        if alg in _CURVES:
            key = ec.generate_private_key(_CURVES[alg]())
        elif alg == "EdDSA":
            key = ed25519.Ed25519PrivateKey.generate()
        else:
            key = rsa.generate_private_key(65537, 2048)
        algorithm = get_default_algorithms()[alg]
        common = {"kid": kid, "alg": alg, "use": "sig"}
        self.private: dict[str, Any] = {**_written(algorithm, key), **common}
        self.private.pop("key_ops", None)
        self.public: dict[str, Any] = {**_written(algorithm, key.public_key()), **common}
        self.public.pop("key_ops", None)

    def sign(self, claims: Mapping[str, Any], header: Mapping[str, Any]) -> str:
        """Returns a token; a member of the header that is None is left out.

        With `alg: none` in the header, it has no signature.

        Args:
            claims: The claims.
            header: Members of the header.
        """
        if header.get("alg") == "none":
            parts = ({"typ": "JWT", **header}, claims)
            return ".".join(_encoded(part) for part in parts) + "."
        key = dict(self.private)
        members = {name: value for name, value in header.items() if value is not None}
        if "kid" in header:
            key.pop("kid")  # that of the header counts
        return sign(claims, key, header=members)


def _written(algorithm: Any, key: Any) -> dict[str, Any]:
    written = algorithm.to_jwk(key)
    found: dict[str, Any] = json.loads(written) if isinstance(written, str) else written
    return found


def _encoded(part: Mapping[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
