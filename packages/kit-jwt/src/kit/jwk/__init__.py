# SPDX-License-Identifier: MIT
"""Middleware that verifies tokens with the keys of a JSON Web Key Set (RFC 7517).

For tokens of an identity provider, which publishes its keys. For tokens that are signed with a
secret, use `kit.jwt`.
"""

from ._cache import JwksUnavailableError
from ._middleware import Fetch, Keys, jwk, verify_with_jwks

__all__ = ("Fetch", "JwksUnavailableError", "Keys", "jwk", "verify_with_jwks")
