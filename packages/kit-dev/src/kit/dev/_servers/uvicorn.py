# SPDX-License-Identifier: MIT
"""Serves with uvicorn, in this process or in several."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._listening import listen, listen_at, shown_address
from .._loading import load_served
from .._requirements import require
from .._serving import Serving
from .._style import say


def serve(
    target: str,
    *,
    host: str,
    port: int,
    uds: Path | None,
    workers: int,
    root_path: str = "",
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
) -> int:
    """Serves an app until SIGINT or SIGTERM.

    Args:
        target: The import string of the app.
        host: Name or address to listen on.
        port: Port to listen on; 0 for any free one.
        uds: File of a Unix domain socket to listen at in place of host and port.
        workers: In how many processes.
        root_path: The path that a proxy removed from the paths of requests.
        tls_cert: The file of a certificate in PEM, to serve over HTTPS.
        tls_key: The file of its private key, in PEM.

    Returns:
        The exit code of the process: 0, 3 if the app failed to start or to shut down, 128 and
        the number of the signal if a second one ended the shutdown.

    Raises:
        AppError: If the app can't be loaded.
        ClickException: If the address can't be used, or uvicorn is not installed.
    """
    serving = Serving(root_path, tls_cert, tls_key)
    if workers > 1:
        require("kit serve", "uvicorn")
        with _listening(host, port, uds, serving) as (listener, where):
            return _serve_in_processes(target, listener, where, workers, serving)
    app = load_served(target)
    require("kit serve", "uvicorn")
    from .._server import run

    # Bound here, so that a port that is taken is told before the app is started.
    with _listening(host, port, uds, serving) as (listener, where):
        greeting = f"Serving {target} at {where} (Ctrl-C ends it)"
        return run(app, listener, lambda: say(greeting), serving=serving)


@contextmanager
def _listening(
    host: str, port: int, uds: Path | None, serving: Serving
) -> Iterator[tuple[socket.socket, str]]:
    if uds is not None:
        with listen_at(uds) as listener:
            yield listener, f"unix:{uds}"
    else:
        # uvicorn listens when the app has started; until then a proxy asks another machine.
        with listen(host, port, accepts=False) as listener:
            yield listener, shown_address(host, listener, serving.scheme)


def _serve_in_processes(
    target: str, listener: socket.socket, where: str, count: int, serving: Serving
) -> int:
    from .._pool import Pool

    pool = Pool(target, listener, count, serving)
    greeting = f"Serving {target} at {where} in {count} processes (Ctrl-C ends it)"
    return pool.run(lambda: say(greeting))
