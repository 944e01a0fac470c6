# SPDX-License-Identifier: MIT
"""What the standards say about request methods (RFC 9110 section 9; RFC 10008 for QUERY)."""

from __future__ import annotations

__all__ = ("READING_METHODS", "SAFE_METHODS", "STANDARD_METHODS")

READING_METHODS = frozenset(("GET", "HEAD", "QUERY"))
"""The methods whose responses are representations.

These have entity tags, can be stored in caches, and become a 304 if the client has them already
(RFC 9110 sections 8.8.3, 9.2.3 and 13.1.2; RFC 10008 sections 2.6 and 2.7).
"""

SAFE_METHODS = READING_METHODS | {"OPTIONS", "TRACE"}
"""The methods whose requests ask for no change (RFC 9110 section 9.2.1; RFC 10008 section 2)."""

STANDARD_METHODS = SAFE_METHODS | {"CONNECT", "DELETE", "PATCH", "POST", "PUT"}
"""All methods of RFC 9110 section 9.3, RFC 5789 (PATCH) and RFC 10008 (QUERY)."""
