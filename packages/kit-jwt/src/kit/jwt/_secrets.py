# SPDX-License-Identifier: MIT
"""Detects keys of key pairs that are passed as a secret.

A public key isn't a secret: if it were the secret of HS256, anyone could sign tokens.
"""

from __future__ import annotations

from base64 import b64decode
from functools import partial

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_der_private_key, load_der_public_key
from cryptography.x509 import load_der_x509_certificate

from jwt.algorithms import HMACAlgorithm
from jwt.exceptions import InvalidKeyError

_FROM_BASE64URL = bytes.maketrans(b"-_", b"+/")
_DER_SEQUENCE = b"\x30"
_LOADERS = (
    load_der_public_key,
    partial(load_der_private_key, password=None),
    load_der_x509_certificate,
)
_sha256 = HMACAlgorithm(HMACAlgorithm.SHA256)


def is_asymmetric_key(secret: bytes) -> bool:
    """Returns whether a secret is a public or private key, or a certificate.

    Args:
        secret: The secret. PEM, DER, OpenSSH and JSON Web Keys are recognized, also in base64, the
            format in which some identity providers show their public keys.
    """
    return _is_key(secret) or _is_key(_from_base64(secret))


def _is_key(data: bytes) -> bool:
    if not data:
        return False
    try:
        _sha256.prepare_key(data)  # rejects PEM, OpenSSH and JSON Web Keys
    except InvalidKeyError:
        return True
    return data.startswith(_DER_SEQUENCE) and _is_der_key(data)


def _is_der_key(data: bytes) -> bool:
    for load in _LOADERS:
        try:
            load(data)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            continue
        return True
    return False


def _from_base64(text: bytes) -> bytes:
    try:
        return b64decode(text.translate(_FROM_BASE64URL, b" \t\r\n") + b"==")
    except ValueError:
        return b""
