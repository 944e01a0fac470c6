# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.body_limit import OnError, body_limit
from kit.interface import Context, Middleware, Response


def too_large(c: Context[Any, Any]) -> Response:
    return c.text("too large", 413)


async def too_large_later(c: Context[Any, Any]) -> Response:
    return too_large(c)


on_error: OnError = too_large

assert_type(body_limit(1024), Middleware)
assert_type(body_limit(max_size=1024, on_error=too_large), Middleware)
assert_type(body_limit(1024, too_large_later), Middleware)
assert_type(body_limit(1024, lambda c: c.text("too large", 413)), Middleware)
