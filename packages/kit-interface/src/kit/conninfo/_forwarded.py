# SPDX-License-Identifier: MIT
"""The client's address behind trusted proxies, from X-Forwarded-For or Forwarded (RFC 7239)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from kit.interface import Context
from kit.interface.fields import TOKEN
from kit.interface.options import OptionChecks

from ._addresses import parse_address
from ._conn_info import ConnInfo, RemoteAddress

__all__ = ("forwarded_conn_info",)

ForwardedHeader: TypeAlias = Literal["X-Forwarded-For", "Forwarded"]

_UNKNOWN = ConnInfo(RemoteAddress())
# SPEC: RFC 7239 section 6: an IPv6 address is in brackets. X-Forwarded-For has it without them if
# there is no port.
_IPV6 = r"[0-9A-Fa-f]*:[0-9A-Fa-f:.]+"
_NODE = re.compile(rf"(?:\[({_IPV6})\]|([0-9.]+))(?::([0-9]{{1,5}}))?|{_IPV6}", re.ASCII)
# Possessive, so that the time is proportional to the length: a value is matched in one way alone.
_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_PAIR = re.compile(rf"[ \t]*+({TOKEN})=({TOKEN}|{_QUOTED})[ \t]*+(;|,|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LAST_PORT = 65535


def forwarded_conn_info(
    trusted_hops: int = 1, *, header: ForwardedHeader = "X-Forwarded-For"
) -> Callable[[Context[Any, Any]], ConnInfo]:
    """Returns a function that reads the client's address from what trusted proxies have added.

    Each proxy appends the address of its own client to the header. The address that the outermost
    of your proxies has added is therefore `trusted_hops` from the right. Whatever stands further
    left came with the request, and anyone can forge it.

    This is safe only if the app can't be reached except through those proxies, and if each of them
    appends to the header. The address is unknown (None) if the header has too few members, or the
    one that counts is not an IP address, with or without a port: `unknown` and names such as
    `_hidden` (RFC 7239 section 6.3) are none.

    Args:
        trusted_hops: How many proxies are between the clients and the app, all of them yours.
        header: The header that the proxies append to. The other one is ignored, since a client
            could send it.

    Returns:
        A function like `get_conn_info`. The transport is unknown, and so is the port where the
        proxy reports none.

    Raises:
        TypeError: If `trusted_hops` is not an int.
        ValueError: If `trusted_hops` is less than 1, or the header is another one.

    SPEC: RFC 7239, sections 4 and 6.

    Example:
        app.use("/admin/*", ip_restriction(forwarded_conn_info(2), allow_list=["192.0.2.0/24"]))
    """
    check = OptionChecks("forwarded_conn_info")
    check.number("trusted_hops", trusted_hops, least=1)
    check.choice("header", header, ("X-Forwarded-For", "Forwarded"))
    find = _listed if header == "X-Forwarded-For" else _forwarded

    def forwarded_conn_info(c: Context[Any, Any]) -> ConnInfo:
        value = c.req.header(header)
        node = find(value, trusted_hops) if value else None
        return _UNKNOWN if node is None else ConnInfo(_remote(node))

    return forwarded_conn_info


def _listed(value: str, hops: int) -> str | None:
    """Returns a member of X-Forwarded-For, counted from the right."""
    # APPSEC: plain commas, since a quote sent by the client must not swallow what proxies append.
    members = value.rsplit(",", hops)
    return members[-hops].strip(" \t") if len(members) >= hops else None


def _forwarded(value: str, hops: int) -> str | None:
    """Returns the `for` of an element of Forwarded, counted from the right."""
    # APPSEC: every element has to be well-formed. A quote that the client has left open would take
    # in what proxies append, and so shift the count.
    nodes: list[str | None] = [None]
    position = 0
    while True:
        pair = _PAIR.match(value, position)
        if pair is None:
            return None
        name, text, end = pair.groups()
        if name.lower() == "for":
            if nodes[-1] is not None:  # SPEC: section 4: a parameter occurs once in an element
                return None
            nodes[-1] = _ESCAPED.sub(r"\1", text[1:-1]) if text[0] == '"' else text
        position = pair.end()
        if end == ",":
            nodes.append(None)
        elif not end:
            return nodes[-hops] if len(nodes) >= hops else None


def _remote(node: str) -> RemoteAddress:
    """Reads an address with or without a port (RFC 7239, section 6)."""
    found = _NODE.fullmatch(node)
    if found is None:
        return RemoteAddress()
    in_brackets, plain, digits = found.groups()
    address = in_brackets or plain or node
    port = int(digits or 0)
    if port > _LAST_PORT or parse_address(address) is None:
        return RemoteAddress()
    return RemoteAddress(address, port or None)
