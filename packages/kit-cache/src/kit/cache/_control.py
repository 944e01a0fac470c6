# SPDX-License-Identifier: MIT
"""Cache-Control: its directives and their arguments (RFC 9111, section 5.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kit.interface import Headers
from kit.interface.fields import list_members

# SPEC: section 1.2.2: what is larger than this counts as this.
_MOST_SECONDS = 2**31
_SECONDS = re.compile(r"[0-9]+")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def parse_directives(value: str | None) -> dict[str, str | None]:
    """Parses the value of Cache-Control.

    Args:
        value: The value; that of several lines is joined by commas. None if there is none.

    Returns:
        The arguments by the names of the directives, in lower case; None where there is no
        argument. If a directive is repeated, its first argument counts (section 4.2.1).
    """
    found: dict[str, str | None] = {}
    for member in list_members(value):
        name, equals, argument = member.partition("=")
        quoted = _QUOTED.fullmatch(argument)
        if quoted:
            argument = _ESCAPED.sub(r"\1", quoted[1])
        found.setdefault(name.lower(), argument if equals else None)
    return found


def seconds(directives: Mapping[str, str | None], name: str) -> int | None:
    """Returns the argument of a directive that is a number of seconds.

    Args:
        directives: From `parse_directives`.
        name: The directive.

    Returns:
        None if there is no such directive; 0 if its argument is malformed, which makes a response
        stale (section 4.2.1).
    """
    if name not in directives:
        return None
    argument = directives[name] or ""
    if not _SECONDS.fullmatch(argument):
        return 0
    # PERF: a number of any length is not converted.
    return min(int(argument[:12]), _MOST_SECONDS) if len(argument) < 12 else _MOST_SECONDS


def merged(headers: Headers, added: Mapping[str, str | None]) -> str | None:
    """Adds directives to the Cache-Control of a response.

    Args:
        headers: Those of the response.
        added: The directives to add unless they are there; `max-age` also gives way to Expires.

    Returns:
        The value; None if there is nothing to say.
    """
    value = headers.get("cache-control")
    present = parse_directives(value)
    if headers.has("expires"):
        present.setdefault("max-age", None)
    new = [
        name if argument is None else f"{name}={argument}"
        for name, argument in added.items()
        if name not in present
    ]
    return ", ".join([*([value] if value else []), *new]) or None
