# SPDX-License-Identifier: MIT
"""Bearer-token authentication (RFC 6750) as middleware."""

from ._bearer_auth import FailureOptions, HashFunction, VerifyToken, bearer_auth

__all__ = ("FailureOptions", "HashFunction", "VerifyToken", "bearer_auth")
