# SPDX-License-Identifier: MIT
"""JSON Web Tokens (RFC 7519): middleware that verifies them, and functions that sign and decode.

`kit.jwk` verifies tokens with a set of keys, such as the keys of an identity provider.
"""

from ._claims import VerifyOptions
from ._credentials import TokenCookie
from ._errors import (
    JwtAlgorithmMismatchError,
    JwtAlgorithmNotAllowedError,
    JwtClaimMissingError,
    JwtError,
    JwtHeaderInvalidError,
    JwtHeaderRequiresKidError,
    JwtKeyNotFoundError,
    JwtPayloadInvalidError,
    JwtTokenAudienceError,
    JwtTokenExpiredError,
    JwtTokenInvalidError,
    JwtTokenIssuedAtError,
    JwtTokenIssuerError,
    JwtTokenNotBeforeError,
    JwtTokenRevokedError,
    JwtTokenSignatureMismatchedError,
)
from ._guard import CurrentUser, IsRevoked
from ._jwt import jwt
from ._keys import AsymmetricAlgorithm, SignatureAlgorithm, SignatureKey, SymmetricAlgorithm
from ._tokens import DecodedToken, decode, decode_header, sign, verify

__all__ = (
    "AsymmetricAlgorithm",
    "CurrentUser",
    "DecodedToken",
    "IsRevoked",
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
    "SignatureAlgorithm",
    "SignatureKey",
    "SymmetricAlgorithm",
    "TokenCookie",
    "VerifyOptions",
    "decode",
    "decode_header",
    "jwt",
    "sign",
    "verify",
)
