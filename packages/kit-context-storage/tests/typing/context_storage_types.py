# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, TypedDict, assert_type

from kit.context_storage import context_storage, get_context, path_to, try_get_context
from kit.interface import AsyncMiddleware, Context, Next, Response


class Variables(TypedDict):
    user: str


assert_type(context_storage(), AsyncMiddleware)
assert_type(get_context(), Context[Any, Any])
assert_type(try_get_context(), Context[Any, Any] | None)
assert_type(get_context(Context[Any, Variables]), Context[Any, Variables])

store = context_storage()


async def wrapping(c: Context[Any, Any], next: Next) -> Response | None:
    return await store(c, next)


assert_type(path_to("read_book", id=7, query={"page": 2}), str)
path_to(7)  # type: ignore
