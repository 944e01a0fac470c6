# SPDX-License-Identifier: MIT
"""Middleware that verifies tokens with the keys of a JSON Web Key Set (RFC 7517).

Use it for tokens of an identity provider, which publishes its keys. For tokens signed with a
secret, use `kit.jwt`.
"""

from ._cache import JwksUnavailableError
from ._jwk import Fetch, Keys, jwk, verify_with_jwks
from ._verifier import KeySource

__all__ = ("Fetch", "JwksUnavailableError", "KeySource", "Keys", "jwk", "verify_with_jwks")
