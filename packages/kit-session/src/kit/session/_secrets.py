# SPDX-License-Identifier: MIT
"""Signs and encrypts what is in cookies, and refuses secrets that are too short."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from secrets import token_bytes
from typing import Any, Protocol

__all__ = ("Encryption", "Seal", "Signature", "check_secrets")

_LEAST_OCTETS = 32
_HINT = (
    "make one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`, "
    "and keep it outside of the code"
)
_SALT_OCTETS = 16
_NONCE_OCTETS = 12


def check_secrets(value: Any) -> tuple[bytes, ...]:
    """Checks the secrets of `session`: one or several, the first of which is for new cookies.

    Raises:
        TypeError: If it is neither a str nor a list of them.
        ValueError: If there is none, or one is too short.
    """
    secrets = (value,) if isinstance(value, (str, bytes)) else value
    if not isinstance(secrets, Sequence):
        # APPSEC: no error shows a secret.
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
    """Protects what is in a cookie."""

    def close(self, data: bytes) -> str:
        """Returns the data as text of letters, digits and `-_.`."""
        ...

    def open(self, text: str) -> bytes | None:
        """Returns the data; None if this text wasn't made with one of the secrets."""
        ...


class Signature:
    """Signs data with HMAC-SHA256 (RFC 2104); the client can read them.

    Args:
        secrets: The first one signs, all of them verify.
        purpose: Text made for one purpose is worth nothing for another one.
        encodes: Whether the data are encoded as base64url; False for ASCII text.
    """

    __slots__ = ("_encodes", "_invalid", "_signer")

    def __init__(self, secrets: Sequence[bytes], purpose: str, *, encodes: bool = True) -> None:
        from itsdangerous import BadSignature, Signer
        from itsdangerous.signer import SigningAlgorithm

        class HmacSha256(SigningAlgorithm):
            # PERF: one call of OpenSSL.
            def get_signature(self, key: bytes, value: bytes) -> bytes:
                return hmac.digest(key, value, "sha256")

        # PERF: itsdangerous would derive the keys again for each text.
        keys = [hmac.digest(secret, purpose.encode(), "sha256") for secret in secrets]
        # itsdangerous signs with the last one.
        self._signer = Signer(keys[::-1], purpose, key_derivation="none", algorithm=HmacSha256())
        self._invalid = BadSignature
        self._encodes = encodes

    def close(self, data: bytes) -> str:
        """Returns the data, as base64url unless they are text already, and the signature."""
        return self._signer.sign(_encoded(data) if self._encodes else data).decode("ascii")

    def open(self, text: str) -> bytes | None:
        """Returns the data; None if this text wasn't signed with one of the secrets."""
        try:
            data = self._signer.unsign(text)
            return _decoded(data) if self._encodes else data
        except (self._invalid, ValueError):
            return None


class Encryption:
    """Encrypts and authenticates data with AES-256-GCM (NIST SP 800-38D).

    Each text has a key of its own, derived with 16 random bytes, so that the limit of 2^32 texts
    with random nonces for one key (section 8.3) doesn't matter.

    Args:
        secrets: The first one encrypts, all of them decrypt.
        purpose: Text made for one purpose is worth nothing for another one.

    Raises:
        ImportError: If cryptography isn't installed.
    """

    __slots__ = ("_cipher", "_invalid", "_keys", "_purpose")

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
        self._keys = [hmac.digest(secret, self._purpose, "sha256") for secret in secrets]

    def close(self, data: bytes) -> str:
        """Returns the encrypted data as base64url."""
        salt, nonce = token_bytes(_SALT_OCTETS), token_bytes(_NONCE_OCTETS)
        sealed = self._of(self._keys[0], salt).encrypt(nonce, data, self._purpose)
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
        for key in self._keys:
            try:
                opened: bytes = self._of(key, salt).decrypt(nonce, sealed, self._purpose)
            except self._invalid:
                continue
            return opened
        return None

    def _of(self, key: bytes, salt: bytes) -> Any:
        return self._cipher(hmac.digest(key, salt, "sha256"))


def _encoded(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def _decoded(text: bytes) -> bytes:
    return urlsafe_b64decode(text + b"=" * (-len(text) % 4))
