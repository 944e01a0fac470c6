# SPDX-License-Identifier: MIT
"""Which client a request is of, and which clients are exempt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv4Address, IPv6Network, ip_network
from typing import Any

from kit.conninfo import ConnInfo, forwarded_conn_info, get_conn_info, parse_address
from kit.interface.options import OptionChecks

__all__ = ("Client", "client_finder", "key_text", "read_networks")

Client = tuple[str, bool]
"""The key of a client, and whether it is exempt by its address."""

# The longest IPv6 address has 45 characters, and the name of a network interface 15.
_LONGEST = 64
_CACHED = 4096
_UNKNOWN: Client = ("", False)


def client_finder(
    trusted_hops: int, networks: tuple[Any, ...], ipv6_prefix: int
) -> Callable[[Any], Client]:
    """Returns a function of the context that finds the client by its address.

    Args:
        trusted_hops: How many proxies there are; 0 for the address that the server reports.
        networks: Networks whose clients are exempt.
        ipv6_prefix: Of so many bits of IPv6 addresses a client has all.
    """

    # PERF: most requests come from an address that has been seen before.
    @lru_cache(_CACHED)
    def read(text: str) -> Client:
        address = parse_address(text)
        if address is None:
            return _UNKNOWN
        is_exempt = any(address in network for network in networks)
        if isinstance(address, IPv4Address):
            return str(address), is_exempt
        return str(IPv6Network((address, ipv6_prefix), strict=False)), is_exempt

    get: Callable[[Any], ConnInfo] = (
        forwarded_conn_info(trusted_hops) if trusted_hops else get_conn_info
    )

    def find(c: Any) -> Client:
        text = get(c).remote.address
        # APPSEC: some servers report what a header says. The cache must not keep long texts.
        return read(text) if text and len(text) <= _LONGEST else _UNKNOWN

    return find


def read_networks(check: OptionChecks, given: Iterable[Any]) -> tuple[Any, ...]:
    """Reads the networks of the option `exempt`.

    Raises:
        ValueError: If one of them is no network, or if they exempt everybody.
    """
    networks = []
    for each in given:
        try:
            network = ip_network(str(each))
        except ValueError:
            raise ValueError(
                f"{check.factory}(exempt=...) has {each!r:.100}, which is no network: expected "
                "one such as '10.0.0.0/8' or '2001:db8::/32', without bits after the prefix, or "
                "an address"
            ) from None
        if network.prefixlen == 0:
            raise ValueError(
                f"{check.factory}(exempt=...) has {str(network)!r}, which exempts everybody: leave "
                "the middleware out"
            )
        networks.append(network)
    return tuple(networks)


def key_text(check: OptionChecks, found: Any) -> str:
    """Returns what a function `key` returned as the text of a key.

    Raises:
        TypeError: If it is neither a str, an int nor None.
    """
    if found is None:
        return ""
    if isinstance(found, bool) or not isinstance(found, (str, int)):
        raise TypeError(
            f"{check.factory}(key=...) returned {type(found).__name__}: expected a str, an int, or "
            "None for the clients that are counted together"
        )
    text = str(found)
    if len(text) <= _LONGEST:
        return text
    # APPSEC: a client that chooses its key must not choose how much memory it takes.
    return "blake2b:" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
