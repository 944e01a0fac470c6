# SPDX-License-Identifier: MIT
"""nginx for tests: a process of its own, on a free port of the loopback interface."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ports import free_port

STARTUP_S = 20.0
NOBODY = 65534
CONFIG = """
daemon off;
master_process off;
pid {own}/pid;
error_log stderr crit;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {own}/body;
    proxy_temp_path {own}/proxy;
    fastcgi_temp_path {own}/fastcgi;
    uwsgi_temp_path {own}/uwsgi;
    scgi_temp_path {own}/scgi;
    charset utf-8;
    charset_types text/plain text/css text/javascript;
    default_type application/octet-stream;
    types {{ text/html html; text/plain txt; text/css css; text/javascript js; image/png png; }}
    gzip_static on;
    gzip_vary on;
    gzip_http_version 1.0;
    if_modified_since before;
    absolute_redirect off;
    keepalive_requests 100000;
    server {{
        listen 127.0.0.1:{port};
        root {folder};
        disable_symlinks on from=$document_root;
        location ~ /\\.(?!well-known) {{ return 404; }}
    }}
}}
"""


def missing() -> str | None:
    """Says why there is none; None if there is one."""
    if shutil.which("nginx") is None:
        return "there is no nginx: install the package nginx-light"
    return None


class NginxProcess:
    """Runs nginx while it is entered, without any rights.

    Args:
        config: The configuration, which listens on `port` of the loopback interface.
        port: The port.
        own: A folder that everyone can enter, where it runs.
    """

    def __init__(self, config: str, port: int, own: Path) -> None:
        self.port = port
        self._own = own
        file = own / "nginx.conf"
        file.write_text(config)
        self._command = ["nginx", "-p", str(own), "-c", str(file)]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process."""
        assert self._process is not None
        return self._process

    def __enter__(self) -> Self:
        user: dict[str, Any] = {}
        if os.geteuid() == 0:  # it needs no rights of anybody
            user = {"user": NOBODY, "group": NOBODY}
            os.chown(self._own, NOBODY, NOBODY)
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, **user)
        end = time.monotonic() + STARTUP_S
        while self._process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return self
        self._end()
        raise RuntimeError("nginx did not start")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        self.process.terminate()
        self.process.wait(STARTUP_S)


class Nginx(NginxProcess):
    """Serves a folder.

    Args:
        folder: The folder to serve, which everyone can read.
        own: An empty folder that everyone can enter.

    Attributes:
        port: The port.
    """

    def __init__(self, folder: Path, own: Path) -> None:
        port = free_port()
        super().__init__(CONFIG.format(own=own, port=port, folder=folder), port, own)
