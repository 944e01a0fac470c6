# SPDX-License-Identifier: MIT
"""Serves with granian."""

from __future__ import annotations

import multiprocessing
import socket
import time
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from click import ClickException

from .._listening import listen, listen_at, shown_address
from .._loading import load_served
from .._requirements import require
from .._serving import Serving
from .._style import say

_SHUTDOWN_S = 10
_LOOK_S = 0.05


def serve(
    target: str,
    *,
    host: str,
    port: int,
    uds: Path | None,
    workers: int,
    interface: str = "asgi",
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
        interface: What granian calls the app by: `asgi`, or `rsgi`, its own.
        root_path: The path below which a proxy serves the app; granian expects that the proxy
            leaves it in the paths of requests.
        tls_cert: The file of a certificate in PEM, to serve over HTTPS.
        tls_key: The file of its private key, in PEM.

    Returns:
        The exit code of the process.

    Raises:
        AppError: If the app can't be loaded.
        ClickException: If the address can't be used, or granian or kit-rsgi is not installed.
    """
    served = load_served(target)  # so that what is wrong with it is told before granian starts
    require("kit serve --server granian", "granian")
    if interface == "rsgi":
        if not hasattr(served, "__rsgi__"):
            raise ClickException(
                f"{target} is ASGI middleware around an app, which --interface rsgi can't call: "
                "leave the option out"
            )
        require("kit serve --interface rsgi", "kit.rsgi")
    from granian import Granian
    from granian.constants import Interfaces, SSLProtocols
    from granian.log import LogLevels

    # It shares a port with whoever else listens there, so whether it is free is found out here.
    if uds is not None:
        with listen_at(uds) as listener:
            where = f"unix:{uds}"
            family, address = listener.family, listener.getsockname()
    else:
        with listen(host, port) as listener:
            where = shown_address(host, listener, Serving(tls_cert=tls_cert).scheme)
            family, address = listener.family, listener.getsockname()
            port = address[1]
    # A forked process would have what the app made when it was loaded above.
    multiprocessing.set_start_method("spawn", force=True)
    server = Granian(
        target,
        address=host,
        port=port,
        uds=uds,
        interface=Interfaces(interface),
        url_path_prefix=root_path or None,
        ssl_cert=tls_cert,
        ssl_key=tls_key,
        ssl_protocol_min=SSLProtocols.tls12,  # as uvicorn
        workers=workers,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=_SHUTDOWN_S,
    )
    name = f"{target} at {where} by granian"
    shown = name if workers == 1 else f"{name} in {workers} processes"
    greet = partial(_greet, f"Serving {shown} (Ctrl-C ends it)", family, address)
    server.on_startup(Thread(target=greet, daemon=True).start)
    server.serve(target_loader=load_served)
    return 0


def _greet(greeting: str, family: socket.AddressFamily, address: Any) -> None:
    """Says the greeting once requests are accepted; granian calls its hooks before."""
    while True:
        with socket.socket(family) as probe:
            if probe.connect_ex(address) == 0:
                say(greeting)
                return
        time.sleep(_LOOK_S)
