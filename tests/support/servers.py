# SPDX-License-Identifier: MIT
"""How the ASGI servers are started."""

from __future__ import annotations

import sys

_COMMANDS = {
    "uvicorn": ["uvicorn", "--port={port}", "--lifespan=on", "{target}"],
    "uvicorn-h11": ["uvicorn", "--port={port}", "--http=h11", "--loop=asyncio", "{target}"],
    "hypercorn": ["hypercorn", "--bind=127.0.0.1:{port}", "{target}"],
    "hypercorn-trio": ["hypercorn", "--bind=127.0.0.1:{port}", "-k=trio", "{target}"],
    "granian": ["granian", "--interface=asgi", "--port={port}", "{target}"],
    "granian-rsgi": ["granian", "--interface=rsgi", "--port={port}", "{target}"],
}
SERVERS = tuple(_COMMANDS)
WSGI_SERVERS = {
    # On a busy machine, requests of one connection may be further apart than the default of 2 s.
    "gunicorn": [
        "gunicorn",
        "--bind=127.0.0.1:{port}",
        "--threads=40",
        "--keep-alive=60",
        "{target}",
    ],
    "wsgiref": ["{target}", "{port}"],  # a program that serves itself
}


def command(server: str, target: str, port: int) -> list[str]:
    """The command that serves `target` on a port of the loopback interface."""
    parts = [part.format(port=port, target=target) for part in (_COMMANDS | WSGI_SERVERS)[server]]
    return [sys.executable, "-m", *parts]
