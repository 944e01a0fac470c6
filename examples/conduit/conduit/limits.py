# SPDX-License-Identifier: MIT
"""How often anyone may try to log in."""

from __future__ import annotations

from conduit.schemas import LoginRequest
from conduit.settings import Settings
from kit import Context, HTTPException, Kit
from kit.rate_limit import rate_limit


def limit_logins(api: Kit, settings: Settings) -> None:
    """Counts logins twice: one limit stops a machine that tries many accounts, the other one many
    machines that try one account."""
    limit, hops = settings.login_limit, settings.trusted_hops
    api.on(
        "POST",
        "/users/login",
        rate_limit(limit, name="login", trusted_hops=hops),
        rate_limit(limit, name="account", key=account, trusted_hops=hops),
    )


async def account(c: Context) -> str | None:
    try:
        login = await c.req.json(LoginRequest)
    except HTTPException:
        return None  # it will be refused; until then it counts for the client
    return login.user.email.lower()
