# SPDX-License-Identifier: MIT
"""Predicts which router Hono would use for a table of routes, where that makes a difference.

A `*` in the middle of a pattern matches an empty segment in Hono's TrieRouter, but not in its
RegExpRouter. A Hono app uses TrieRouter if its RegExpRouter rejects one of the routes. Kit's
RegExpRouter accepts nearly all tables; to match like the same app in Hono, it needs to know which
router Hono uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kit.interface import METHOD_NAME_ALL

_TOKEN = re.compile(r":[^/]+|/\*\Z|.", re.DOTALL)
_PARAMETER = re.compile(r":([^{}]+)(?:\{(.+)\})?", re.DOTALL)
_BRACES = re.compile(r"\{[^}]+\}")
_OUTER_GROUP = re.compile(r"\((?!\?:)(?=[^)]+\)\Z)")
_GROUP = re.compile(r"\((?!\?:)")
_ONE_SEGMENT = "[^/]+"
_WILDCARDS = {"*": ".*", "/*": "(?:|/.*)"}


class _Node:
    __slots__ = ("children", "ends")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.ends = False


def is_refused(routes: Iterable[tuple[str, Sequence[str]]]) -> bool:
    """Returns whether Hono's RegExpRouter rejects a table.

    Args:
        routes: For each route, its method and its patterns without optional parameters.
    """
    table = list(routes)
    shared = [
        pattern for method, variants in table if method == METHOD_NAME_ALL for pattern in variants
    ]
    for own in {method for method, _ in table}:
        patterns = [pattern for method, variants in table if method == own for pattern in variants]
        if not _takes({*patterns, *shared}):
            return True
    return False


def _takes(patterns: set[str]) -> bool:
    root = _Node()
    patterns = {"*" if pattern == "/*" else pattern for pattern in patterns}
    dynamic = [pattern for pattern in patterns if "*" in pattern or "/:" in pattern]
    literal = [pattern for pattern in patterns if pattern not in {*dynamic}]
    ordered = sorted(dynamic, key=len)
    return all(_insert(root, _tokens(pattern), check_only=False) for pattern in ordered) and all(
        _insert(root, _tokens(pattern), check_only=True) for pattern in literal
    )


def _tokens(pattern: str) -> list[str]:
    """Splits a pattern into characters, but keeps a parameter and a last `/*` whole."""
    if "\0" in pattern:  # marks an expression below; no request path contains one
        return [*pattern]
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    tokens = _TOKEN.findall(_BRACES.sub(keep, pattern))
    return [
        re.sub("\x00([0-9]+)\x00", lambda match: kept[int(match[1])], token) for token in tokens
    ]


def _insert(node: _Node, tokens: list[str], *, check_only: bool) -> bool:
    """Inserts a pattern; returns False if it conflicts with those already inserted."""
    for number, token in enumerate(tokens):
        expression = _expression(token, is_last=number == len(tokens) - 1)
        key = token if expression is None else expression
        if expression is not None and not _fits(token, expression):
            return False
        child = node.children.get(key)
        if child is None:
            # The rest of a path is tried last, so it doesn't conflict with anything.
            for other in node.children if expression != _WILDCARDS["/*"] else ():
                if other not in _WILDCARDS.values() and (expression is not None or len(other) > 1):
                    return False
            if check_only:
                return True
            child = node.children[key] = _Node()
        node = child
    if node.ends:
        return False
    node.ends = not check_only
    return True


def _expression(token: str, *, is_last: bool) -> str | None:
    """Returns the expression for a token, or None if it is literal."""
    if token in _WILDCARDS:
        return _WILDCARDS[token] if is_last else _ONE_SEGMENT
    match = _PARAMETER.fullmatch(token)
    if match is None:
        return None
    return _OUTER_GROUP.sub("(?:", match[2] or _ONE_SEGMENT, count=1)


def _fits(token: str, expression: str) -> bool:
    return not token.startswith(":") or (expression != ".*" and not _GROUP.search(expression))
