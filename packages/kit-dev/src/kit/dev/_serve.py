# SPDX-License-Identifier: MIT
"""Serves an app with uvicorn."""

from __future__ import annotations

import errno
import signal
import socket
import sys
from types import FrameType
from typing import Any, NoReturn

import click

_SHUTDOWN_SECONDS = 10
_EXIT_STARTUP_FAILED = 3


def serve_app(app: Any, target: str, host: str, port: int) -> NoReturn:
    """Serves an app until SIGINT or SIGTERM, then ends the process.

    Args:
        app: The app.
        target: What the user called it.
        host: Name or address to listen on.
        port: Port to listen on; 0 for any free one.

    Raises:
        ClickException: If uvicorn is not installed, or the address can't be listened on.
    """
    try:
        import uvicorn
    except ImportError:
        raise click.ClickException(
            "kit serve needs uvicorn, which is not installed: pip install 'kit-dev[serve]'"
        ) from None

    # Bound here, so that a port that is taken is told before the app is started.
    listener = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}"

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                click.echo(f"Serving {target} at {address} (Ctrl-C ends it)", err=True)

    # A Kit app always speaks the lifespan protocol: a failure there is one, and no sign of an app
    # that has none, as uvicorn would guess by default.
    server = Server(
        uvicorn.Config(
            app,
            lifespan="on",
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
    )
    # uvicorn shuts down on the signal, and then raises it again, for whoever handled it before.
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    server.run(sockets=[listener])
    sys.exit(0 if server.started else _EXIT_STARTUP_FAILED)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def listen(host: str, port: int) -> socket.socket:
    """Opens a listening socket.

    Args:
        host: Name or address.
        port: Port; 0 for any free one.

    Raises:
        ClickException: If that fails; the text says why and what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":  # there it would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        raise click.ClickException(_why(error, host, port)) from error
    listener.set_inheritable(True)
    return listener


def _why(error: OSError | OverflowError, host: str, port: int) -> str:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken: another program listens there. "
            f"Pick another with --port, e.g. --port {port + 1}, or --port 0 for any free one"
        )
    if number == errno.EACCES:
        return f"Port {port} on {host} may not be used by this user: pick one from 1024 up"
    return f"Can't listen on {host}:{port}: {error}"
