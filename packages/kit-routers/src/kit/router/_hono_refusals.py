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
from typing import TypeAlias

from kit.interface import METHOD_NAME_ALL

_TOKEN = re.compile(r":[^/]+|/\*\Z|.", re.DOTALL)
_PARAMETER = re.compile(r":([^{}]+)(?:\{(.+)\})?", re.DOTALL)
_BRACES = re.compile(r"\{(?:\{[0-9,]+\}|[^}])+\}")
_MARK = re.compile("\x00([0-9]+)\x00")
_OUTER_GROUP = re.compile(r"\((?!\?:)(?=[^)]+\)\Z)")
_GROUP = re.compile(r"\((?!\?:)")
_ONE_SEGMENT = "[^/]+"
_WILDCARDS = {"*": ".*", "/*": "(?:|/.*)"}
_RESTS = frozenset(_WILDCARDS.values())
_META = frozenset(".\\+*[^]$()")


_Key: TypeAlias = tuple[str, bool]
"""The text that a node is found by, and whether it is an expression.

An expression of one character has the same text as that character.
"""


class _Node:
    __slots__ = ("children", "ends")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.ends = False


def is_refused(routes: Iterable[tuple[str, Sequence[str]]]) -> bool:
    """Returns whether Hono's RegExpRouter rejects a table.

    Args:
        routes: For each route, in the order of registration, its method and its patterns without
            optional parameters.
    """
    table = list(routes)
    return not all(
        _takes(
            pattern
            for method, variants in table
            if method in (own, METHOD_NAME_ALL)
            for pattern in variants
        )
        for own in {method for method, _ in table}
    )


def _takes(patterns: Iterable[str]) -> bool:
    root = _Node()
    different = dict.fromkeys("*" if pattern == "/*" else pattern for pattern in patterns)
    return all(_insert(root, _keys(pattern)) for pattern in different)


def _keys(pattern: str) -> list[_Key] | None:
    """Returns the keys of a pattern; None if one of its expressions is refused."""
    if not ("*" in pattern or "/:" in pattern) or "\0" in pattern:  # "\0" marks an expression below
        return [(character, False) for character in pattern]
    tokens = _tokens(pattern)
    keys = []
    for number, token in enumerate(tokens):
        key = _key(token, is_last=number == len(tokens) - 1)
        if key is None:
            return None
        keys.append(key)
    return keys


def _tokens(pattern: str) -> list[str]:
    """Splits a pattern into characters, but keeps a parameter and a last `/*` whole."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    tokens = _TOKEN.findall(_BRACES.sub(keep, pattern))
    return [_MARK.sub(lambda match: kept[int(match[1])], token) for token in tokens]


def _key(token: str, *, is_last: bool) -> _Key | None:
    """Returns the key of a token; None if its expression is refused."""
    if token in _WILDCARDS:
        return _WILDCARDS[token] if is_last else _ONE_SEGMENT, True
    match = _PARAMETER.fullmatch(token)
    if match is None:
        return token, False
    if match[2] is None:
        return _ONE_SEGMENT, True
    expression = _OUTER_GROUP.sub("(?:", match[2], count=1)
    is_bad = expression in _META or _GROUP.search(expression) or re.search(match[2], "")
    return None if is_bad else (expression, True)


def _insert(node: _Node, keys: list[_Key] | None) -> bool:
    """Inserts a pattern; returns False if it is refused beside those already inserted."""
    for key, is_expression in keys or ():
        child = node.children.get(key)
        if child is None:
            # The rest of a path is tried last, so it doesn't conflict with anything.
            others = () if key in _RESTS else node.children.keys() - _RESTS
            if any((is_expression and len(key) > 1) or len(other) > 1 for other in others):
                return False
            child = node.children[key] = _Node()
        node = child
    if keys is None or node.ends:
        return False
    node.ends = True
    return True
