# SPDX-License-Identifier: MIT
"""Rate limits for logins and sign-ups, shared by the API and the pages."""

from __future__ import annotations

from typing import Any

from conduit.schemas import LoginRequest
from conduit.settings import Settings
from kit import Context, HTTPException, Kit
from kit.interface import AsyncMiddleware
from kit.rate_limit import MemoryStore, rate_limit


class Attempts:
    """Counts attempts. Limits with the same name share their count."""

    def __init__(self, settings: Settings) -> None:
        self._limit = settings.login_limit
        self._trusted_hops = settings.trusted_hops
        self._store = MemoryStore()

    def limit(self, name: str, **options: Any) -> AsyncMiddleware:
        """Creates a middleware that counts per client address, unless a key is given."""
        return rate_limit(
            self._limit, name=name, store=self._store, trusted_hops=self._trusted_hops, **options
        )


def limit_attempts(api: Kit, attempts: Attempts) -> None:
    """Limits sign-ups per client, and logins per client and per account.

    Of the two limits on logins, the first stops one machine that tries many accounts, the second
    many machines that try the same account.
    """
    api.on("POST", "/users", attempts.limit("register"))
    api.on("POST", "/users/login", attempts.limit("login"), attempts.limit("account", key=account))


async def account(c: Context) -> str | None:
    try:
        login = await c.req.json(LoginRequest)
    except HTTPException:
        return None  # counts for the client; the endpoint rejects the body
    return login.user.email.lower()
