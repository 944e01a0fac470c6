# SPDX-License-Identifier: MIT
"""The syntax of route patterns, parsed in this one place.

A pattern is a path whose segments, between slashes, are literals, `:name` (one non-empty
segment), `:name{regex}` (what the whole expression matches, slashes included) or `*` (one
segment, or the rest of the path at the end). A last `:name?` may be absent.
"""

from __future__ import annotations

import re
import warnings
from enum import Enum
from typing import NamedTuple

from kit.interface import UnsupportedPathError
from kit.interface._callers import calling_frame

_PARAMETER = re.compile(r":([^{}]+)(?:\{(.+)\})?", re.DOTALL)
_SLASH_OUTSIDE_BRACES = re.compile(r"\{[^}]+\}|(/)", re.DOTALL)
_GLOBAL_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")
# One item of an expression: an escape, a class, the opening of a group, or a single character.
_ITEM = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|.)"
    r"|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?::|=|!|<=|<!|>))?|.",
    re.DOTALL,
)
_BACK_REFERENCE = re.compile(r"\\[1-9][0-9]?")
_BOUNDARIES = ("^", "$", r"\b", r"\B", r"\A", r"\Z", "(?=", "(?!", "(?<=", "(?<!")
# \d is 0-9, as in JavaScript; a newline is a character like any other.
FLAGS = re.ASCII | re.DOTALL


class Extent(Enum):
    """How far the match of an expression can reach, as far as its text tells."""

    SEGMENT = "nothing that takes a slash"
    SLASHES = "what may take slashes"
    AROUND = "anchors or lookarounds"
    REFERENCES = "capturing groups, back-references or flags"


class Parameter(NamedTuple):
    """A segment `:name` or `:name{regex}`; `expression` is None for the former."""

    name: str
    expression: str | None


def split_pattern(path: str) -> list[str]:
    """Splits a route pattern into its segments; slashes within braces do not count.

    Args:
        path: The pattern, e.g. `/files/:name{[a-z]+/[0-9]+}/raw`.

    Returns:
        The segments without slashes. A leading slash gives no empty first segment, a trailing one
        an empty last segment.
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
    """Reads a segment as a parameter; None if it is a literal or `*`."""
    match = _PARAMETER.fullmatch(segment)
    return Parameter(match[1], match[2]) if match else None


def expand_optional(path: str) -> list[str]:
    """Lists the patterns that a path with optional parameters stands for.

    Only a path that ends in an optional parameter has any: `/a/:x?` stands for `/a` and `/a/:x`,
    `/a/:x?/:y?` for three patterns. Every other path stands for itself. An optional parameter whose
    expression holds a slash can't be matched, and its variants are left out, with a warning.
    """
    if not path.endswith("?") or ":" not in path:
        return [path]
    variants: list[str] = []
    base = ""
    for segment in split_pattern(path):
        if ":" in segment and segment.endswith("?"):
            segment = segment[:-1]
            if "/" in segment:
                warnings.warn(
                    f"The optional parameter {segment!r} of the route {path!r} never matches: "
                    "an expression with a slash can't be optional. Register two routes instead",
                    stacklevel=calling_frame()[1],
                )
            else:
                variants += (base or "/", f"{base}/{segment}")
        if segment:
            base += "/" + segment
    if not variants and not base.endswith("}"):
        warnings.warn(
            f"The route {path!r} never matches: a path holds no '?'; "
            "an optional parameter is the last segment, ':name?'",
            stacklevel=calling_frame()[1],
        )
    return list(dict.fromkeys(variants))


def extent(expression: str) -> Extent:
    """Tells how far the match of an expression can reach.

    Args:
        expression: A valid regular expression, what stands between the braces.

    Returns:
        The extent, the last of those that it has.
    """
    reach = Extent.SEGMENT
    for match in _ITEM.finditer(expression):
        item = match[0]
        if item == "(" or _BACK_REFERENCE.fullmatch(item):
            return Extent.REFERENCES
        if item in _BOUNDARIES:
            reach = Extent.AROUND
        # Only an escape, a class or a dot needs `re` to tell what it takes.
        elif item == "." or (len(item) > 1 and item[0] != "("):
            takes_slash = re.compile(item, FLAGS).match("/") is not None
            reach = Extent.SLASHES if takes_slash and reach is Extent.SEGMENT else reach
        elif item == "/" and reach is Extent.SEGMENT:
            reach = Extent.SLASHES
    return reach


def has_back_reference(expression: str) -> bool:
    r"""Whether an expression refers to a group of its own by number, e.g. `(a|b)\1`."""
    return any(_BACK_REFERENCE.fullmatch(match[0]) for match in _ITEM.finditer(expression)) or bool(
        re.search(r"\(\?\([0-9]", expression)
    )


def without_outer_group(expression: str) -> str:
    """Takes away a capturing group around the whole: `(a|b)` is `a|b`."""
    if expression[:1] != "(" or expression[-1] != ")" or expression[1:2] == "?":
        return expression
    depth = 0
    for match in _ITEM.finditer(expression):
        depth += match[0][0] == "("
        depth -= match[0] == ")"
        if depth == 0 and match.end() < len(expression):
            return expression
    return expression[1:-1] if depth == 0 else expression


def compile_expression(expression: str, path: str, method: str, then: str = "") -> re.Pattern[str]:
    r"""Compiles the expression of a parameter as a whole (`a|b` is one alternative of two).

    Args:
        expression: What stands between the braces.
        path: The route pattern it belongs to, for the error.
        method: The method of the route, for the error.
        then: What must follow the match, a regular expression; by default its end.

    Raises:
        UnsupportedPathError: If the expression is invalid; the text has the message of `re` and
            the position in `path`.
    """
    try:
        re.compile(expression, FLAGS)
        # Global flags, e.g. (?i), have to stand before all else.
        flags = _GLOBAL_FLAGS.match(expression)
        start = flags.end() if flags else 0
        whole = f"{expression[:start]}(?:{expression[start:]})" + (then or r"\Z")
        return re.compile(whole, FLAGS)
    except (re.error, OverflowError, RecursionError) as error:
        start = path.find("{" + expression + "}") + 1
        offset = getattr(error, "pos", None) or 0
        reason = f"invalid regular expression {expression!r}: {getattr(error, 'msg', error)}"
        raise UnsupportedPathError(path, reason, method, start + offset) from error
