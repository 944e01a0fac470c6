# SPDX-License-Identifier: MIT
"""Runs the lifespan of an app for a server."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kit.lifespan import Lifespan

if TYPE_CHECKING:
    from .types import Receive, Send

_logger = logging.getLogger("kit")


async def serve_lifespan(lifespan: Lifespan, receive: Receive, send: Send) -> None:
    """Serves a lifespan scope.

    SPEC: ASGI Lifespan Protocol 2.0.

    Args:
        lifespan: The lifespan.
        receive: Receives messages from the server.
        send: Sends messages to the server.

    Raises:
        BaseException: The exception of the lifespan, after it was reported to the server.
    """
    await receive()
    phase = "startup"
    try:
        async with lifespan.running():
            lifespan.check_env()
            await send({"type": "lifespan.startup.complete"})
            phase = "serving"
            await receive()
            phase = "shutdown"
    except Exception as error:
        if phase == "serving":  # some servers log the message only at shutdown
            _logger.error("The lifespan ended while the app was served: %r", error)
            phase = "shutdown"
        await _report_failure(phase, send)
        # Servers log the message. Test clients raise the app's exception, or wait for its end.
        raise
    except BaseException as error:
        # Without the message, uvicorn and granian would serve the app without its lifespan.
        if phase == "startup" and not (isinstance(error, GeneratorExit) or _is_cancelled(error)):
            await _report_failure(phase, send)
        raise
    else:
        await send({"type": "lifespan.shutdown.complete"})


def _is_cancelled(error: BaseException) -> bool:
    """Returns whether the server cancels the task, e.g. when it is stopped during startup."""
    from kit.authoring.cancellation import is_cancelled
    from kit.authoring.event_loops import running_trio

    trio = running_trio()
    return is_cancelled() if trio is None else isinstance(error, trio.Cancelled)


async def _report_failure(phase: str, send: Send) -> None:
    import traceback

    await send({"type": f"lifespan.{phase}.failed", "message": traceback.format_exc()})
