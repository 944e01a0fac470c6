# SPDX-License-Identifier: MIT
"""Splits patterns into segments, expands optional parameters, and compiles expressions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kit.interface import UnsupportedPathError

FLAGS = re.ASCII | re.DOTALL
r"""The flags of all expressions: `\d` is 0-9, as in JavaScript, and `.` matches a newline too."""

_PARAMETER = re.compile(r":([^{}]+)(?:\{(.+)\})?", re.DOTALL)
# An expression may have braces itself, as in `{[0-9]{4}/[0-9]{2}}`.
_SLASH_OUTSIDE_BRACES = re.compile(r"\{(?:\\.|[^{}\\]|\{[^{}]*\})+\}|(/)", re.DOTALL)
_GLOBAL_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")
# Patterns are written by developers, but an app may have many thousands of them.
_MOST_CACHED = 4096


class Parameter(NamedTuple):
    """A segment `:name` or `:name{regex}`.

    Attributes:
        name: The name without its colon.
        expression: The text between the braces; None if there are none.
    """

    name: str
    expression: str | None


class Segment(NamedTuple):
    """One segment of a pattern.

    Attributes:
        text: The segment as written, without the `?` of an optional parameter.
        name: Name of the parameter; None for a literal and for `*`.
        expression: Expression of the parameter; None if it has none.
        optional: Whether the parameter may be absent.
    """

    text: str
    name: str | None = None
    expression: str | None = None
    optional: bool = False

    @property
    def is_wildcard(self) -> bool:
        """Whether the segment is `*`."""
        return self.name is None and self.text == "*"


_EMPTY = Segment("")


def split_pattern(path: str) -> list[str]:
    """Splits a route pattern into its segments; slashes within braces don't separate.

    Args:
        path: The pattern, e.g. `/files/:name{[a-z]+/[0-9]+}/raw`.

    Returns:
        The segments without slashes. A leading slash doesn't produce an empty first segment; a
        trailing one produces an empty last segment.
    """
    segments = []
    start = 1 if path.startswith("/") else 0
    for match in _SLASH_OUTSIDE_BRACES.finditer(path, start):
        if match[1]:
            segments.append(path[start : match.start()])
            start = match.end()
    segments.append(path[start:])
    return segments


def parse_parameter(segment: str) -> Parameter | None:
    """Parses a segment without `?` as a parameter.

    Args:
        segment: One segment, as `split_pattern` returns it.

    Returns:
        The parameter; None if the segment is a literal or `*`.
    """
    match = _PARAMETER.fullmatch(segment)
    return Parameter(match[1], match[2]) if match else None


@lru_cache(maxsize=_MOST_CACHED)
def variants(path: str) -> tuple[tuple[Segment, ...], ...]:
    """Parses a pattern into its variants, each a tuple of segments.

    The variants are those of `expand_optional`.

    Args:
        path: The pattern, e.g. `/users/:id?`.

    Returns:
        One variant for a pattern without optional parameters, several if it ends with them, none if
        no path can match it. If there are several variants, empty segments are dropped, as in
        routers.
    """
    texts = split_pattern(path)
    if not _may_have_optional(path):
        return (tuple(parse_segment(text) for text in texts),)
    found: dict[tuple[Segment, ...], None] = {}
    before: list[Segment] = []
    for text in filter(None, texts):
        optional = ":" in text and text.endswith("?")
        segment = parse_segment(text[:-1], optional=True) if optional else parse_segment(text)
        if optional and "/" not in segment.text:
            found[tuple(before) or (_EMPTY,)] = None
            found[(*before, segment)] = None
        before.append(segment)
    return tuple(found)


def expand_optional(path: str, method: str | None = None) -> list[str]:
    """Expands a pattern with optional parameters.

    Only patterns that end with optional parameters are expanded: `/a/:x?` to `/a` and `/a/:x`,
    `/a/:x?/:y?` to three patterns. Any other pattern is returned unchanged.

    Args:
        path: The pattern.
        method: The method of the route, for the error.

    Returns:
        The patterns without `?`, the shortest first.

    Raises:
        UnsupportedPathError: If an optional parameter, or the whole pattern, can never match.
    """
    if not _may_have_optional(path):
        return [path]
    texts = split_pattern(path)
    for text in texts:
        if ":" in text and text.endswith("?") and "/" in text:
            raise UnsupportedPathError(
                path,
                f"the optional parameter {text[:-1]!r} would never match, since its expression has "
                "a slash: register two routes instead",
                method,
            )
    if any(":" not in text and text.endswith("?") for text in texts):
        raise UnsupportedPathError(
            path,
            "it would never match, since a path can't contain '?'; an optional parameter must be "
            "the last segment, ':name?'",
            method,
        )
    return ["/" + "/".join(each.text for each in variant) for variant in variants(path)]


def compile_expression(expression: str, path: str, method: str, then: str = "") -> re.Pattern[str]:
    r"""Compiles the expression of a parameter as a whole (`a|b` is one alternative of two).

    Args:
        expression: The text between the braces.
        path: The route pattern it belongs to, for the error.
        method: The method of the route, for the error.
        then: What must follow the match, a regular expression; by default the end of the text.

    Returns:
        The compiled expression, with `FLAGS`.

    Raises:
        UnsupportedPathError: If the expression is invalid; the text has the message of `re` and
            the position in `path`.
    """
    try:
        re.compile(expression, FLAGS)
        # Global flags, e.g. (?i), have to come first.
        flags = _GLOBAL_FLAGS.match(expression)
        start = flags.end() if flags else 0
        whole = f"{expression[:start]}(?:{expression[start:]})" + (then or r"\Z")
        return re.compile(whole, FLAGS)
    except (re.error, OverflowError, RecursionError) as error:
        start = path.find("{" + expression + "}") + 1
        offset = getattr(error, "pos", None) or 0
        reason = f"invalid regular expression {expression!r}: {getattr(error, 'msg', error)}"
        raise UnsupportedPathError(path, reason, method, start + offset) from error


def _may_have_optional(path: str) -> bool:
    return path.endswith("?") and ":" in path


def parse_segment(text: str, *, optional: bool = False) -> Segment:
    """Parses one segment of a pattern.

    Args:
        text: The segment without `?`, as `split_pattern` returns it.
        optional: Whether it may be absent.
    """
    parameter = parse_parameter(text)
    if parameter is None:
        return Segment(text, optional=optional)
    return Segment(text, parameter.name, parameter.expression, optional)
