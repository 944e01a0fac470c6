# SPDX-License-Identifier: MIT
"""Static files for the Kit web framework, with ranges and precompressed variants."""

from ._caching import IMMUTABLE, CacheControl, hashed_names
from ._options import GetContent, IsDir, Notify
from ._paths import safe_segments
from ._send_file import send_file
from ._serve_static import serve_static

__all__ = (
    "IMMUTABLE",
    "CacheControl",
    "GetContent",
    "IsDir",
    "Notify",
    "hashed_names",
    "safe_segments",
    "send_file",
    "serve_static",
)
