# SPDX-License-Identifier: MIT
"""Why a token is refused."""

from __future__ import annotations

__all__ = (
    "JwtAlgorithmMismatchError",
    "JwtAlgorithmNotAllowedError",
    "JwtClaimMissingError",
    "JwtError",
    "JwtHeaderInvalidError",
    "JwtHeaderRequiresKidError",
    "JwtKeyNotFoundError",
    "JwtPayloadInvalidError",
    "JwtTokenAudienceError",
    "JwtTokenExpiredError",
    "JwtTokenInvalidError",
    "JwtTokenIssuedAtError",
    "JwtTokenIssuerError",
    "JwtTokenNotBeforeError",
    "JwtTokenRevokedError",
    "JwtTokenSignatureMismatchedError",
)


class JwtError(Exception):
    """A token is refused. Its text says why, and contains neither the token nor a key."""


class JwtTokenInvalidError(JwtError):
    """The token is not three canonical base64url parts with JSON in the first (RFC 7515, 7.1)."""


class JwtHeaderInvalidError(JwtError):
    """The header lacks `alg`, has a wrong `typ`, or asks for an extension (RFC 7515, 4.1)."""


class JwtHeaderRequiresKidError(JwtError):
    """The header has no `kid`, and every key of the set has one (RFC 7515, 4.1.4)."""


class JwtAlgorithmMismatchError(JwtError):
    """The token is signed with another algorithm than the key is for."""


class JwtAlgorithmNotAllowedError(JwtError):
    """The algorithm of the token is none of those that are allowed."""


class JwtKeyNotFoundError(JwtError):
    """The key set has no key that can verify the token."""


class JwtTokenSignatureMismatchedError(JwtError):
    """The signature is not that of the key."""


class JwtPayloadInvalidError(JwtError):
    """The payload is no JSON object, a claim has a wrong type, or it doesn't fit `type`."""


class JwtClaimMissingError(JwtError):
    """The payload lacks a required claim."""


class JwtTokenExpiredError(JwtError):
    """The time in `exp` has come (RFC 7519, 4.1.4)."""


class JwtTokenNotBeforeError(JwtError):
    """The time in `nbf` has not come yet (RFC 7519, 4.1.5)."""


class JwtTokenIssuedAtError(JwtError):
    """The time in `iat` lies ahead (RFC 7519, 4.1.6)."""


class JwtTokenIssuerError(JwtError):
    """The issuer is not the expected one (RFC 7519, 4.1.1)."""


class JwtTokenAudienceError(JwtError):
    """The token is for another audience (RFC 7519, 4.1.3)."""


class JwtTokenRevokedError(JwtError):
    """`is_revoked` or `load` has refused the token."""
