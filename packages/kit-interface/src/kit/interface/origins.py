# SPDX-License-Identifier: MIT
"""Origins: scheme, host and port, as browsers send them (WHATWG HTML, section 7.1.1; RFC 6454).

CORS, CSRF protection and WebSocket handshakes all check the Origin header. Its value is compared as
text, since browsers send each origin in a single form, in lower case and without the default port.
"""

from __future__ import annotations

import re
from typing import Any

from .options import OptionChecks

__all__ = ("check_origins", "is_origin", "is_own_origin", "origin_of")

# A host has at most 253 characters (RFC 1035, section 2.3.4).
_MAX_LENGTH = 300
_DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}
# SPEC: URL, section 3.5: lower case without the forbidden code points; IPv6 in brackets. A `*` is
# not forbidden, but no real host name has one, and it is easily mistaken for a wildcard.
_SERIALIZED = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.\-]*)://"
    r"(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()+,;=\-]+)"
    r"(?::(?P<port>0|[1-9][0-9]{0,4}))?"
)
# Common mistakes in place of an origin: a URL, or a host with or without a port.
_URL = re.compile(
    r"(?:(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):)?//)?"
    r"(?P<host>\[[^\]/?#]*\]|[^:/?#@\[\]]+)(?::(?P<port>[0-9]+))?(?:[/?#].*)?",
    re.DOTALL,
)
_LOCAL = re.compile(r"localhost|.+\.localhost|127\.[0-9.]+|\[::1\]")


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
    return port is None or (int(port) <= 65535 and port != _DEFAULT_PORTS.get(match["scheme"]))


def origin_of(url: str) -> str:
    """Returns the origin of a URL.

    Args:
        url: An absolute, normalized URL, such as `c.req.url`.
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
        url: The URL of the request, normalized, such as `c.req.url`; also with `ws` or `wss`.
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


def check_origins(
    check: OptionChecks, name: str, value: Any, several: str = "a function"
) -> frozenset[str]:
    """Checks an option that lists origins.

    Args:
        check: The checks of the factory that has the option.
        name: The option.
        value: Its value: an origin or several.
        several: What to use for origins that can't be listed; for errors.

    Returns:
        The origins.

    Raises:
        TypeError: If the value is neither a str nor an iterable of them.
        ValueError: If one of them isn't an origin; the error suggests the correct form.
    """
    origins = check.texts(name, value)
    for each in origins:
        if not is_origin(each):
            check.unusable(name, each, _expected(each, several))
    return frozenset(origins)


def _expected(text: str, several: str) -> str:
    if text == "*":
        return "an origin such as 'https://example.com'; '*' is not an origin"
    if text == "null":
        return (
            "an origin such as 'https://example.com'; 'null' is what every sandboxed page sends, "
            "so use a function to let it in"
        )
    if "*" in text:
        return (
            "an origin such as 'https://example.com', since there are no wildcards; "
            f"use {several} for many origins"
        )
    if not text.isascii():
        return "an origin in ASCII, such as 'https://xn--bcher-kva.example', as browsers send it"
    meant = _meant(text)
    if meant is None:
        return "an origin such as 'https://example.com'"
    return f"only scheme, host and port, in lower case: write {meant!r}"


def _meant(text: str) -> str | None:
    """Returns the origin that a text was probably meant to be; None if that is unclear."""
    match = _URL.fullmatch(text.strip())
    if match is None:
        return None
    host, port = match["host"].lower(), (match["port"] or "").lstrip("0")
    scheme = (match["scheme"] or ("http" if _LOCAL.fullmatch(host) else "https")).lower()
    if port == _DEFAULT_PORTS.get(scheme):
        port = ""
    origin = f"{scheme}://{host}" + (port and f":{port}")
    return origin if is_origin(origin) else None
