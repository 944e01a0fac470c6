# SPDX-License-Identifier: MIT
"""Entity tags, 304 Not Modified and preconditions, as middleware for the Kit web framework."""

from ._etag import GenerateDigest, etag

__all__ = ("GenerateDigest", "etag")
