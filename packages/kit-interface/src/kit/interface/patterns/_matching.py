# SPDX-License-Identifier: MIT
"""Determines whether a path matches route patterns, without a router."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from .._errors import UnsupportedPathError
from ._foreign import check_syntax
from ._literals import literal_in_paths
from ._parsing import FLAGS, Segment, split_pattern, variants
from ._whole import PathExpression, literal_text


def path_matcher(*patterns: str) -> Callable[[str], bool]:
    """Returns a function that checks whether a path matches any of the given route patterns.

    It matches like the routers. Use it for code that needs to recognize
    paths but doesn't handle requests, such as a list of exceptions.

    Args:
        *patterns: Route patterns, e.g. `/public/*` or `/users/:id{[0-9]+}`. A missing leading slash
            is added.

    Returns:
        A function that takes a routing path, `c.req.path`.

    Raises:
        UnsupportedPathError: If a pattern is invalid, in the syntax of another framework, or can't
            match any path.
    """
    literals: set[str] = set()
    expressions: list[str] = []
    searches: list[PathExpression] = []
    for pattern in patterns:
        for segments in _checked_variants(pattern):
            if any(segment.expression is not None for segment in segments):
                searches.append(PathExpression(pattern, segments))
            elif any(_is_open(segment) for segment in segments):
                expressions.append(_expression(segments))
            else:
                literals.add("/" + "/".join(segment.text for segment in segments))
    fullmatch = re.compile("|".join(expressions), FLAGS).fullmatch if expressions else None

    def matches(path: str) -> bool:
        if not path.startswith("/"):  # a `get_path` may return such a path
            path = "/" + path
        return (
            path in literals
            or (fullmatch is not None and fullmatch(path) is not None)
            or any(search.read(path) is not None for search in searches)
        )

    return matches


def _checked_variants(pattern: str) -> Iterator[tuple[Segment, ...]]:
    """Yields the variants of a pattern, with literals in the form they have in paths.

    Raises:
        UnsupportedPathError: If it can't match any path.
    """
    if not pattern:
        raise UnsupportedPathError(pattern, "it is empty; the root is '/'")
    check_syntax(pattern)
    for each in _without_optional_inside(pattern):
        found = variants(each)
        if not found:
            raise UnsupportedPathError(pattern, "it can't match any path")
        for segments in found:
            yield tuple(_in_paths(pattern, segment) for segment in segments)


def _without_optional_inside(pattern: str) -> list[str]:
    """Expands optional parameters that aren't at the end of a pattern."""
    segments = split_pattern(pattern)
    end = len(segments)
    while end and _is_optional(segments[end - 1]):
        end -= 1
    for place in range(end):
        if _is_optional(segments[place]):
            before, after = segments[:place], segments[place + 1 :]
            return [
                each
                for chosen in ([], [segments[place][:-1]])
                for each in _without_optional_inside("/" + "/".join([*before, *chosen, *after]))
            ]
    return ["/" + "/".join(segments)]


def _is_optional(segment: str) -> bool:
    return segment.startswith(":") and segment.endswith("?")


def _in_paths(pattern: str, segment: Segment) -> Segment:
    """Returns a segment with its literal in the form it has in decoded paths."""
    if segment.name is not None:
        return segment
    return segment._replace(text=literal_in_paths(pattern, segment.text))


def _is_open(segment: Segment) -> bool:
    """Whether a segment matches more than one text."""
    return segment.name is not None or segment.text.endswith("*")


def _expression(segments: Sequence[Segment]) -> str:
    """Returns the regular expression for a pattern with plain parameters only."""
    return "".join(
        "/[^/]+" if segment.name is not None else literal_text(segments, index)
        for index, segment in enumerate(segments)
    )
