# SPDX-License-Identifier: MIT
"""The reasons for which a token is rejected."""

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
    """Base class of errors for rejected tokens. The text has the reason, but no token or key."""


class JwtTokenInvalidError(JwtError):
    """The token isn't three canonical base64url parts with JSON in the first (RFC 7515, 7.1)."""


class JwtHeaderInvalidError(JwtError):
    """The header lacks `alg`, has a wrong `typ`, or requires an extension (RFC 7515, 4.1)."""


class JwtHeaderRequiresKidError(JwtError):
    """The header has no `kid`, and every key of the set has one (RFC 7515, 4.1.4)."""


class JwtAlgorithmMismatchError(JwtError):
    """The token is signed with an algorithm other than the key's."""


class JwtAlgorithmNotAllowedError(JwtError):
    """The algorithm of the token isn't allowed."""


class JwtKeyNotFoundError(JwtError):
    """The key set has no key that can verify the token."""


class JwtTokenSignatureMismatchedError(JwtError):
    """The signature doesn't match any of the keys."""


class JwtPayloadInvalidError(JwtError):
    """The payload isn't a JSON object, has a claim of a wrong type, or doesn't match `type`."""


class JwtClaimMissingError(JwtError):
    """The payload lacks a required claim."""


class JwtTokenExpiredError(JwtError):
    """The time in `exp` has passed (RFC 7519, 4.1.4)."""


class JwtTokenNotBeforeError(JwtError):
    """The time in `nbf` is in the future (RFC 7519, 4.1.5)."""


class JwtTokenIssuedAtError(JwtError):
    """The time in `iat` is in the future (RFC 7519, 4.1.6)."""


class JwtTokenIssuerError(JwtError):
    """The issuer is not the expected one (RFC 7519, 4.1.1)."""


class JwtTokenAudienceError(JwtError):
    """The token is for another audience (RFC 7519, 4.1.3)."""


class JwtTokenRevokedError(JwtError):
    """`is_revoked` or `load` rejected the token."""
