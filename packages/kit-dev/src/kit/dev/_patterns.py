# SPDX-License-Identifier: MIT
"""Whether one route pattern takes every path that another one takes.

An answer of True is certain; where it can't be told, above all between two different expressions,
the answer is False. The routers themselves can't be asked: a match would close them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_SLASH = re.compile(r"\{[^}]+\}|(/)", re.DOTALL)
_PARAMETER = re.compile(r":([^{}]+)(?:\{(.+)\})?", re.DOTALL)
# As the routers read them: \d is 0-9, and a newline is a character like any other.
_FLAGS = re.ASCII | re.DOTALL
# What an expression may be made of for it to be told that it takes no slash. A class and an escape
# are looked at one by one; lookarounds, references and flags are not among them.
_ITEMS = re.compile(
    r"(?P<takes>\\[dw]|\[\^?\]?(?:\\.|[^\]\\])*\])|\\[-._~]|[A-Za-z0-9_~@%,;-]"
    r"|[*+?|()]|\(\?:|\{[0-9]+(?:,[0-9]*)?\}",
    re.DOTALL,
)


class Segment(NamedTuple):
    """What stands between two slashes of a pattern.

    A literal or `*` (`name` and `expression` are None), `:name` (`expression` is None), or
    `:name{expression}`.
    """

    text: str
    name: str | None
    expression: str | None

    @property
    def is_star(self) -> bool:
        return self.name is None and self.text == "*"


def covers(general: str, special: str) -> bool:
    """Whether every path that the pattern `special` takes is one that `general` takes too."""
    return all(
        any(_covers(one, other) for one in read_variants(general))
        for other in read_variants(special)
    )


@cache  # each is compared with several others
def read_variants(pattern: str) -> list[list[Segment]]:
    """Gives the segments of a pattern, or of each of those that it stands for."""
    return [_segments(variant) for variant in _variants(pattern)]


def _variants(pattern: str) -> list[str]:
    """The patterns that one with optional parameters at its end stands for."""
    if not pattern.endswith("?") or ":" not in pattern:
        return [pattern]
    variants: list[str] = []
    base = ""
    for text in _split(pattern):
        if ":" in text and text.endswith("?"):
            text = text[:-1]
            variants += (base or "/", f"{base}/{text}")
        if text:
            base += "/" + text
    return variants or [pattern]


def _segments(pattern: str) -> list[Segment]:
    matches = [(text, _PARAMETER.fullmatch(text)) for text in _split(pattern)]
    return [Segment(text, m and m[1], m and m[2]) for text, m in matches]


def _split(pattern: str) -> list[str]:
    texts = []
    start = 1 if pattern.startswith("/") else 0
    for match in _SLASH.finditer(pattern, start):
        if match[1]:
            texts.append(pattern[start : match.start()])
            start = match.end()
    texts.append(pattern[start:])
    return texts


def _covers(general: list[Segment], special: list[Segment]) -> bool:
    for index, one in enumerate(general):
        is_last = index + 1 == len(general)
        rest = special[index:]
        if one.is_star and is_last:
            return True  # also where there is no segment any more: `/a/*` takes `/a`
        if not rest:
            return False
        other = rest[0]
        if is_last and one.name is None and one.text.endswith("*"):
            return other.name is None and other.text.startswith(one.text[:-1])
        if is_last and one.expression in (".*", ".+"):
            return _is_filled(other) or (one.expression == ".*" and not _may_be_absent(rest))
        # A last `*` is the rest of the path, or none, which one segment can't stand for.
        if (other.is_star or _is_prefix(other)) and len(rest) == 1:
            return False
        if one.expression is not None and one.expression == other.expression:
            if _in_one_segment(one.expression):
                continue
            return [s.text for s in general[index + 1 :]] == [s.text for s in rest[1:]]
        if not _takes(one, other):
            return False
    return len(special) == len(general)


def _takes(one: Segment, other: Segment) -> bool:
    """Whether a segment of a pattern takes whatever another one does, and no more than that."""
    if one.is_star:
        return other.is_star or _is_filled(other)
    if one.name is None:
        return other.name is None and one.text == other.text
    if one.expression is None:
        return _is_filled(other)
    return (
        other.name is None
        and not other.is_star
        and _in_one_segment(one.expression)
        and re.fullmatch(one.expression, other.text, _FLAGS) is not None
    )


def _is_prefix(segment: Segment) -> bool:
    return segment.name is None and segment.text.endswith("*")


def _may_be_absent(rest: list[Segment]) -> bool:
    return len(rest) == 1 and rest[0].is_star


def _is_filled(segment: Segment) -> bool:
    """Whether it takes exactly one segment of a path, and never an empty one."""
    if segment.name is None:
        return bool(segment.text) and not segment.is_star
    if segment.expression is None:
        return True
    return _in_one_segment(segment.expression) and not re.fullmatch(segment.expression, "", _FLAGS)


def _in_one_segment(expression: str) -> bool:
    """Whether an expression is certain to take no slash."""
    position = 0
    while position < len(expression):
        match = _ITEMS.match(expression, position)
        if match is None:
            return False
        if match["takes"] and re.match(match["takes"], "/", _FLAGS):
            return False
        position = match.end()
    try:
        re.compile(expression, _FLAGS)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
