# SPDX-License-Identifier: MIT
"""Finds the language of the client: in the query, a cookie, Accept-Language or the path."""

from ._detectors import detect_from_cookie, detect_from_header, detect_from_path, detect_from_query
from ._middleware import language_detector

__all__ = (
    "detect_from_cookie",
    "detect_from_header",
    "detect_from_path",
    "detect_from_query",
    "language_detector",
)
