# SPDX-License-Identifier: MIT
"""What the patterns of routes mean beyond what routers read in them."""

from __future__ import annotations

import re

from kit.interface import UnsupportedPathError
from kit.interface.patterns import split_pattern

# Characters that a pattern of another framework would be written with, as literals.
_ESCAPED_LITERAL = re.compile(r"%(7[BbDd]|3[CcEe])")


def check_syntax(path: str, method: str | None = None) -> None:
    """Refuses a pattern that is written in the way of another framework.

    Args:
        path: The pattern as it was given.
        method: The method of the route, for the error; None if there is none, or several.

    Raises:
        UnsupportedPathError: With the pattern as Kit writes it.
    """
    if "{" not in path and "<" not in path:
        return
    from kit.interface.patterns import foreign_syntax

    translated = foreign_syntax(path)
    if translated is not None:
        literal = "{ is written %7B" if "{" in path else "< is written %3C"
        reason = f"a parameter begins with a colon, as in {translated!r}; a literal {literal}"
        raise UnsupportedPathError(path, reason, method)


def for_router(path: str) -> str:
    """Returns the pattern that a router gets for the pattern of a route.

    Routers match decoded paths, so the escapes of braces and angle brackets in literal segments
    are decoded here, after the pattern was checked and before a router looks for expressions.

    Args:
        path: The pattern of the route.

    Raises:
        UnsupportedPathError: If routers would take the braces of two segments for an expression.
    """
    if "%" not in path:
        return path
    segments = split_pattern(path)
    decoded = [each if each.startswith(":") else _decoded(each) for each in segments]
    pattern = "/" + "/".join(decoded)
    if split_pattern(pattern) != decoded:
        reason = "a literal { and the next literal } have to be in one segment"
        raise UnsupportedPathError(path, reason)
    return pattern


def _decoded(segment: str) -> str:
    return _ESCAPED_LITERAL.sub(lambda escape: chr(int(escape[1], 16)), segment)


def without_slash(path: str) -> str:
    """Drops a slash at the end of a pattern, as `strict=False` does at the end of a path."""
    return path[:-1] if len(path) > 1 and path.endswith("/") else path


def forms(base_path: str, path: str, method: str | None) -> list[tuple[str, str]]:
    """Returns the patterns that a pattern with an optional parameter before its end stands for.

    Routers know optional parameters at the end of a pattern alone.

    Args:
        base_path: The prefix of the pattern.
        path: The whole pattern.
        method: The method of the route, for the error; None if there is none.

    Returns:
        Prefix and pattern: as they are, or one without the parameter and one in which it is
        required.

    Raises:
        UnsupportedPathError: If a path could match both.
    """
    segments = split_pattern(path) if "?/" in path else []
    end = len(segments)
    while end and _is_optional(segments[end - 1]):
        end -= 1
    place = next((index for index in range(end) if _is_optional(segments[index])), None)
    if place is None:
        return [(base_path, path)]
    found = [
        (_at(base_path, place, is_there), _at(path, place, is_there)) for is_there in (False, True)
    ]
    if not all(_is_one_segment(each) for each in segments[:place] + segments[place + 1 :]):
        reason = (
            f"a path could match both with and without {segments[place]!r}, which is not at the "
            f"end: register what is meant, e.g. {found[0][1]!r} and {found[1][1]!r}"
        )
        raise UnsupportedPathError(path, reason, method)
    return found


def _at(path: str, place: int, is_there: bool) -> str:
    """Returns a pattern without the optional parameter at a place, or with it as a required one."""
    segments = split_pattern(path)
    segments[place : place + 1] = [each[:-1] for each in segments[place : place + 1] if is_there]
    return "/" + "/".join(segments)


def _is_optional(segment: str) -> bool:
    return segment.startswith(":") and segment.endswith("?")


def _is_one_segment(segment: str) -> bool:
    """Whether a segment of a pattern takes exactly one segment of every path."""
    from kit.interface.patterns import covers

    return not segment or (not _is_optional(segment) and covers("/:one", f"/{segment}"))
