# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

import re
from typing import Any, assert_type

from kit.compress import ContentTypeFilter, Skip, compress
from kit.interface import AsyncMiddleware, Context


def is_text(content_type: str) -> bool:
    return content_type.startswith("text/")


async def is_text_later(content_type: str) -> bool:
    return is_text(content_type)


def has_cookies(c: Context[Any, Any]) -> bool:
    return c.res.headers.has("Set-Cookie")


async def has_cookies_later(c: Context[Any, Any]) -> bool:
    return has_cookies(c)


only_text: ContentTypeFilter = is_text
without_cookies: Skip = has_cookies

assert_type(compress(), AsyncMiddleware)
assert_type(compress(encodings=["br", "gzip"], threshold=500), AsyncMiddleware)
assert_type(compress(encoding="gzip", level=9), AsyncMiddleware)
assert_type(compress(level={"gzip": 9}), AsyncMiddleware)
assert_type(compress(level=9), AsyncMiddleware)
assert_type(compress(content_type_filter=re.compile("^text/")), AsyncMiddleware)
assert_type(compress(content_type_filter=is_text_later), AsyncMiddleware)
assert_type(compress(content_type_filter=is_text, skip=has_cookies), AsyncMiddleware)
assert_type(compress(skip=has_cookies_later), AsyncMiddleware)
assert_type(compress(skip=lambda c: False), AsyncMiddleware)
compress(threshold="1k")  # type: ignore
compress(level="fast")  # type: ignore
