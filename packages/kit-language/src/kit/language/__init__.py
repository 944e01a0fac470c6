# SPDX-License-Identifier: MIT
"""Detects the client's language: from the query, a cookie, Accept-Language or the path."""

from ._detectors import detect_from_cookie, detect_from_header, detect_from_path, detect_from_query
from ._language import language_detector

__all__ = (
    "detect_from_cookie",
    "detect_from_header",
    "detect_from_path",
    "detect_from_query",
    "language_detector",
)
