# SPDX-License-Identifier: MIT
"""Middleware that names the server software in the X-Powered-By header."""

from ._middleware import powered_by

__all__ = ("powered_by",)
