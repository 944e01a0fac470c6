# SPDX-License-Identifier: MIT
"""The app of `behaviours_app` for WSGI servers; as a program, served by wsgiref and validated.

python behaviours_wsgi.py PORT
"""

from __future__ import annotations

import signal
import sys
import threading
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.validate import validator

from behaviours_app import app

from kit.asgi import to_wsgi

application = to_wsgi(app)
application.start()  # in each worker, which exits if the startup fails


class Handler(WSGIRequestHandler):
    """Doesn't log requests."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingMixIn, WSGIServer):
    """Handles each request in a thread; closing the server waits for them."""

    daemon_threads = False
    request_queue_size = 64


def main(port: int) -> None:
    """Serves the app until SIGTERM."""
    server = Server(("127.0.0.1", port), Handler)
    server.set_app(validator(application))

    def end(number: int, frame: Any) -> None:
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, end)
    server.serve_forever(poll_interval=0.05)
    server.server_close()
    application.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
