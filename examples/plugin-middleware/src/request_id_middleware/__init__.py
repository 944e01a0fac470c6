# SPDX-License-Identifier: MIT
"""Middleware for Kit that gives each request an id."""

from ._middleware import RequestIdVariables, request_id

__all__ = ("RequestIdVariables", "request_id")
