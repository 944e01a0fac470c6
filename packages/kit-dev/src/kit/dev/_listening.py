# SPDX-License-Identifier: MIT
"""Opens the socket that a server listens on."""

from __future__ import annotations

import errno
import socket
import sys

import click

_LARGEST_PORT = 65535


def listen(host: str, port: int) -> socket.socket:
    """Opens a listening socket.

    Args:
        host: Name or address.
        port: Port; 0 for any free one.

    Returns:
        The socket, bound and listening.

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
    except (OSError, UnicodeError) as error:
        listener.close()
        raise click.ClickException(_why(error, host, port)) from error
    listener.set_inheritable(True)
    return listener


def shown_address(host: str, listener: socket.socket) -> str:
    """The address of a listening socket as a URL, with the host as the user wrote it."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"


def _why(error: OSError | UnicodeError, host: str, port: int) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        other = f"--port {port + 1}, or --port 0" if port < _LARGEST_PORT else "--port 0"
        return (
            f"Port {port} on {host} is taken: another program listens there. "
            f"Pick another with --port, e.g. {other} for any free one"
        )
    if number == errno.EACCES:
        return f"Port {port} on {host} may not be used by this user: pick one from 1024 up"
    if number == errno.EADDRNOTAVAIL:
        return (
            f"Can't listen on {host}: this machine has no such address. Expected one of its own, "
            "e.g. --host 127.0.0.1, or --host 0.0.0.0 for all of them"
        )
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return (
            f"Can't listen on {host}: the name is not known ({error}). Expected a name or an "
            "address of this machine, e.g. --host 127.0.0.1"
        )
    return f"Can't listen on {host}:{port}: {error}"
