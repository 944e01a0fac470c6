# SPDX-License-Identifier: MIT
"""Prepares the pattern of a route for a router: what an app and `path_matcher` do alike."""

from __future__ import annotations

from kit import interface  # its errors are imported when they are raised

# PERF: functions import `kit.router.patterns`, since most patterns don't need it.

__all__ = ("check_literals", "check_syntax", "for_router", "forms")


def check_syntax(path: str, method: str | None = None) -> None:
    """Refuses a pattern in the syntax of another framework; see `kit.router.patterns.check_syntax`.

    Args:
        path: The original pattern.
        method: The method of the route, for the error; None if there is none, or several.

    Raises:
        UnsupportedPathError: If a segment is the parameter of another framework.
    """
    if "{" in path or "<" in path or ":" in path.replace("/:", ""):  # PERF: few patterns
        from kit.router import patterns

        patterns.check_syntax(path, method)


def check_literals(path: str, method: str | None = None) -> None:
    """Refuses a pattern that no URL can match, since a guard there would never run.

    Args:
        path: The pattern as it was given.
        method: The method of the route, for the error; None if there is none, or several.

    Raises:
        UnsupportedPathError: If a literal segment contains `?`, `#`, or an escape that is decoded.
    """
    if "%" in path or "?" in path or "#" in path:
        from kit.router.patterns import literal_in_paths, split_pattern

        for segment in split_pattern(path):
            if not segment.startswith(":"):
                literal_in_paths(path, segment, method)


def for_router(path: str) -> str:
    """Returns the pattern that a router gets for the pattern of a route.

    Routers match decoded paths. Escaped braces and angle brackets in literal segments are therefore
    decoded here, after the pattern was checked and before a router looks for expressions.

    Args:
        path: The pattern of the route.

    Raises:
        UnsupportedPathError: If routers would parse the braces of two segments as an expression.
    """
    if "%" not in path:
        return path
    from kit.router.patterns import split_pattern, unescape_literal

    segments = split_pattern(path)
    decoded = [each if each.startswith(":") else unescape_literal(each) for each in segments]
    pattern = "/" + "/".join(decoded)
    if split_pattern(pattern) != decoded:
        reason = "a literal { and the next literal } have to be in one segment"
        raise interface.UnsupportedPathError(path, reason)
    return pattern


def forms(base_path: str, path: str, method: str | None = None) -> list[tuple[str, str]]:
    """Expands a pattern with an optional parameter before its end, which routers don't.

    Args:
        base_path: The prefix of the pattern.
        path: The whole pattern.
        method: The method of the route, for the error; None if there is none.

    Returns:
        Pairs of prefix and pattern: the given pair, or one without the parameter and one that
        requires it.

    Raises:
        UnsupportedPathError: If a path could match both.
    """
    if "?/" not in path:
        return [(base_path, path)]
    from kit.router.patterns import split_pattern

    segments = split_pattern(path)
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
        raise interface.UnsupportedPathError(path, reason, method)
    return found


def _at(path: str, place: int, is_there: bool) -> str:
    """Returns a pattern with an optional parameter removed, or made required."""
    from kit.router.patterns import split_pattern

    segments = split_pattern(path)
    segments[place : place + 1] = [each[:-1] for each in segments[place : place + 1] if is_there]
    return "/" + "/".join(segments)


def _is_optional(segment: str) -> bool:
    return segment.startswith(":") and segment.endswith("?")


def _is_one_segment(segment: str) -> bool:
    """Returns whether a segment of a pattern always matches exactly one segment of a path."""
    from kit.router.patterns import covers

    return not segment or (not _is_optional(segment) and covers("/:one", f"/{segment}"))
