# SPDX-License-Identifier: MIT
"""Middleware that responds to unsupported methods with 405 and Allow."""

from ._method_not_allowed import MethodNotAllowedHandler, method_not_allowed

__all__ = ("MethodNotAllowedHandler", "method_not_allowed")
