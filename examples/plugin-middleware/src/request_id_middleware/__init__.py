# SPDX-License-Identifier: MIT
"""Middleware for Kit that gives each request an id."""

from ._request_id import RequestIdVariables, request_id

__all__ = ("RequestIdVariables", "request_id")
