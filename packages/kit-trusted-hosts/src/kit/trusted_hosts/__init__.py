# SPDX-License-Identifier: MIT
"""Answers requests for known hosts alone, as middleware."""

from ._middleware import trusted_hosts

__all__ = ("trusted_hosts",)
