# SPDX-License-Identifier: MIT
"""Parses trusted hosts, and the hosts of requests."""

from __future__ import annotations

import re
import unicodedata
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

# SPEC: RFC 1035 section 2.3.4, with underscores, which some networks have in names.
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL})*"
_MAX_LENGTH = 253
_LONGEST_HEADER = 300
# SPEC: RFC 9110 section 7.2 and RFC 3986 section 3.2.2. Escapes, user names and anything else that
# a URL might parse differently are left out: no trusted host has them.
_HOST = re.compile(rf"(?:({_NAME})\.?|\[([0-9A-Fa-f:.]+)\])(:[0-9]{{0,5}})?")
_MAX_PORT = 65535
_PLAIN_NAME = re.compile(_NAME)
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0[xX][0-9A-Fa-f]*)")


class Requested(NamedTuple):
    """The host of a request.

    Attributes:
        name: In lower case, without a trailing dot; an IPv6 address in brackets, in its canonical
            form (RFC 5952).
        port: The port with its colon, as sent, or an empty str.
    """

    name: str
    port: str


def parse_host(header: str) -> Requested | None:
    """Parses the value of a Host header.

    Args:
        header: The value; several lines are joined by commas, which no host contains.

    Returns:
        The host, or None if the value is malformed.
    """
    # APPSEC: matching takes 100 bytes for each character.
    match = _HOST.fullmatch(header) if len(header) <= _LONGEST_HEADER else None
    if match is None:
        return None
    name, address, port = match.groups(default="")
    if len(name) > _MAX_LENGTH or (len(port) > 1 and int(port[1:]) > _MAX_PORT):
        return None
    if address:
        try:
            name = f"[{IPv6Address(address)}]"
        except AddressValueError:
            return None
    return Requested(name.lower(), port)


def check_host(host: object) -> str:
    """Checks a trusted host.

    Returns:
        The host as `parse_host` writes names, with `*.` before it if it has that.

    Raises:
        TypeError: If it is not a str.
        ValueError: If it can't be compared with the hosts of requests.
    """
    if not isinstance(host, str):
        hint = "; write trusted_hosts(*hosts)" if isinstance(host, (list, tuple, set)) else ""
        raise TypeError(f"trusted_hosts() takes each host as a str, not {host!r:.100}{hint}")
    if host == "*":
        raise ValueError("trusted_hosts('*') would trust every host: leave the middleware out")
    is_wildcard = host.startswith("*.")
    name = host[2:] if is_wildcard else host
    if name.startswith("[") and not is_wildcard:
        requested = parse_host(name)
        if requested is not None and not requested.port:
            return requested.name
    plain = name.removesuffix(".").lower()
    if not _PLAIN_NAME.fullmatch(plain) or len(plain) > _MAX_LENGTH:
        raise ValueError(f"trusted_hosts({host!r:.100}) can't be used: {_expected(host)}")
    if _NUMERIC.fullmatch(plain) and (is_wildcard or not _is_ipv4(plain)):
        raise ValueError(
            f"trusted_hosts({host!r:.100}) can't be used: "
            "expected an IPv4 address with four decimal numbers, e.g. '192.0.2.1'"
        )
    return f"*.{plain}" if is_wildcard else plain


def _expected(host: str) -> str:
    """Returns a hint what to write instead of an invalid host."""
    if not host.isascii():
        return f"expected punycode, {_punycode(host)!r:.100}"
    scheme, separator, rest = host.partition("://")
    if separator and parse_host(rest.partition("/")[0]) is not None:
        return f"expected a host without the scheme {scheme!r}, {rest.partition('/')[0]!r}"
    try:
        return f"expected an IPv6 address in brackets, '[{IPv6Address(host)}]'"
    except AddressValueError:
        pass
    requested = parse_host(host.removeprefix("*."))
    if requested is not None and requested.port:
        shown = host.removesuffix(requested.port)
        return f"ports are ignored, so expected {shown!r}"
    return "expected a host such as 'example.com', '*.example.com' or '[2001:db8::1]'"


def _punycode(host: str) -> str:
    """Returns a host with its labels as browsers send them (RFC 3492, RFC 5891)."""
    labels = unicodedata.normalize("NFKC", host.lower()).split(".")
    return ".".join(
        each if each.isascii() else "xn--" + each.encode("punycode").decode() for each in labels
    )


def _is_ipv4(name: str) -> bool:
    try:
        IPv4Address(name)
    except AddressValueError:
        return False
    return True
