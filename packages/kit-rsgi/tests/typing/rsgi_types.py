# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import assert_type

from kit import Kit
from kit.rsgi import RsgiHttp, RsgiScope, RsgiWebSocket, serve, start_lifespan

app = Kit()


async def serve_logged(scope: RsgiScope, protocol: RsgiHttp | RsgiWebSocket) -> None:
    assert_type(scope.path, str)
    assert_type(scope.headers.get("host"), str | None)
    await app.__rsgi__(scope, protocol)
    await serve(app, scope, protocol)
    await serve(app, scope, "protocol")  # type: ignore


def start(loop: AbstractEventLoop) -> Callable[[], None]:
    return start_lifespan(app, loop)
