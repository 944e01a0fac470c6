# SPDX-License-Identifier: MIT
"""Determines whether a path matches route patterns, without a router."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from .._errors import UnsupportedPathError
from ._foreign import foreign_syntax
from ._literals import literal_in_paths
from ._parsing import FLAGS, Segment, compile_expression, split_pattern, variants


def path_matcher(*patterns: str) -> Callable[[str], bool]:
    """Returns a function that checks whether a path matches any of the given route patterns.

    It matches like the routers, in particular TrieRouter. Use it for code that needs to recognize
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
    searches: list[_Search] = []
    for pattern in patterns:
        for segments in _checked_variants(pattern):
            if any(segment.expression is not None for segment in segments):
                searches.append(_Search(pattern, segments))
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
            or any(search.finds(path) for search in searches)
        )

    return matches


def _checked_variants(pattern: str) -> Iterator[tuple[Segment, ...]]:
    """Yields the variants of a pattern, with literals in the form they have in paths.

    Raises:
        UnsupportedPathError: If it can't match any path.
    """
    if not pattern:
        raise UnsupportedPathError(pattern, "it is empty; the root is '/'")
    translated = foreign_syntax(pattern)
    if translated is not None:
        raise UnsupportedPathError(
            pattern, f"a parameter begins with a colon, as in {translated!r}"
        )
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
    text = ""
    last = len(segments) - 1
    for index, segment in enumerate(segments):
        if segment.name is not None:
            text += "/[^/]+"
        elif segment.is_wildcard and index < last:
            text += "/[^/]*"
        elif segment.is_wildcard:
            text += "(?:/.*)?" if _may_be_absent(segments) else "/.*"
        elif segment.text.endswith("*") and index == last:
            text += f"/{re.escape(segment.text[:-1])}.*"
        else:
            text += f"/{re.escape(segment.text)}"
    return text


def _may_be_absent(segments: Sequence[Segment]) -> bool:
    """Whether a last `*` may match nothing: not if it is alone, or follows another one."""
    return len(segments) > 1 and not segments[-2].is_wildcard


class _Search:
    """A pattern with expressions, which may match slashes, so segments can't be split beforehand.

    Args:
        pattern: The pattern, for errors.
        segments: A variant of it.
    """

    __slots__ = ("_expressions", "_segments")

    def __init__(self, pattern: str, segments: tuple[Segment, ...]) -> None:
        self._segments = segments
        # For each segment: the pattern for the rest of the path, and the one for only the segment.
        self._expressions = [
            self._compile(pattern, index, segment.expression)
            for index, segment in enumerate(segments)
        ]

    def finds(self, path: str) -> bool:
        """Returns whether the pattern matches a path."""
        return self._goes_on(path, 0, 1)

    def _compile(
        self, pattern: str, index: int, expression: str | None
    ) -> tuple[re.Pattern[str], re.Pattern[str] | None] | None:
        if expression is None:
            return None
        whole = compile_expression(expression, pattern, "ALL")
        behind = self._segments[index + 1 : index + 2]
        literal = ""
        if behind and behind[0].name is None and not behind[0].is_wildcard:
            literal = behind[0].text
            if index + 2 == len(self._segments):
                literal = literal.removesuffix("*")
        if not literal:
            return whole, whole
        # It may match slashes, but ends where the following literal starts.
        then = f"(?=/{re.escape(literal)})"
        return compile_expression(expression, pattern, "ALL", then), None

    def _goes_on(self, path: str, index: int, start: int | None) -> bool:
        """Returns whether the segments from `index` on match the path from `start` on.

        Args:
            path: The path.
            index: The index of a segment of the pattern.
            start: The start of a segment of the path; None if none is left.
        """
        if index == len(self._segments):
            return start is None
        segment = self._segments[index]
        is_last = index + 1 == len(self._segments)
        if segment.is_wildcard and is_last:
            return start is not None or _may_be_absent(self._segments)
        if start is None:
            return False
        if segment.name is None and segment.text.endswith("*") and is_last:
            return path.startswith(segment.text[:-1], start)
        end = path.find("/", start)
        following = None if end < 0 else end + 1
        text = path[start:] if end < 0 else path[start:end]
        compiled = self._expressions[index]
        if compiled is None:
            fits = segment.is_wildcard or (bool(text) if segment.name else text == segment.text)
            return fits and self._goes_on(path, index + 1, following)
        rest, alone = compiled
        match = rest.match(path, start)
        if match is None:
            fits = alone is not None and alone.match(text) is not None
            return fits and self._goes_on(path, index + 1, following)
        stop = match.end()
        return is_last or self._goes_on(path, index + 1, None if stop == len(path) else stop + 1)
