# SPDX-License-Identifier: MIT
"""A router for Kit that hashes on path segments."""

from ._router import SegmentHashRouter

__all__ = ("SegmentHashRouter",)
