# SPDX-License-Identifier: MIT
"""Writes Python in the style of formatters, with lines of at most 88 characters."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .._names import UniqueNames

WIDTH = 88
_INDENT = "    "
# Names in annotations and bodies of a client: a field or method with such a name would hide them.
_USED = {
    "str",
    "int",
    "float",
    "bool",
    "bytes",
    "list",
    "dict",
    "tuple",
    "base64",
    "contextlib",
    "datetime",
}
_USED |= {"decimal", "httpx", "msgspec", "quote", "uuid"}
_RESERVED = {*keyword.kwlist, *_USED}


def make_names(taken: Iterable[str] = ()) -> UniqueNames:
    """Returns the unique names of a scope: with `_` after keywords and names of the client."""
    return UniqueNames(taken, _RESERVED)


def quoted(text: str) -> str:
    """Returns a string literal with double quotes, as preferred by formatters."""
    shown = repr(text)
    if shown.startswith("'") and '"' not in shown and "\\'" not in shown:
        return f'"{shown[1:-1]}"'
    return shown


def literal(value: object) -> str:
    """Returns a literal of a JSON scalar."""
    return quoted(value) if isinstance(value, str) else repr(value)


class Group(NamedTuple):
    """A call, definition or literal: on one line if it fits, otherwise one argument per line.

    Attributes:
        head: The text before the arguments, including the opening bracket.
        arguments: The arguments.
        tail: The text after them, including the closing bracket.
    """

    head: str
    arguments: Sequence[str | Group]
    tail: str

    @property
    def flat(self) -> str:
        """The group on one line."""
        inner = [each if isinstance(each, str) else each.flat for each in self.arguments]
        return f"{self.head}{', '.join(inner)}{self.tail}"

    def lines(self, depth: int, end: str = "") -> list[str]:
        """Writes it.

        Args:
            depth: Its indentation depth.
            end: The text after it.
        """
        indent = _INDENT * depth
        line = f"{indent}{self.flat}{end}"
        if len(line) <= WIDTH or not self.arguments:
            return [line]
        inner: list[str] = []
        for each in self.arguments:
            inner += (Group(each, (), "") if isinstance(each, str) else each).lines(depth + 1, ",")
        return [f"{indent}{self.head}", *inner, f"{indent}{self.tail}{end}"]


def call(head: str, arguments: Sequence[str | Group], tail: str, depth: int) -> list[str]:
    """Writes a `Group`."""
    return Group(head, arguments, tail).lines(depth)


def _is_shown(character: str) -> bool:
    return character.isprintable() or character == "\n"


def docstring(text: str, depth: int) -> list[str]:
    """Writes a docstring; none for an empty text."""
    cleaned = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    cleaned = "".join(each if _is_shown(each) else ascii(each)[1:-1] for each in cleaned)
    if not cleaned:
        return []
    indent = _INDENT * depth
    first, *rest = [line.rstrip() for line in cleaned.splitlines()]
    if first.startswith('"'):
        first = f" {first}"
    if not rest:
        end = " " if first.endswith('"') else ""
        return [f'{indent}"""{first}{end}"""']
    lines = [f"{indent}{line}" if line else "" for line in rest]
    return [f'{indent}"""{first}', *lines, f'{indent}"""']
