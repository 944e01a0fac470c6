# SPDX-License-Identifier: MIT
"""Rate limits for logins."""

from __future__ import annotations

from conduit.schemas import LoginRequest
from conduit.settings import Settings
from kit import Context, HTTPException, Kit
from kit.rate_limit import rate_limit


def limit_logins(api: Kit, settings: Settings) -> None:
    """Limits logins per client and per account.

    The first limit stops one machine that tries many accounts, the second one many machines that
    try the same account.
    """
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
        return None  # counts for the client; the endpoint rejects the body
    return login.user.email.lower()
