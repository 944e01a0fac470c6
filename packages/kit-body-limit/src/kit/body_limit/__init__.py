# SPDX-License-Identifier: MIT
"""Limits the size of request bodies, as middleware."""

from ._body_limit import OnError, body_limit

__all__ = ("OnError", "body_limit")
