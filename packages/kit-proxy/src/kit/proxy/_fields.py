# SPDX-License-Identifier: MIT
"""The fields that are passed on, and those that belong to one connection (RFC 9110, 7.6.1)."""

from __future__ import annotations

from collections.abc import Iterable

from kit.http.fields import is_token, list_members
from kit.interface import Headers

__all__ = (
    "Line",
    "group_lines",
    "name_in_cgi",
    "read_lines",
    "select_end_to_end",
    "tells_origin",
)

Line = tuple[str, str]
"""A field: its name in lower case, and its value."""

# SPEC: RFC 9110 section 7.6.1; RFC 7540 section 3.2.1 for HTTP2-Settings. `Proxy` is no field of
# HTTP: CGI programs would take it for the variable HTTP_PROXY.
_HOP_BY_HOP = frozenset(
    (
        *("connection", "http2-settings", "keep-alive", "proxy", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    )
)
_FORWARDED = frozenset(("forwarded", "x-real-ip"))
_X_FORWARDED = "x-forwarded-"
_PROXY = "proxy-"  # Proxy-Authenticate, Proxy-Authorization, Proxy-Connection, ...


def name_in_cgi(name: str) -> str:
    """Returns the name that a field has for servers that read `x_real_ip` as X-Real-IP.

    SPEC: RFC 3875 section 4.1.18, and therefore WSGI: both names are HTTP_X_REAL_IP.
    """
    return name.replace("_", "-")


def tells_origin(name: str) -> bool:
    """Returns whether a field says where a request came from."""
    return name in _FORWARDED or name.startswith(_X_FORWARDED)


def read_lines(headers: Headers) -> list[Line]:
    """Returns the lines of a request; several lines of Cookie become one.

    SPEC: RFC 9113 section 8.2.3 for Cookie.
    """
    lines: list[Line] = []
    for name in dict.fromkeys(headers.keys()):
        values = headers.get_all(name)
        if name == "cookie":
            values = ["; ".join(values)]
        lines.extend((name, value) for value in values)
    return lines


def select_end_to_end(lines: Iterable[Line], *, strict: bool) -> list[Line]:
    """Returns the lines without those of one connection.

    Args:
        lines: The lines.
        strict: Whether the fields that Connection names are also left out. Those that say where a
            request came from stay: a client must not hide it from the upstream server.
    """
    lines = list(lines)
    named: set[str] = set()
    if strict:
        for name, value in lines:
            if name == "connection":
                named.update(each.lower() for each in list_members(value) if is_token(each))
    return [
        (name, value)
        for name, value in lines
        if (name not in named or tells_origin(name)) and not _is_hop_by_hop(name_in_cgi(name))
    ]


def _is_hop_by_hop(name: str) -> bool:
    return name in _HOP_BY_HOP or name.startswith(_PROXY)


def group_lines(lines: Iterable[Line]) -> dict[str, list[str]]:
    """Returns the values by name."""
    values: dict[str, list[str]] = {}
    for name, value in lines:
        values.setdefault(name, []).append(value)
    return values
