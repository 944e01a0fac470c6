# SPDX-License-Identifier: MIT
"""Probes of an app's health: whether it lives, is ready, and has started."""

from ._middleware import Health, health

__all__ = ("Health", "health")
