# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.interface import Context, HTTPException, Middleware
from kit.timeout import ExceptionFunction, cancel_on_disconnect, timeout


def late(c: Context[Any, Any]) -> HTTPException:
    return HTTPException(503, f"late: {c.req.path}")


async def late_later(c: Context[Any, Any]) -> HTTPException:
    return late(c)


exception: ExceptionFunction = late

assert_type(timeout(5), Middleware)
assert_type(timeout(0.5, HTTPException(408)), Middleware)
assert_type(timeout(seconds=5, exception=late), Middleware)
assert_type(timeout(5, late_later), Middleware)
assert_type(cancel_on_disconnect(), Middleware)
