# SPDX-License-Identifier: MIT
"""Origins: scheme, host and port, as browsers send them (WHATWG HTML, section 7.1.1; RFC 6454).

CORS, CSRF protection and WebSocket handshakes all check the Origin header. Its value is compared as
text, since browsers send each origin in a single form, in lower case and without the default port.
"""

from __future__ import annotations

import re

__all__ = ("DEFAULT_PORTS", "is_origin", "is_own_origin", "parse_origin")

DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}
"""The default port of each scheme (URL, section 3.1)."""

# A host has at most 253 characters (RFC 1035, section 2.3.4).
_MAX_LENGTH = 300
# SPEC: URL, section 3.5: lower case without the forbidden code points; IPv6 in brackets. A `*` is
# not forbidden, but no real host name has one, and it is easily mistaken for a wildcard.
_SERIALIZED = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.\-]*)://"
    r"(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()+,;=\-]+)"
    r"(?::(?P<port>0|[1-9][0-9]{0,4}))?"
)


def is_origin(text: str) -> bool:
    """Returns whether a text is an origin as browsers send it, e.g. `https://example.com:8443`.

    Args:
        text: The text to check. `null`, which represents every opaque origin, isn't an origin.
    """
    if len(text) > _MAX_LENGTH:
        return False
    match = _SERIALIZED.fullmatch(text)
    if match is None:
        return False
    port = match["port"]
    return port is None or (int(port) <= 65535 and port != DEFAULT_PORTS.get(match["scheme"]))


def parse_origin(url: str) -> str:
    """Returns the origin of a URL.

    Args:
        url: An absolute, normalized URL.
    """
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def is_own_origin(origin: str, url: str) -> bool:
    """Returns whether a request comes from the same origin that it is sent to.

    Behind a proxy that terminates TLS, the server may not know that the client uses `https`. For an
    `http` URL, the `https` origin with the same host therefore counts as the same. Conversely, an
    `http` page that sends a request to an `https` URL has a different origin, since anyone who
    controls the network can forge such pages.

    Args:
        origin: The Origin header.
        url: The URL of the request, normalized; also with `ws` or `wss`.
    """
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    if origin == f"https://{host}":
        return True
    if scheme in ("https", "wss"):
        return False
    # A proxy may pass on its own port, which isn't the default port of `http`.
    return origin == f"http://{host}" or (
        host.endswith(":443") and origin == f"https://{host.removesuffix(':443')}"
    )
