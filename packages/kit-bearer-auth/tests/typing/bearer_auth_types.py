# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.bearer_auth import bearer_auth
from kit.interface import AsyncMiddleware, Context


async def verify(token: str, c: Context[Any, Any]) -> bool:
    return token == c.req.header("x-expected")


assert_type(bearer_auth(token="t"), AsyncMiddleware)
assert_type(bearer_auth(token=["t", "u"], realm="api", prefix="Token"), AsyncMiddleware)
assert_type(bearer_auth(verify_token=verify), AsyncMiddleware)
