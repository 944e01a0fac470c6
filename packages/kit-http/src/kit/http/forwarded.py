# SPDX-License-Identifier: MIT
"""Addresses of clients in the headers of proxies: Forwarded (RFC 7239) and X-Forwarded-For."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from .addresses import parse_address
from .fields import TOKEN

__all__ = ("ForwardedNode", "parse_forwarded", "parse_x_forwarded_for")

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


class ForwardedNode(NamedTuple):
    """The address of a client, as reported by a proxy.

    Attributes:
        address: The IP address in the proxy's notation: call `parse_address` before you compare it.
        port: The port; None if the proxy doesn't report it, or hides it.
    """

    address: str
    port: int | None


def parse_x_forwarded_for(value: str, hops: int) -> ForwardedNode | None:
    """Returns the address that a trusted proxy has appended to X-Forwarded-For.

    The header has no standard. An IPv6 address with a port is in brackets, so `2001:db8::1:5000` is
    an address without a port.

    Args:
        value: The value; several lines are joined with commas.
        hops: Which member to read, counted from the right, 1 for the last one. Members further
            left came with the request, and aren't read.

    Returns:
        The address; None if there are too few members, or if this one isn't an IP address, with or
        without a port.
    """
    # APPSEC: split at plain commas, since a client's quote must not hide members from proxies.
    members = value.rsplit(",", hops)
    if len(members) < hops:
        return None
    return _parse_node(members[-hops].strip(" \t"), _LISTED_NODE)


def parse_forwarded(value: str, hops: int) -> ForwardedNode | None:
    """Returns the address that a trusted proxy has appended to Forwarded.

    Args:
        value: The value; several lines are joined with commas.
        hops: Which element to read, counted from the right, 1 for the last one; empty elements
            don't count. Elements further left came with the request, and aren't read.

    Returns:
        The address of its `for`; None if there are too few elements, if this one or one to the
        right of it is malformed, or if the address isn't an IP address: e.g. `unknown`, or a hidden
        name such as `_hidden` (section 6.3).

    SPEC: RFC 7239, sections 4 and 6.
    """
    # APPSEC: read from the right, so that text from the client, such as an open quote, can't hide
    # elements that proxies append. Only the proxies' elements must be well-formed.
    backwards = value[::-1]
    position = 0
    while True:
        found = cast(re.Match[str], _ELEMENT_BACKWARDS.match(backwards, position))
        end = found.end()
        if end < len(backwards) and backwards[end] != ",":  # a quote that was never opened
            return None
        element = found[0][::-1].strip(" \t")
        if element:  # SPEC: RFC 9110 section 5.6.1.2: empty members of a list don't count
            is_valid, node = _parse_element(element)
            hops -= 1
            if not is_valid or not hops:
                return None if node is None else _parse_node(node, _NODE)
        if end == len(backwards):
            return None
        position = end + 1


def _parse_element(element: str) -> tuple[bool, str | None]:
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


def _parse_node(node: str, pattern: re.Pattern[str]) -> ForwardedNode | None:
    """Reads an address with or without a port (section 6)."""
    found = pattern.fullmatch(node)
    if found is None:
        return None
    in_brackets, ipv4, digits, bare = found.groups()
    address = in_brackets or ipv4 or bare
    port = int(digits or 0)
    if port > _LAST_PORT or parse_address(address) is None:
        return None
    return ForwardedNode(address, port or None)
