# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit import Context, Kit
from kit.compress import compress
from kit.interface import AsyncMiddleware


def has_cookies(c: Context) -> bool:
    return c.res.headers.has("Set-Cookie")


assert_type(compress(skip=has_cookies), AsyncMiddleware)
Kit().use(compress(skip=has_cookies))
