# SPDX-License-Identifier: MIT
"""Answers unsupported methods with 405 and Allow, as middleware for Kit."""

from ._middleware import MethodNotAllowedHandler, method_not_allowed

__all__ = ("MethodNotAllowedHandler", "method_not_allowed")
