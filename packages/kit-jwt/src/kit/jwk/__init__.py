# SPDX-License-Identifier: MIT
"""Tokens that a key of a JSON Web Key Set signed (RFC 7517): middleware that verifies them.

For tokens of an identity provider, which publishes its keys. Tokens that are signed with a secret
are for `kit.jwt`.
"""

from ._cache import JwksUnavailableError
from ._middleware import Fetch, Keys, jwk, verify_with_jwks

__all__ = ("Fetch", "JwksUnavailableError", "Keys", "jwk", "verify_with_jwks")
