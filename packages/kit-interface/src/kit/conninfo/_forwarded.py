# SPDX-License-Identifier: MIT
"""The client's address behind trusted proxies, from X-Forwarded-For or Forwarded (RFC 7239)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast

from kit.interface import Context
from kit.interface.fields import TOKEN
from kit.interface.options import OptionChecks

from ._addresses import parse_address
from ._conn_info import ConnInfo, RemoteAddress

__all__ = ("forwarded_conn_info",)

ForwardedHeader: TypeAlias = Literal["X-Forwarded-For", "Forwarded", "x-forwarded-for", "forwarded"]

_UNKNOWN = ConnInfo(RemoteAddress())
_MOST_HOPS = 100

_IPV6 = r"[0-9A-Fa-f]*:[0-9A-Fa-f:.]+"
_IPV4 = r"[0-9.]+"
_PORT = r"[0-9]{1,5}"
# X-Forwarded-For has no standard: an IPv6 address has no brackets if there is no port, and may have
# a zone.
_ZONED = rf"{_IPV6}(?:%[0-9A-Za-z._~-]+)?"
_LISTED_NODE = re.compile(rf"(?:\[({_ZONED})\]|({_IPV4}))(?::({_PORT}))?|({_ZONED})")
# SPEC: RFC 7239 section 6: an IPv6 address is always in brackets; a port may be a hidden one.
_NODE = re.compile(rf"(?:\[({_IPV6})\]|({_IPV4}))(?::(?:({_PORT})|_[0-9A-Za-z._-]+))?()")
_LAST_PORT = 65535

# One element of Forwarded in a reversed value. A quote that opens a string follows a `=`, a quote
# within a string follows a backslash; here, the order is reversed. Possessive, so that matching
# takes linear time.
_ELEMENT_BACKWARDS = re.compile(r'(?:[^",]++|"(?:[^"]++|"(?=\\))*+")*+')
_QUOTED = r'"(?:[^"\\]|\\.)*+"'
# SPEC: section 4: pairs may be empty.
_PAIR = re.compile(rf"[ \t]*+(?:({TOKEN})=({TOKEN}|{_QUOTED}))?+[ \t]*+(?:;|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


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
        doesn't report it or hides it. The address has the proxy's notation: call `parse_address`
        before you compare it.

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
        find, node_pattern = _listed, _LISTED_NODE
    elif name == "forwarded":
        find, node_pattern = _forwarded, _NODE
    else:
        check.choice("header", header, ("X-Forwarded-For", "Forwarded"))

    def forwarded_conn_info(c: Context[Any, Any]) -> ConnInfo:
        value = c.req.header(name)
        node = find(value, trusted_hops) if value else None
        return _UNKNOWN if node is None else ConnInfo(_remote(node, node_pattern))

    return forwarded_conn_info


def _listed(value: str, hops: int) -> str | None:
    """Returns a member of X-Forwarded-For, counted from the right."""
    # APPSEC: plain commas, since a quote sent by the client must not hide what proxies append.
    members = value.rsplit(",", hops)
    return members[-hops].strip(" \t") if len(members) >= hops else None


def _forwarded(value: str, hops: int) -> str | None:
    """Returns the `for` of an element of Forwarded, counted from the right."""
    # APPSEC: read from the right, so that nothing sent by the client, such as an open quote, can
    # hide what proxies append. Only their elements have to be well-formed.
    backwards = value[::-1]
    position = 0
    while True:
        found = cast(re.Match[str], _ELEMENT_BACKWARDS.match(backwards, position))
        end = found.end()
        if end < len(backwards) and backwards[end] != ",":  # a quote that was never opened
            return None
        element = found[0][::-1].strip(" \t")
        if element:  # SPEC: RFC 9110 section 5.6.1.2: empty members of a list don't count
            is_valid, node = _for_of(element)
            hops -= 1
            if not is_valid or not hops:
                return node
        if end == len(backwards):
            return None
        position = end + 1


def _for_of(element: str) -> tuple[bool, str | None]:
    """Returns whether an element is well-formed, and its `for`."""
    node: str | None = None
    position = 0
    while position < len(element):
        pair = _PAIR.match(element, position)
        if pair is None:
            return False, None
        name, text = pair.groups()
        if name is not None and name.lower() == "for":
            if node is not None:  # SPEC: section 4: a parameter occurs once in an element
                return False, None
            node = _ESCAPED.sub(r"\1", text[1:-1]) if text[0] == '"' else text
        position = pair.end()
    return True, node


def _remote(node: str, pattern: re.Pattern[str]) -> RemoteAddress:
    """Reads an address with or without a port (RFC 7239, section 6)."""
    found = pattern.fullmatch(node)
    if found is None:
        return RemoteAddress()
    in_brackets, ipv4, digits, bare = found.groups()
    address = in_brackets or ipv4 or bare
    port = int(digits or 0)
    if port > _LAST_PORT or parse_address(address) is None:
        return RemoteAddress()
    return RemoteAddress(address, port or None)
