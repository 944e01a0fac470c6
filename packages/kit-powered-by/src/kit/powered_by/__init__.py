# SPDX-License-Identifier: MIT
"""Names the software in the header X-Powered-By, as middleware."""

from ._middleware import powered_by

__all__ = ("powered_by",)
