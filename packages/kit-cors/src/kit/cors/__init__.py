# SPDX-License-Identifier: MIT
"""Cross-origin resource sharing (CORS) for the Kit web framework."""

from ._cors import AllowMethods, AllowOrigin, cors

__all__ = ("AllowMethods", "AllowOrigin", "cors")
