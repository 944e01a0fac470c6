# SPDX-License-Identifier: MIT
"""Cache-Control: its directives and their arguments (RFC 9111, section 5.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kit.http.fields import list_members
from kit.interface import Headers

# SPEC: section 1.2.2: larger values are treated as this one.
_MOST_SECONDS = 2**31
_SECONDS = re.compile(r"[0-9]+")
_QUOTED = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def parse_directives(value: str | None) -> dict[str, str | None]:
    """Parses the value of Cache-Control.

    Args:
        value: The value; several lines are joined with commas. None if the header is absent.

    Returns:
        Maps the names of the directives, in lower case, to their arguments, or to None if they
        have none. If a directive is repeated, its first argument counts (section 4.2.1).
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
    """Returns the argument of a directive as a number of seconds.

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
    # PERF: avoids converting very long numbers.
    return min(int(argument[:12]), _MOST_SECONDS) if len(argument) < 12 else _MOST_SECONDS


def merged(headers: Headers, added: Mapping[str, str | None]) -> str | None:
    """Adds directives to the Cache-Control of a response.

    Args:
        headers: The headers of the response.
        added: Directives to add if they are absent; `max-age` isn't added if there is Expires.

    Returns:
        The value; None if it is empty.
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
