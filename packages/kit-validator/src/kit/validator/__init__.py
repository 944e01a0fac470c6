# SPDX-License-Identifier: MIT
"""Middleware that validates a part of the request before the handler runs."""

from kit.interface import FieldError, RequestValidationError, ValidationProblem

from ._validator import validator

__all__ = ("FieldError", "RequestValidationError", "ValidationProblem", "validator")
