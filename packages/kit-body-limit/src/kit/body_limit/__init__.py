# SPDX-License-Identifier: MIT
"""Limits the size of request bodies, as middleware."""

from ._middleware import OnError, body_limit

__all__ = ("OnError", "body_limit")
