# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.interface import App, AsyncMiddleware, Context, Next, Response
from kit.method_not_allowed import MethodNotAllowedHandler, method_not_allowed


def plain(c: Context[Any, Any], methods: list[str]) -> Response:
    return c.text(", ".join(methods), 405)


async def later(c: Context[Any, Any], methods: list[str]) -> Response:
    return plain(c, methods)


handlers: list[MethodNotAllowedHandler] = [plain, later]


def middleware(app: App) -> None:
    assert_type(method_not_allowed(app=app), AsyncMiddleware)
    refuse = method_not_allowed(app=app, on_method_not_allowed=later)

    async def wrapping(c: Context[Any, Any], next: Next) -> Response | None:
        return await refuse(c, next)
