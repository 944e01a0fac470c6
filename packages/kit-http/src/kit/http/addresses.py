# SPDX-License-Identifier: MIT
"""Parses the IP addresses of clients."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

__all__ = ("parse_address",)

# SPEC: RFC 4291 section 2.5.6: link-local addresses are fe80::/10.
_HOST_BITS = 118
_LINK_LOCAL = 0xFE80 >> 6


# PERF: the same clients send many requests. The longest address has 45 characters, the name of a
# network interface 15. Longer text isn't cached, and much longer text isn't even parsed.
_LONGEST_KEPT = 64
_LONGEST = 512
_KEPT = 1024


def parse_address(text: str | None) -> IPv4Address | IPv6Address | None:
    """Parses the IP address of a client, so that addresses can be compared.

    Call this before you compare the address of a connection: servers and proxies may write the same
    address in different ways, e.g. `::ffff:192.0.2.7` and `192.0.2.7`.

    Args:
        text: The address as the server or a proxy reports it. The zone of a link-local IPv6 address
            (RFC 4007 section 11) is ignored.

    Returns:
        The address; for an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), the IPv4 address.
        None if `text` isn't a str with an address, or has a zone but isn't link-local.
    """
    if not isinstance(text, str):  # ip_address would read an int, or bytes, as an address
        return None
    if len(text) <= _LONGEST_KEPT:
        return _kept(text)
    return _parsed(text) if len(text) <= _LONGEST else None


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    if "%" in text:
        # APPSEC: no server reports a zone for other addresses, so it is forged.
        if int(address) >> _HOST_BITS != _LINK_LOCAL:
            return None
        address = IPv6Address(int(address))
    return address.ipv4_mapped or address


_kept = lru_cache(_KEPT)(_parsed)
