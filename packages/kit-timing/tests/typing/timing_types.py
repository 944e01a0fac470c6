# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware, Context
from kit.timing import end_timer, set_metric, start_timer, timing, wrap_time


async def asked(c: Context) -> bool:
    return c.req.query("debug") is not None


async def origin(c: Context) -> str | None:
    return c.req.header("origin")


async def read() -> int:
    return 7


async def handler(c: Context) -> None:
    set_metric(c, "a")
    set_metric(c, "a", "description")
    set_metric(c, "a", description="description")
    set_metric(c, "a", 1)
    set_metric(c, "a", 0.5, "description", 3)
    set_metric(c, "a", value=0.5, description="description", precision=3)
    start_timer(c, "b", "description")
    end_timer(c, "b", precision=3)
    assert_type(await wrap_time(c, "c", read(), "description", 3), int)


assert_type(timing(), AsyncMiddleware)
assert_type(timing(enabled=asked, cross_origin=origin), AsyncMiddleware)
assert_type(timing(enabled=False, cross_origin="https://example.com"), AsyncMiddleware)
assert_type(timing(enabled=lambda c: True, cross_origin=lambda c: True), AsyncMiddleware)
assert_type(timing(total=False, total_description="", auto_end=False), AsyncMiddleware)
