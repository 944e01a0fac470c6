# SPDX-License-Identifier: MIT
"""The fields in which a proxy says whose request it passes on: Forwarded, X-Forwarded-*, Via."""

from __future__ import annotations

from typing import Any

from kit.conninfo import get_conn_info
from kit.http.addresses import parse_address
from kit.http.fields import is_token, quoted_string
from kit.interface import Context

from ._fields import Line, name_in_cgi, tells_origin

__all__ = ("add_forwarded", "add_via", "drop_forwarded")


def drop_forwarded(lines: list[Line], *, trusted: bool) -> list[Line]:
    """Returns the lines without those that say where a request came from; any client sends them.

    Args:
        lines: The lines.
        trusted: Whether a trusted proxy has sent them. Those with a `_`, such as X_Forwarded_For,
            are left out even then: a proxy sends none, but may pass on those of a client.
    """
    return [
        (name, value)
        for name, value in lines
        if not tells_origin(name_in_cgi(name)) or (trusted and "_" not in name)
    ]


def add_forwarded(lines: list[Line], c: Context[Any, Any], prefix: str) -> list[Line]:
    """Returns the lines with the address of the client, and the host and scheme that it used.

    The client is appended to Forwarded and X-Forwarded-For. The other fields are set if they are
    absent, so that those of a trusted proxy in front stay.

    SPEC: RFC 7239, section 4.

    Args:
        lines: The lines.
        c: The context of the request.
        prefix: The part of the path that isn't passed on; may be empty.
    """
    address = get_conn_info(c).remote.address
    host = c.req.header("host")
    scheme = c.req.url.partition(":")[0]
    own = {"x-forwarded-proto": scheme}
    if host is not None:
        own["x-forwarded-host"] = host
    if prefix:
        own["x-forwarded-prefix"] = prefix
    present = {name for name, _ in lines}
    lines = [*lines, *((name, value) for name, value in own.items() if name not in present)]
    if address is not None:
        lines = _append(lines, "x-forwarded-for", address)
    return _append(lines, "forwarded", _format_element(address, host, scheme))


def add_via(lines: list[Line], version: str, pseudonym: str) -> list[Line]:
    """Returns the lines with one more member of Via (RFC 9110, section 7.6.3).

    Args:
        lines: The lines.
        version: The version in which the message was received, e.g. `1.1`.
        pseudonym: The name of this proxy.
    """
    return _append(lines, "via", f"{version} {pseudonym}")


def _append(lines: list[Line], name: str, member: str) -> list[Line]:
    """Returns the lines with a member at the end of a list, which becomes one line."""
    values = [value for each, value in lines if each == name]
    return [(n, v) for n, v in lines if n != name] + [(name, ", ".join([*values, member]))]


def _format_element(address: str | None, host: str | None, scheme: str) -> str:
    node = "unknown"
    if address is not None:
        parsed = parse_address(address)
        # SPEC: RFC 7239 section 6: an IPv6 address is in brackets; other names are hidden ones.
        if parsed is not None:
            node = f"[{parsed}]" if parsed.version == 6 else str(parsed)
    pairs = [f"for={_format_value(node)}"]
    if host is not None:
        pairs.append(f"host={_format_value(host)}")
    return ";".join((*pairs, f"proto={scheme}"))


def _format_value(text: str) -> str:
    return text if is_token(text) else quoted_string(text)
