# SPDX-License-Identifier: MIT
"""Signs and encrypts cookies, and rejects secrets that are too short."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from secrets import token_bytes
from typing import Any, Protocol

__all__ = ("Encryption", "Seal", "Signature", "check_secrets")

_LEAST_OCTETS = 32
_HINT = (
    "generate one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`, "
    "and keep it out of the code"
)
_SALT_OCTETS = 16
_NONCE_OCTETS = 12
_FROM_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def check_secrets(value: Any) -> tuple[bytes, ...]:
    """Checks the secrets of `session`: one or several; the first one is for new cookies.

    Raises:
        TypeError: If it is neither a str nor a list of str.
        ValueError: If there is none, or one is too short.
    """
    secrets = (value,) if isinstance(value, (str, bytes)) else value
    if not isinstance(secrets, Sequence):
        # APPSEC: errors never show a secret.
        raise TypeError(f"session(secret=...) takes a str or a list of them, not {_type(value)}")
    if not secrets:
        raise ValueError("session(secret=[]) can't be used: expected at least one secret")
    return tuple(_checked(each) for each in secrets)


def _type(value: Any) -> str:
    return type(value).__name__


def _checked(secret: Any) -> bytes:
    if not isinstance(secret, (str, bytes)):
        raise TypeError(f"session(secret=...) takes a str or a list of them, not {_type(secret)}")
    octets = secret.encode() if isinstance(secret, str) else secret
    if len(octets) < _LEAST_OCTETS:
        raise ValueError(
            f"session(secret=...) has {len(octets)} bytes, at least {_LEAST_OCTETS} are needed: "
            f"{_HINT}"
        )
    return octets


class Seal(Protocol):
    """Protects the content of a cookie."""

    def close(self, data: bytes) -> str:
        """Returns the data as text with letters, digits and `-_.`."""
        ...

    def open(self, text: str) -> bytes | None:
        """Returns the data; None if this text wasn't created with one of the secrets."""
        ...


class Signature:
    """Signs data with HMAC-SHA256 (RFC 2104); the client can read the data.

    The format is that of itsdangerous' `Signer` with the derived key: data, a dot, and the
    signature as base64url.

    Args:
        secrets: The first one signs, all of them verify.
        purpose: Text created for one purpose is invalid for another one.
        encodes: Whether the data is encoded as base64url; False for ASCII text.
    """

    __slots__ = ("_encodes", "_macs")

    def __init__(self, secrets: Sequence[bytes], purpose: str, *, encodes: bool = True) -> None:
        self._macs = [_mac_with(key) for key in _derived(secrets, purpose)]
        self._encodes = encodes

    def close(self, data: bytes) -> str:
        """Returns the data, as base64url unless it is text, and the signature."""
        text = _encoded(data) if self._encodes else data
        return (text + b"." + _encoded(self._macs[0](text))).decode("ascii")

    def open(self, text: str) -> bytes | None:
        """Returns the data; None if this text wasn't signed with one of the secrets."""
        try:
            data, _, signature = text.encode("ascii").rpartition(b".")
            for mac in self._macs:
                # APPSEC: as text, since base64 has several encodings of the same octets.
                if hmac.compare_digest(signature, _encoded(mac(data))):
                    return _decoded(data) if self._encodes else data
        except ValueError:
            pass
        return None


class Encryption:
    """Encrypts and authenticates data with AES-256-GCM (NIST SP 800-38D).

    Each text has its own key, derived with 16 random bytes, so the limit of 2^32 texts with random
    nonces for one key (section 8.3) doesn't matter.

    Args:
        secrets: The first one encrypts, all of them decrypt.
        purpose: Text created for one purpose is invalid for another one.

    Raises:
        ImportError: If cryptography isn't installed.
    """

    __slots__ = ("_cipher", "_invalid", "_key_of", "_purpose")

    def __init__(self, secrets: Sequence[bytes], purpose: str) -> None:
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise ImportError(
                "session(encrypt=True) needs cryptography: install kit-session[encryption]"
            ) from error
        self._cipher: Callable[[bytes], Any] = AESGCM
        self._invalid = InvalidTag
        self._purpose = purpose.encode()
        self._key_of = [_mac_with(key) for key in _derived(secrets, purpose)]

    def close(self, data: bytes) -> str:
        """Returns the encrypted data as base64url."""
        salt, nonce = token_bytes(_SALT_OCTETS), token_bytes(_NONCE_OCTETS)
        sealed = self._cipher(self._key_of[0](salt)).encrypt(nonce, data, self._purpose)
        return _encoded(salt + nonce + sealed).decode("ascii")

    def open(self, text: str) -> bytes | None:
        """Returns the data; None if this text wasn't encrypted with one of the secrets."""
        try:
            octets = _decoded(text.encode("ascii"))
        except ValueError:
            return None
        salt, sealed = octets[:_SALT_OCTETS], octets[_SALT_OCTETS + _NONCE_OCTETS :]
        nonce = octets[_SALT_OCTETS : _SALT_OCTETS + _NONCE_OCTETS]
        if not sealed or _encoded(octets).decode("ascii") != text:
            return None
        for key_of in self._key_of:
            try:
                opened: bytes = self._cipher(key_of(salt)).decrypt(nonce, sealed, self._purpose)
            except self._invalid:
                continue
            return opened
        return None


def _derived(secrets: Sequence[bytes], purpose: str) -> list[bytes]:
    """Returns the keys for a purpose."""
    return [hmac.digest(secret, purpose.encode(), "sha256") for secret in secrets]


def _mac_with(key: bytes) -> Callable[[bytes], bytes]:
    """Returns a function that computes HMAC-SHA256 with a key (RFC 2104).

    PERF: copying the state after the key takes a quarter of the time of `hmac.digest`, which looks
    up the algorithm in OpenSSL each time.
    """
    keyed = hmac.new(key, digestmod="sha256")

    def mac(data: bytes) -> bytes:
        copy = keyed.copy()
        copy.update(data)
        return copy.digest()

    return mac


def _encoded(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def _decoded(text: bytes) -> bytes:
    # PERF: `urlsafe_b64decode` takes twice as long. Excess padding is ignored.
    return a2b_base64(text.translate(_FROM_URL_SAFE) + b"==")
