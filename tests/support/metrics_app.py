# SPDX-License-Identifier: MIT
"""An app that is measured, for real servers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import anyio

from kit import Context, Kit, Response
from kit.metrics import metrics
from kit.websocket import WebSocket, upgrade_websocket

app = Kit()
app.use(metrics())


async def pid_and_nothing_else() -> AsyncIterator[bytes]:
    """Says which process answers, and never ends."""
    yield b"%d\n" % os.getpid()
    await anyio.sleep_forever()


@app.get("/pid")
async def pid(c: Context) -> Response:
    """Says which process answers."""
    return c.text(str(os.getpid()))


@app.get("/wait/:number")
async def wait(c: Context) -> Response:
    """Answers without an end."""
    return c.body(pid_and_nothing_else())


@app.get("/echo")
@upgrade_websocket
async def echo(c: Context, ws: WebSocket) -> None:
    """Sends each message back."""
    async for message in ws:
        await ws.send(message)
