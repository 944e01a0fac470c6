# SPDX-License-Identifier: MIT
"""Middleware that lets HTML forms send PUT, PATCH and DELETE."""

from ._method_override import method_override

__all__ = ("method_override",)
