# SPDX-License-Identifier: MIT
"""Reads the IP addresses of clients."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

__all__ = ("parse_address",)

# SPEC: RFC 4291 section 2.5.6: link-local addresses are fe80::/10.
_HOST_BITS = 118
_LINK_LOCAL = 0xFE80 >> 6


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parses the IP address of a client, so that equal clients have equal addresses.

    Args:
        text: The address. The zone of a link-local IPv6 address (RFC 4007 section 11) is ignored.

    Returns:
        The address; for an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), the IPv4 address.
        None if the text is not an address, or has a zone without being link-local.
    """
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
