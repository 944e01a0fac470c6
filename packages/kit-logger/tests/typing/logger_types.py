# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

import logging
from typing import Any, assert_type

from kit.interface import AsyncMiddleware, Context
from kit.logger import access_log, logger

assert_type(logger(), AsyncMiddleware)
assert_type(logger(print, query=False), AsyncMiddleware)
assert_type(logger(logging.getLogger("access").info), AsyncMiddleware)


async def fields(c: Context[Any, Any]) -> dict[str, int]:
    return {"length": len(c.req.path)}


assert_type(access_log(), AsyncMiddleware)
assert_type(access_log("text", to=print, query=True), AsyncMiddleware)
assert_type(access_log(to=logging.getLogger("access"), fields=fields), AsyncMiddleware)
assert_type(access_log(exclude=["/livez", lambda c: True], trusted_hops=1), AsyncMiddleware)
access_log("xml")  # type: ignore
access_log(exclude=1)  # type: ignore
