# SPDX-License-Identifier: MIT
"""Middleware that rejects requests for unknown hosts."""

from ._trusted_hosts import trusted_hosts

__all__ = ("trusted_hosts",)
