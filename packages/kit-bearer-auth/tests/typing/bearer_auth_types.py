# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.bearer_auth import bearer_auth
from kit.interface import Context, Middleware


async def verify(token: str, c: Context[Any, Any]) -> bool:
    return token == c.req.header("x-expected")


assert_type(bearer_auth(token="t"), Middleware)
assert_type(bearer_auth(token=["t", "u"], realm="api", prefix="Token"), Middleware)
assert_type(bearer_auth(verify_token=verify), Middleware)
