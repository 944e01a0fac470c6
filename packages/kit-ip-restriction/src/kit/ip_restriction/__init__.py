# SPDX-License-Identifier: MIT
"""Allows and denies clients by their IP addresses, as middleware."""

from ._ip_restriction import GetIP, OnError, Rules, ip_restriction
from ._rules import Remote, Rule

__all__ = ("GetIP", "OnError", "Remote", "Rule", "Rules", "ip_restriction")
