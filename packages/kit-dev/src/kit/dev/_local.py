# SPDX-License-Identifier: MIT
"""Distinguishes requests of the developer from those of a web page that reaches this machine.

A page of somebody else's can have its own name resolve to this machine (DNS rebinding). The browser
then lets it read what `kit dev` answers, but still sends that name as Host.
"""

from __future__ import annotations

import re
from typing import Any

from kit.http.addresses import parse_address

__all__ = ("is_local",)

_LONGEST = 300
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*))\.?(?::[0-9]*)?")


def is_local(scope: dict[str, Any], own_host: str) -> bool:
    """Returns whether a request may see the code of the app.

    Args:
        scope: The ASGI scope.
        own_host: The name or address that the server was told to listen on.

    Returns:
        True if Host is an IP address, which no name resolves to; `localhost` or a name below it
        (RFC 6761, section 6.3); or `own_host`. Also without a Host, since every browser sends one.
    """
    hosts = [value for name, value in scope["headers"] if name == b"host" and value.strip()]
    return all(_is_local(value, own_host.lower()) for value in hosts)


def _is_local(value: bytes, own_host: str) -> bool:
    if len(value) > _LONGEST:
        return False
    found = _HOST.fullmatch(value.decode("latin-1").lower())
    if found is None:
        return False
    address, name = found.groups()
    if name is None:
        return parse_address(address) is not None
    return (
        name in ("localhost", own_host)
        or name.endswith(".localhost")
        or parse_address(name) is not None
    )
