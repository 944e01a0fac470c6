# SPDX-License-Identifier: MIT
"""Runs the lifespan of an app for a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit.lifespan import Lifespan

if TYPE_CHECKING:
    from .types import Receive, Send


async def serve_lifespan(lifespan: Lifespan, receive: Receive, send: Send) -> None:
    """Serves a lifespan scope.

    SPEC: ASGI Lifespan Protocol 2.0.

    Args:
        lifespan: The lifespan.
        receive: Returns the messages of the server.
        send: Sends messages to the server.
    """
    await receive()
    phase = "startup"
    try:
        async with lifespan.running():
            await send({"type": "lifespan.startup.complete"})
            phase = "shutdown"
            await receive()
    except Exception:
        import traceback

        # The server logs the message; raising as well would log it twice.
        await send({"type": f"lifespan.{phase}.failed", "message": traceback.format_exc()})
    else:
        await send({"type": "lifespan.shutdown.complete"})
