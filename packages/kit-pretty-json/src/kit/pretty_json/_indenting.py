# SPDX-License-Identifier: MIT
"""Indents JSON text without decoding it, so that no value changes.

Decoding would lose details that Python doesn't keep: the spelling of numbers, repeated keys in an
object, escapes in strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# SPEC: RFC 8259 sections 2, 3, 6 and 7. Possessive, so that a long string needs no backtracking.
_STRING = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_SCALAR = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null"
_TOKEN = re.compile(rf"[ \t\n\r]++|({_STRING})|({_SCALAR})|([\[{{])|([\]}}])|([,:])|(.)", re.DOTALL)
_IS_STRING, _IS_SCALAR, _OPENS, _CLOSES, _SEPARATES, _IS_NO_TOKEN = range(1, 7)

# The states: what may come next. After a value comes a comma or the end of its container.
_VALUE, _VALUE_OR_END, _NAME, _NAME_OR_END, _COLON, _COMMA_OR_END = range(6)
_TAKES_VALUE = (_VALUE, _VALUE_OR_END)
_TAKES_NAME = (_NAME, _NAME_OR_END)
_MAY_END = (_VALUE_OR_END, _NAME_OR_END, _COMMA_OR_END)

# Indentation makes deeply nested arrays much larger: each line grows with its depth.
_MOST_GROWTH = 32
_ALWAYS_ALLOWED = 65536


# C901: one pass over the tokens; a function for each kind would take twice as long.
def indenter(space: int) -> Callable[[str], str | None]:  # noqa: C901
    """Returns a function that indents JSON as ECMA-262's JSON.stringify does.

    Args:
        space: Spaces per level; 0 writes everything on one line, without whitespace.

    Returns:
        The function. It returns None for invalid JSON (RFC 8259), and for a text that would become
        more than 32 times as long, and longer than 64 KiB.
    """
    step = " " * space
    colon = ": " if space else ":"

    def indented(text: str) -> str | None:  # noqa: C901
        room = max(_ALWAYS_ALLOWED, _MOST_GROWTH * len(text))  # for the beginnings of lines
        lines = ["\n" if space else ""]  # what begins a line, by depth
        inside: list[str] = []  # the end of each array or object that is open
        written: list[str] = []
        write = written.append
        expected = _VALUE
        line = lines[0]
        for match in _TOKEN.finditer(text):
            kind = match.lastindex
            if kind is None:
                continue
            part = match[kind]
            if kind == _SEPARATES:
                if part == ":":
                    if expected != _COLON:
                        return None
                    write(colon)
                    expected = _VALUE
                    continue
                if expected != _COMMA_OR_END or not inside:
                    return None
                write(",")
                write(line)
                room -= len(line)
                expected = _NAME if inside[-1] == "}" else _VALUE
            elif kind == _CLOSES:
                if not inside or inside.pop() != part or expected not in _MAY_END:
                    return None
                line = lines[len(inside)]
                if expected == _COMMA_OR_END:
                    write(line)
                    room -= len(line)
                write(part)
                expected = _COMMA_OR_END
                continue
            elif kind == _IS_STRING and expected in _TAKES_NAME:
                if expected == _NAME_OR_END:
                    write(line)
                    room -= len(line)
                write(part)
                expected = _COLON
            elif kind == _IS_NO_TOKEN or expected not in _TAKES_VALUE:
                return None
            else:
                if expected == _VALUE_OR_END:
                    write(line)
                    room -= len(line)
                write(part)
                expected = _COMMA_OR_END
                if kind == _OPENS:
                    inside.append("]" if part == "[" else "}")
                    expected = _VALUE_OR_END if part == "[" else _NAME_OR_END
                    if len(lines) <= len(inside):
                        lines.append(line + step)
                        room -= len(line)
                    line = lines[len(inside)]
            if room < 0:
                return None
        if inside or expected != _COMMA_OR_END:
            return None
        return "".join(written)

    return indented
