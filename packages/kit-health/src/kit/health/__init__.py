# SPDX-License-Identifier: MIT
"""Health probes: whether an app has started, is alive, and is ready for requests."""

from ._health import Health, health

__all__ = ("Health", "health")
