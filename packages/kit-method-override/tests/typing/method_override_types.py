# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.interface import App, AsyncMiddleware, Context, Next, Response
from kit.method_override import method_override


def middleware(app: App) -> None:
    assert_type(method_override(app=app), AsyncMiddleware)
    assert_type(method_override(app=app, form="verb", methods=["PURGE"]), AsyncMiddleware)
    assert_type(method_override(app=app, header="X-HTTP-Method-Override"), AsyncMiddleware)
    override = method_override(app=app, query="_method")

    async def wrapping(c: Context[Any, Any], next: Next) -> Response | None:
        return await override(c, next)
