# SPDX-License-Identifier: MIT
"""Ports for the servers of tests that run beside each other."""

from __future__ import annotations

import socket
import sys

_held: list[socket.socket] = []


def free_port() -> int:
    """Returns a port of the loopback interface that no other caller is given.

    On Linux it stays bound until this process ends, so that the system gives it to nobody else. A
    server can bind it all the same, as both set SO_REUSEADDR and nobody listens.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port = int(holder.getsockname()[1])
    if sys.platform == "linux":
        _held.append(holder)
    else:
        holder.close()
    return port
