# SPDX-License-Identifier: MIT
"""Liveness, readiness and startup probes for the Kit web framework."""

from ._middleware import health

__all__ = ("health",)
