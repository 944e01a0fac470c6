# SPDX-License-Identifier: MIT
"""Middleware that validates a part of the request before the handler runs."""

from kit.interface import FieldError, RequestValidationError

from ._middleware import ValidationProblem, validator

__all__ = ("FieldError", "RequestValidationError", "ValidationProblem", "validator")
