# SPDX-License-Identifier: MIT
"""Middleware of several peers: an ASGI app around another one."""

from __future__ import annotations

from typing import Any


class PassThrough:
    """Hands everything on."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)
