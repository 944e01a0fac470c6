# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.basic_auth import User, basic_auth
from kit.interface import AsyncMiddleware, Context, Next, Response


async def verify(username: str, password: str, c: Context[Any, Any]) -> bool:
    return username == c.req.header("x-expected") and password == "x"


def note(c: Context[Any, Any], username: str) -> None:
    c.set("user", username)


bob: User = {"username": "bob", "password": "b0b"}
eve: dict[str, str] = {"username": "eve", "password": "3v3"}
login_required = basic_auth(bob, eve, {"username": "ann", "password": "pw"})

assert_type(login_required, AsyncMiddleware)
assert_type(basic_auth(username="ada", password="pw", realm="Staff"), AsyncMiddleware)
assert_type(basic_auth("ada", "pw", bob, realm="Staff"), AsyncMiddleware)
assert_type(basic_auth(verify_user=verify, on_auth_success=note), AsyncMiddleware)
assert_type(basic_auth(bob, hash_function=str.upper), AsyncMiddleware)
assert_type(basic_auth(bob, invalid_user_message=lambda c: {"error": c.req.path}), AsyncMiddleware)


async def login_required_to_write(c: Context[Any, Any], next: Next) -> Response | None:
    if c.req.method == "GET":
        await next()
        return None
    return await login_required(c, next)
