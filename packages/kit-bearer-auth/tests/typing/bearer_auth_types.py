# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.bearer_auth import FailureOptions, bearer_auth
from kit.interface import AsyncMiddleware, Context, Next, Response


async def verify(token: str, c: Context[Any, Any]) -> bool:
    return token == c.req.header("x-expected")


assert_type(bearer_auth(token="t"), AsyncMiddleware)
assert_type(bearer_auth(token=["t", "u"], realm="api", prefix="Token"), AsyncMiddleware)
assert_type(bearer_auth(verify_token=verify), AsyncMiddleware)


async def find_user(token: str, c: Context[Any, Any]) -> dict[str, str] | None:
    return {"name": token} if token else None


login_required = bearer_auth(verify_token=find_user, user_variable="account", optional=True)
forbidden: FailureOptions = {"status": 403, "message": lambda c: {"path": c.req.path}}

assert_type(login_required, AsyncMiddleware)
assert_type(bearer_auth(verify_token=lambda token, c: True), AsyncMiddleware)
assert_type(bearer_auth(token="t", invalid_token=forbidden), AsyncMiddleware)


async def login_required_to_write(c: Context[Any, Any], next: Next) -> Response | None:
    if c.req.method == "GET":
        await next()
        return None
    return await login_required(c, next)
