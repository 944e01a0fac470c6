# SPDX-License-Identifier: MIT
"""The rules: checked once, and converted to tables for fast lookups."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import Any, Literal, TypeAlias

from kit.authoring.options import OptionChecks
from kit.http.addresses import parse_address

AddressType: TypeAlias = Literal["IPv4", "IPv6"]

_CHECK = OptionChecks("ip_restriction")
_PREFIX_LENGTH = re.compile(r"[0-9]{1,3}", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class Remote:
    """The client, as passed to rules and `on_error`.

    Attributes:
        addr: Its IP address. An IPv4-mapped address, such as `::ffff:192.0.2.7`, is converted to
            the IPv4 address; any other is passed as reported.
        type: `"IPv4"` or `"IPv6"`; None if `addr` isn't an IP address, which only happens in
            `on_error`, if the list denies `*`.
    """

    addr: str
    type: AddressType | None


Rule: TypeAlias = (
    str
    | IPv4Address
    | IPv6Address
    | IPv4Network
    | IPv6Network
    | Callable[[Remote], bool | Awaitable[bool]]
)
"""An address, a network, `*`, or a function that is called with the client, plain or async."""


class RuleList:
    """One of the two lists of rules.

    Attributes:
        is_empty: Whether there are no rules.
        takes_all: Whether `*` is one of the rules.
        functions: The rules that are functions.
    """

    __slots__ = ("_tables", "functions", "is_empty", "takes_all")

    def __init__(self, name: str, rules: Any) -> None:
        self.takes_all = False
        self.functions: list[Callable[[Remote], Any]] = []
        networks: dict[AddressType, dict[int, set[int]]] = {"IPv4": {}, "IPv6": {}}
        listed = _listed(name, rules)
        self.is_empty = not listed
        for number, rule in enumerate(listed, 1):
            if rule == "*":
                self.takes_all = True
            elif callable(rule):
                self.functions.append(_CHECK.function(name, rule, "(remote)"))
            else:
                kind, prefix, host_bits = _network(f"{name}=...): rule {number}, {rule!r}", rule)
                networks[kind].setdefault(host_bits, set()).add(prefix)
        # PERF: one lookup per prefix length in use, regardless of the number of networks.
        self._tables = {kind: tuple(found.items()) for kind, found in networks.items()}

    def has(self, kind: AddressType, number: int) -> bool:
        """Returns whether an address matches a rule that is not a function.

        Args:
            kind: The type of the address.
            number: The address as a number.
        """
        return self.takes_all or any(
            number >> host_bits in prefixes for host_bits, prefixes in self._tables[kind]
        )


def read_address(text: str) -> tuple[AddressType, int] | None:
    """Parses the IP address of a client.

    Args:
        text: The address. The zone of a link-local IPv6 address (RFC 4007 section 11) is ignored.

    Returns:
        Its type and its number; an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) is treated
        as the IPv4 address. None if the text isn't an address.
    """
    address = parse_address(text)
    if address is None:
        return None
    return ("IPv4" if isinstance(address, IPv4Address) else "IPv6"), int(address)


def _canonical(number: int) -> tuple[AddressType, int]:
    return ("IPv4", number & 0xFFFFFFFF) if number >> 32 == 0xFFFF else ("IPv6", number)


def _listed(name: str, rules: Any) -> list[Any]:
    if isinstance(rules, (str, bytes, Mapping)) or not isinstance(rules, Iterable):
        raise TypeError(
            f"ip_restriction({name}=...) takes a list of rules such as ['192.0.2.0/24'], "
            f"not {rules!r:.100}"
        )
    return list(rules)


def _network(where: str, rule: Any) -> tuple[AddressType, int, int]:
    """Returns a rule's address type, the bits of its prefix, and the number of bits after it."""
    if isinstance(rule, (IPv4Address, IPv6Address, IPv4Network, IPv6Network)):
        rule = str(rule)
    if not isinstance(rule, str):
        raise TypeError(
            f"ip_restriction({where}, is {type(rule).__name__}: expected an address such as "
            "'192.0.2.7', a network such as '2001:db8::/32', '*', or a function (remote)"
        )
    text, slash, bits = rule.partition("/")
    if "%" in text:
        raise ValueError(
            f"ip_restriction({where}, has a zone: write {text.partition('%')[0]!r}, "
            "which is the address in every zone"
        )
    try:
        address = ip_address(text)
    except ValueError:
        raise ValueError(
            f"ip_restriction({where}, is not an IP address: expected an address such as "
            "'192.0.2.7', a network such as '2001:db8::/32', '*', or a function (remote)"
        ) from None
    length = address.max_prefixlen
    if slash and not (_PREFIX_LENGTH(bits) and int(bits) <= length):
        raise ValueError(
            f"ip_restriction({where}, has an invalid prefix length: "
            f"expected 0 to {length} after the slash"
        )
    number = int(address)
    host_bits = length - int(bits) if slash else 0
    prefix = number >> host_bits
    if prefix << host_bits != number:
        network = type(address)(prefix << host_bits)
        raise ValueError(
            f"ip_restriction({where}, has bits set after its prefix: write '{network}/{bits}' for "
            f"the network, or '{address}' for the address"
        )
    if address.version == 4:
        return "IPv4", prefix, host_bits
    kind, number = _canonical(number)
    return kind, number >> host_bits, host_bits
