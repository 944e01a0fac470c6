# SPDX-License-Identifier: MIT
"""Identifies the client of a request, and finds exempt clients."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network
from typing import Any

from kit.authoring.options import OptionChecks
from kit.conninfo import ConnInfo, forwarded_conn_info, get_conn_info
from kit.http.addresses import parse_address

__all__ = ("Client", "client_finder", "key_text", "read_networks")

Client = tuple[str, bool]
"""The key of a client, and whether its address is exempt."""

# The longest IPv6 address has 45 characters, and the longest name of a network interface 15.
_LONGEST = 64
_CACHED = 4096
_MAPPED_BITS = 96
# Address keys begin with a character that function keys never begin with.
_UNKNOWN: Client = ("@", False)
# APPSEC: a client may choose the text. It must not control the memory of its key, pass for an
# address, or choose a key that storages refuse: Memcached allows no spaces, Redis no lone
# surrogates.
_PLAIN = re.compile(r"[!-?A-~][!-~]{0,63}", re.ASCII)


def client_finder(
    trusted_hops: int, networks: tuple[Any, ...], ipv6_prefix: int
) -> Callable[[Any], Client]:
    """Returns a function `(c)` that identifies the client by its address.

    Args:
        trusted_hops: Number of proxies; 0 for the address that the server reports.
        networks: Networks whose clients are exempt.
        ipv6_prefix: How many bits of an IPv6 address identify a client.
    """

    # PERF: most requests come from an address that has been seen before.
    @lru_cache(_CACHED)
    def read(text: str) -> Client:
        address = parse_address(text)
        if address is None:
            return _UNKNOWN
        is_exempt = any(address in network for network in networks)
        if isinstance(address, IPv4Address):
            return f"@{address}", is_exempt
        return f"@{IPv6Network((address, ipv6_prefix), strict=False)}", is_exempt

    get: Callable[[Any], ConnInfo] = (
        forwarded_conn_info(trusted_hops) if trusted_hops else get_conn_info
    )

    def find(c: Any) -> Client:
        text = get(c).remote.address
        # APPSEC: some servers report the value of a header. The cache must not keep long texts.
        return read(text) if text and len(text) <= _LONGEST else _UNKNOWN

    return find


def read_networks(check: OptionChecks, given: Iterable[Any]) -> tuple[Any, ...]:
    """Reads the networks of the option `exempt`.

    Raises:
        ValueError: If one of them isn't a network, or exempts everyone.
    """
    networks = []
    for each in given:
        try:
            network = _canonical(ip_network(str(each)))
        except ValueError:
            raise ValueError(
                f"{check.factory}(exempt=...) has {each!r:.100}, which is not a network: expected "
                "one such as '10.0.0.0/8' or '2001:db8::/32', without bits after the prefix, or "
                "an address"
            ) from None
        if network.prefixlen == 0:
            raise ValueError(
                f"{check.factory}(exempt=...) has {str(network)!r}, which exempts everyone: leave "
                "the middleware out"
            )
        networks.append(network)
    return tuple(networks)


def _canonical(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    """Returns the IPv4 network of an IPv4-mapped one (RFC 4291, section 2.5.5.2)."""
    mapped = network.network_address
    if isinstance(mapped, IPv4Address) or network.prefixlen < _MAPPED_BITS:
        return network
    address = mapped.ipv4_mapped
    return network if address is None else IPv4Network((address, network.prefixlen - _MAPPED_BITS))


def key_text(check: OptionChecks, found: Any) -> str:
    """Returns the return value of a function `key` as the text of a key.

    Raises:
        TypeError: If it is neither a str nor an int.
    """
    if isinstance(found, bool) or not isinstance(found, (str, int)):
        raise TypeError(
            f"{check.factory}(key=...) returned {type(found).__name__}: expected a str, an int, or "
            "None to count by the client's address"
        )
    text = str(found)
    if _PLAIN.fullmatch(text):
        return text
    return "blake2b:" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
