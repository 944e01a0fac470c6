# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.combine import Condition, UnmetConditionError, every, except_, some
from kit.interface import Context, HTTPException, Middleware, Next


def is_admin(c: Context[Any, Any]) -> bool:
    return c.req.header("x-role") == "admin"


async def is_admin_later(c: Context[Any, Any]) -> bool:
    return is_admin(c)


async def mark(c: Context[Any, Any], next: Next) -> None:
    await next()


condition: Condition = is_admin_later
error: HTTPException = UnmetConditionError("every()", "is_admin")

assert_type(some(is_admin, is_admin_later, mark), Middleware)
assert_type(every(mark, some(is_admin, mark)), Middleware)
assert_type(except_("/public/*", mark), Middleware)
assert_type(except_(is_admin_later, mark, is_admin), Middleware)
assert_type(except_(["/a", is_admin, is_admin_later], every(mark)), Middleware)
assert_type(every(lambda c: True), Middleware)
