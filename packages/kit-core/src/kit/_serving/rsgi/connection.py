# SPDX-License-Identifier: MIT
"""Breaks the connection of a response that failed in its middle.

RSGI has no way to abort a response: if an application raises, the server ends the stream as if it
were complete, and the client takes the part that it got for the whole. But the server's sockets
belong to the process of the application, so the one of the client can be found and shut down.
"""

from __future__ import annotations

import logging
import os
import socket
import stat
from contextlib import suppress

from .scope import parse_address
from .types import RsgiScope

_logger = logging.getLogger("kit")
_DESCRIPTORS = "/dev/fd"  # of this process, on Linux, macOS and the BSDs


def break_connection(source: RsgiScope) -> None:
    """Shuts down the connection of a request; logs an error if it can't be found.

    On HTTP/2, the other requests on the connection fail as well.

    Args:
        source: The scope of the server.
    """
    client = parse_address(source.client)
    server = parse_address(source.server)
    # The server may name the address that it listens at, such as 0.0.0.0, so its port has to do.
    if client is None or server is None or not _shut_down(client, server[1]):
        _logger.error(
            "A streamed response failed in its middle, and its connection was not found: "
            "the client takes it for complete. Serve with ASGI to have it broken off"
        )


def _shut_down(client: object, port: object) -> bool:
    try:
        names = os.listdir(_DESCRIPTORS)
    except OSError:
        return False
    return any(_shut_down_if_between(int(name), client, port) for name in names)


def _shut_down_if_between(descriptor: int, client: object, port: object) -> bool:
    """Shuts down a descriptor if it is the socket of a client and a port; returns whether it is."""
    with suppress(OSError):
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return False
        # A duplicate stays the same socket, whatever the server does with the descriptor meanwhile.
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            if connection.getpeername()[:2] == client and connection.getsockname()[1] == port:
                connection.shutdown(socket.SHUT_RDWR)
                return True
    return False
