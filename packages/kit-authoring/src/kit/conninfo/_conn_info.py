# SPDX-License-Identifier: MIT
"""The connection of a request, as the server reports it.

SPEC: ASGI, HTTP & WebSocket message format, "HTTP connection scope": `client` and `server`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Literal, TypeAlias

from kit.interface import Context

__all__ = ("ConnInfo", "RemoteAddress", "get_conn_info")

Transport: TypeAlias = Literal["tcp", "udp", "unix"]


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """The other end of a connection.

    Attributes:
        address: IP address as reported, or another name by which the server identifies the client;
            None if it reports none. An IPv4 address may be written as an IPv6 one,
            `::ffff:192.0.2.7`: call `kit.http.addresses.parse_address` before you compare it.
        port: Port number; None if the server reports none.
        transport: `"tcp"`, `"udp"` (HTTP/3) or `"unix"` (a Unix domain socket, which has neither
            address nor port); None if it is unknown.
    """

    address: str | None = None
    port: int | None = None
    transport: Transport | None = None

    @property
    def address_type(self) -> Literal["IPv4", "IPv6"] | None:
        """The type of IP address; None if `address` isn't one."""
        try:
            version = ip_address(self.address or "").version
        except ValueError:
            return None
        return "IPv4" if version == 4 else "IPv6"


@dataclass(frozen=True, slots=True)
class ConnInfo:
    """The connection of a request.

    Attributes:
        remote: The client's end.
    """

    remote: RemoteAddress


def get_conn_info(c: Context[Any, Any]) -> ConnInfo:
    """Returns the address of the client.

    The client is the peer that opened the connection to the server. Behind a reverse proxy, this is
    the proxy. To get the address of the proxy's client, configure the server to trust the proxy: it
    then reads the headers that the proxy adds. Use `--forwarded-allow-ips` for uvicorn (by default
    it trusts the machine it runs on), `granian.utils.proxies.wrap_asgi_with_proxy_headers` for
    granian, and `ProxyFixMiddleware` for hypercorn. Anyone can send these headers, so trust only
    the proxy's address. If you can't configure the server, use `forwarded_conn_info`.

    Args:
        c: The context.

    Returns:
        The address, with None for everything that the server doesn't report. For a request made in
        process, everything is None.
    """
    scope = c.req.raw.scope or {}
    address, port = _end(scope.get("client"))
    transport: Transport | None = None
    if port is not None:
        transport = "udp" if scope.get("http_version") == "3" else "tcp"
    elif address is None:
        # SPEC: `server` is a path without a port if the server listens on a Unix socket. An address
        # without a port comes from a proxy's header, so the transport is unknown.
        path, server_port = _end(scope.get("server"))
        transport = "unix" if path is not None and server_port is None else None
    return ConnInfo(RemoteAddress(address, port, transport))


def _end(end: Iterable[Any] | None) -> tuple[str | None, int | None]:
    """Reads a pair of host and port.

    According to the specification they are str and int, or None. Some servers use `""` and 0 for
    unknown values, and granian has the port as a str.
    """
    if end is None:
        return None, None
    host, port = end
    return host or None, int(port or 0) or None
