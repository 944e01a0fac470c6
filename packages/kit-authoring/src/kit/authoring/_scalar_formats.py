# SPDX-License-Identifier: MIT
"""The classes of the standard library that are a text in JSON, which msgspec doesn't know."""

from __future__ import annotations

from functools import cache


@cache
def scalar_formats() -> dict[type, str]:
    """Returns their formats in JSON Schema; where it has none, these are pydantic's."""
    # PERF: most apps need none of these modules.
    import ipaddress
    import pathlib
    from zoneinfo import ZoneInfo

    return {
        ipaddress.IPv4Address: "ipv4",
        ipaddress.IPv6Address: "ipv6",
        ipaddress.IPv4Interface: "ipv4interface",
        ipaddress.IPv6Interface: "ipv6interface",
        ipaddress.IPv4Network: "ipv4network",
        ipaddress.IPv6Network: "ipv6network",
        pathlib.PurePath: "path",
        ZoneInfo: "zoneinfo",
    }
