# SPDX-License-Identifier: MIT
"""How often anyone may try to log in or sign up, in the API and on the pages together."""

from __future__ import annotations

from typing import Any

from conduit.schemas import LoginRequest
from conduit.settings import Settings
from kit import Context, HTTPException, Kit
from kit.interface import AsyncMiddleware
from kit.rate_limit import MemoryStore, rate_limit


class Attempts:
    """Counts attempts; limits of one name share their count."""

    def __init__(self, settings: Settings) -> None:
        self._limit = settings.login_limit
        self._trusted_hops = settings.trusted_hops
        self._store = MemoryStore()

    def limit(self, name: str, **options: Any) -> AsyncMiddleware:
        """Makes a middleware that counts by the client's address, unless a key is given."""
        return rate_limit(
            self._limit, name=name, store=self._store, trusted_hops=self._trusted_hops, **options
        )


def limit_attempts(api: Kit, attempts: Attempts) -> None:
    """Counts logins twice: one limit stops a machine that tries many accounts, the other one many
    machines that try one account."""
    api.on("POST", "/users", attempts.limit("register"))
    api.on("POST", "/users/login", attempts.limit("login"), attempts.limit("account", key=account))


async def account(c: Context) -> str | None:
    try:
        login = await c.req.json(LoginRequest)
    except HTTPException:
        return None  # it will be refused; until then it counts for the client
    return login.user.email.lower()
