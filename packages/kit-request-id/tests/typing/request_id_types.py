# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

import logging
from typing import Any, assert_type

from kit.interface import AsyncMiddleware, Context, Next, Response
from kit.request_id import (
    Generator,
    RequestIdFilter,
    RequestIdVariables,
    current_request_id,
    request_id,
)


def plain(c: Context[Any, Any]) -> str:
    return c.req.header("x-seed") or "none"


async def later(c: Context[Any, Any]) -> str:
    return plain(c)


generators: list[Generator] = [plain, later]

assert_type(request_id(), AsyncMiddleware)
assert_type(request_id(limit_length=64, header_name="", generator=later), AsyncMiddleware)
assert_type(current_request_id(), str | None)
filter_: logging.Filter = RequestIdFilter(default="none")

identify = request_id(generator=plain)


async def wrapping(c: Context[Any, RequestIdVariables], next: Next) -> Response | None:
    assert_type(c.var["request_id"], str)
    return await identify(c, next)
