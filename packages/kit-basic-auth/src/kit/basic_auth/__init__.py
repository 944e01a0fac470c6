# SPDX-License-Identifier: MIT
"""HTTP Basic authentication (RFC 7617) as middleware."""

from ._middleware import OnAuthSuccess, User, VerifyUser, basic_auth

__all__ = ("OnAuthSuccess", "User", "VerifyUser", "basic_auth")
