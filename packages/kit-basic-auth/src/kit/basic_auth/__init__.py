# SPDX-License-Identifier: MIT
"""HTTP Basic authentication (RFC 7617) as middleware."""

from ._basic_auth import OnAuthSuccess, User, VerifyUser, basic_auth

__all__ = ("OnAuthSuccess", "User", "VerifyUser", "basic_auth")
