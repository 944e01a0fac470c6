# SPDX-License-Identifier: MIT
"""Refuses requests for unknown hosts, as middleware."""

from ._middleware import trusted_hosts

__all__ = ("trusted_hosts",)
