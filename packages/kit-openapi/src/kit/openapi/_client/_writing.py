# SPDX-License-Identifier: MIT
"""Writes Python in the style of formatters, with lines of at most 88 characters."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
_WORD = re.compile(r"[A-Za-z0-9]+")
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Names:
    """Unique names in one scope.

    Args:
        taken: Names that can't be used.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*taken}

    def free(self, name: str) -> str:
        """Returns a unique name: with `_` after keywords and client names, a number if taken."""
        found = f"{name}_" if keyword.iskeyword(name) or name in _USED else name
        number = 2
        while found in self._taken:
            found = f"{name}_{number}"
            number += 1
        self._taken.add(found)
        return found


def snake(text: str) -> str:
    """Returns a text as the name of a variable, e.g. `display_name`."""
    words = [word.lower() for part in _WORD.findall(text) for word in _BOUNDARY.split(part)]
    name = "_".join(words) or "value"
    return f"_{name}" if name[0].isdigit() else name


def pascal(text: str) -> str:
    """Returns a text as the name of a class, e.g. `BookInput`."""
    name = "".join(word[:1].upper() + word[1:] for word in _WORD.findall(text)) or "Model"
    return f"_{name}" if name[0].isdigit() else name


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
