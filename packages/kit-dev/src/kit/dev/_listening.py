# SPDX-License-Identifier: MIT
"""Opens the socket that a server listens on."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click

_LARGEST_PORT = 65535
_BACKLOG = 2048
# Whoever may enter its folder may connect, as with a port; a proxy is another user as a rule.
_FOR_ALL = 0o666
_PROBE_S = 1


def listen(host: str, port: int, *, accepts: bool = True) -> socket.socket:
    """Opens a listening socket.

    Args:
        host: Name or address.
        port: Port; 0 for any free one.
        accepts: Whether it listens at once. If not, the address is taken, but connections are
            refused until a server listens.

    Returns:
        The socket, bound.

    Raises:
        ClickException: If that fails; the text says why and what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":  # there it would let two servers share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        if accepts:
            listener.listen(_BACKLOG)
    except (OSError, UnicodeError) as error:
        listener.close()
        raise click.ClickException(_why(error, host, port)) from error
    return listener


@contextmanager
def listen_at(path: Path) -> Iterator[socket.socket]:
    """Opens a listening Unix domain socket, whose file is removed at the end.

    Args:
        path: The file. One that a server left behind which was killed is replaced.

    Raises:
        ClickException: If that fails; the text says why and what to do.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise click.ClickException("This system has no Unix domain sockets: use --host and --port")
    _remove_left_behind(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        os.chmod(path, _FOR_ALL)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise click.ClickException(f"Can't listen at {path}: {error.strerror or error}") from error
    made = path.stat()
    try:
        yield listener
    finally:
        listener.close()
        # Another server may have taken its place meanwhile.
        if path.exists() and os.path.samestat(path.stat(), made):
            path.unlink()


def _remove_left_behind(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if not stat.S_ISSOCK(mode):
        raise click.ClickException(f"Can't listen at {path}: there is a file that is no socket")
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
        except OSError as error:
            reason = f"a socket is there, and can't be asked: {error.strerror or error}"
            raise click.ClickException(f"Can't listen at {path}: {reason}") from error
        else:
            raise click.ClickException(f"Can't listen at {path}: another program listens there")


def shown_address(host: str, listener: socket.socket, scheme: str = "http") -> str:
    """The address of a listening socket as a URL, with the host as the user wrote it."""
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{listener.getsockname()[1]}"


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
