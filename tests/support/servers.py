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
# Further servers, for the tests that compare servers: they are slow, since there are so many.
FURTHER_SERVERS = {
    "uvicorn-zttp": ["uvicorn", "--port={port}", "--http=zttp", "--http2", "{target}"],
    "gunicorn-asgi": [
        "gunicorn",
        "--worker-class=asgi",
        "--bind=127.0.0.1:{port}",
        "--keep-alive=60",
        "{target}",
    ],
    "anycorn": ["anycorn", "--bind=127.0.0.1:{port}", "{target}"],
    "anycorn-trio": ["anycorn", "--bind=127.0.0.1:{port}", "--worker-class=trio", "{target}"],
}
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
    commands = _COMMANDS | FURTHER_SERVERS | WSGI_SERVERS
    parts = [part.format(port=port, target=target) for part in commands[server]]
    return [sys.executable, "-m", *parts]
