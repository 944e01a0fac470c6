# SPDX-License-Identifier: MIT
"""The process that `kit dev` serves an app in; there is a new one after each change."""

from __future__ import annotations

import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from kit.interface import supports_color

from ._errors import AppError
from ._exit_codes import LIFESPAN_FAILED, LOAD_FAILED
from ._inspection import inspect_app
from ._loading import load_app, locate
from ._style import YELLOW, say
from ._table import route_lines
from ._tracebacks import cut_in_log
from ._worker import Started, failure

# What is in flight when a file changes, or at Ctrl-C, has so long to be answered.
_SHUTDOWN_S = 1


def serve(channel: Connection, listener: socket.socket, target: str) -> int:
    """The work of `kit dev`.

    For an app that fails to load, requests are answered with the reason until it is mended.
    """
    # Not at the top, as the process that watches the files imports this as well.
    from ._loop_watch import LoopWatch

    try:
        app: Any = load_app(target)
    except AppError as error:
        told = failure(error)
        channel.send(told)
        return _run(_Broken(told.reason), listener) if told.by_itself else LOAD_FAILED
    has_started = False

    def on_start() -> None:
        nonlocal has_started
        has_started = True
        LoopWatch(app.routes, locate(target).folder, partial(say, color=YELLOW)).start()
        channel.send(Started(route_lines(inspect_app(app), colorize=supports_color(sys.stderr))))

    with cut_in_log():
        # A copy, as the server closes its socket.
        code = _run(app, listener.dup(), on_start)
    if code == LIFESPAN_FAILED and not has_started:
        return _run(_Broken("The app did not start: its traceback is where kit dev runs"), listener)
    return code


def _run(app: Any, listener: socket.socket, on_start: Callable[[], object] | None = None) -> int:
    from ._server import run

    return run(app, listener, on_start, shutdown_s=_SHUTDOWN_S, is_worker=True)


class _Broken:
    """An ASGI app that answers every request with the reason why there is no other."""

    def __init__(self, reason: str) -> None:
        self._body = f"{reason}\n".encode()

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        if scope["type"] == "lifespan":
            for phase in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{phase}.complete"})
            return
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000})
            return
        headers = [
            (b"content-type", b"text/plain; charset=UTF-8"),
            (b"content-length", b"%d" % len(self._body)),
        ]
        await send({"type": "http.response.start", "status": 500, "headers": headers})
        await send({"type": "http.response.body", "body": self._body})
