# SPDX-License-Identifier: MIT
"""JSON Web Token and JWKS authentication middleware for the Kit web framework."""

from ._middleware import jwt

__all__ = ("jwt",)
