# SPDX-License-Identifier: MIT
"""Lets HTML forms send PUT, PATCH and DELETE, as middleware for the Kit web framework."""

from ._middleware import method_override

__all__ = ("method_override",)
