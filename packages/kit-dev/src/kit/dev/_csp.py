# SPDX-License-Identifier: MIT
"""What a Content-Security-Policy (CSP Level 3) allows a script that is added to a page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

# Sources that match the page's own origin, whatever its scheme is.
_OWN = {"'self'", "*", "http:"}


def script_attributes(headers: Iterable[str]) -> str | None:
    """Returns the attributes of a script element of the page's own origin that connects to it.

    Args:
        headers: The values of Content-Security-Policy; all policies in them apply.

    Returns:
        The attributes, with a space in front of each: a nonce, or nothing; None if a policy forbids
        the script or the connection.
    """
    nonces: set[str] = set()
    for policy in (each for header in headers for each in header.split(",")):
        directives = _directives(policy)
        sandbox = directives.get("sandbox")
        if sandbox is not None and "allow-scripts" not in sandbox:
            return None
        connect = _first(directives, "connect-src", "default-src")
        if connect is not None and not _OWN.intersection(connect):
            return None
        script = _first(directives, "script-src-elem", "script-src", "default-src")
        if script is None:
            continue
        nonce = next((each for each in script if each.startswith("'nonce-")), None)
        # SPEC: section 6.7.1.1: with 'strict-dynamic' a nonce counts and origins don't.
        if nonce is not None:
            nonces.add(nonce[len("'nonce-") : -1])
        elif "'strict-dynamic'" in script or not _OWN.intersection(script):
            return None
    if len(nonces) > 1:
        return None
    return "".join(f' nonce="{escape(nonce)}"' for nonce in nonces)


def _directives(policy: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for directive in policy.split(";"):
        name, *values = directive.split() or [""]
        found.setdefault(name.lower(), values)  # SPEC: section 2.2.1: the first of a name counts
    return found


def _first(directives: dict[str, list[str]], *names: str) -> list[str] | None:
    return next((directives[name] for name in names if name in directives), None)
