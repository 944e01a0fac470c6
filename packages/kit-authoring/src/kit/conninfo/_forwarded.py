# SPDX-License-Identifier: MIT
"""The client's address behind trusted proxies, from X-Forwarded-For or Forwarded (RFC 7239)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from kit.authoring.options import OptionChecks
from kit.http.forwarded import parse_forwarded, parse_x_forwarded_for
from kit.interface import Context

from ._conn_info import ConnInfo, RemoteAddress

__all__ = ("forwarded_conn_info",)

ForwardedHeader: TypeAlias = Literal["X-Forwarded-For", "Forwarded", "x-forwarded-for", "forwarded"]

_UNKNOWN = ConnInfo(RemoteAddress())
_MOST_HOPS = 100


def forwarded_conn_info(
    trusted_hops: int = 1, *, header: ForwardedHeader = "X-Forwarded-For"
) -> Callable[[Context[Any, Any]], ConnInfo]:
    """Returns a function that reads the client's address from a header of trusted proxies.

    Each proxy appends the address of its own client to the header. The address added by the
    outermost of your proxies is therefore `trusted_hops` from the right. Anything further left came
    with the request, and anyone can forge it.

    This is safe only if the app can be reached only through those proxies, and if each of them
    appends to the header. Count them exactly: if `trusted_hops` is too large, clients can choose
    their own address; if it is too small, you get the address of one of your proxies.

    The address is unknown (None) if the header has too few members, or if the relevant member isn't
    an IP address, with or without a port: e.g. `unknown`, or a hidden name such as `_hidden`
    (RFC 7239 section 6.3). Unknown addresses must be rejected, not let through.

    In X-Forwarded-For, `2001:db8::1:5000` is an address without a port: an IPv6 address with a port
    is in brackets. In Forwarded, the members added by proxies have to be well-formed; empty ones
    don't count. Members further left, sent by the client, aren't read.

    Args:
        trusted_hops: Number of proxies between the clients and the app, all of them under your
            control; at most 100.
        header: The header that the proxies append to, case-insensitive. The other one is ignored,
            since a client could send it.

    Returns:
        A function like `get_conn_info`. The transport is None, and so is the port if the proxy
        doesn't report it or hides it. The address has the proxy's notation: call
        `kit.http.addresses.parse_address` before you compare it.

    Raises:
        TypeError: If `trusted_hops` isn't an int.
        ValueError: If `trusted_hops` isn't between 1 and 100, or the header is unknown.

    SPEC: RFC 7239, sections 4 and 6.

    Example:
        app.use("/admin/*", ip_restriction(forwarded_conn_info(2), allow_list=["192.0.2.0/24"]))
    """
    check = OptionChecks("forwarded_conn_info")
    check.number("trusted_hops", trusted_hops, least=1, most=_MOST_HOPS)
    name = header.lower() if isinstance(header, str) else header
    if name == "x-forwarded-for":
        parse = parse_x_forwarded_for
    elif name == "forwarded":
        parse = parse_forwarded
    else:
        check.choice("header", header, ("X-Forwarded-For", "Forwarded"))

    def forwarded_conn_info(c: Context[Any, Any]) -> ConnInfo:
        value = c.req.header(name)
        node = parse(value, trusted_hops) if value else None
        return _UNKNOWN if node is None else ConnInfo(RemoteAddress(node.address, node.port))

    return forwarded_conn_info
