# SPDX-License-Identifier: MIT
"""Middleware that names the server software in the X-Powered-By header."""

from ._powered_by import powered_by

__all__ = ("powered_by",)
