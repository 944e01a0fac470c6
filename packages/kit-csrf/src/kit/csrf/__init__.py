# SPDX-License-Identifier: MIT
"""Protection against cross-site request forgery (CSRF) for the Kit web framework."""

from ._csrf import IsAllowedOrigin, IsAllowedSite, SecFetchSite, csrf

__all__ = ("IsAllowedOrigin", "IsAllowedSite", "SecFetchSite", "csrf")
