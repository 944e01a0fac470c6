# SPDX-License-Identifier: MIT
"""Names for what a document names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_WORD = re.compile(r"[A-Za-z0-9]+")
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class UniqueNames:
    """Unique names in one scope.

    Args:
        taken: Names that can't be used; a number is added to them.
        reserved: Names that can't be used; `_` is added to them.
    """

    def __init__(self, taken: Iterable[str] = (), reserved: Collection[str] = ()) -> None:
        self._taken = {*taken}
        self._reserved = reserved

    def free(self, name: str) -> str:
        """Returns a unique name."""
        found = f"{name}_" if name in self._reserved else name
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


def camel(text: str) -> str:
    """Returns a text as the name of a variable, e.g. `displayName`."""
    first, *rest = snake(text).lstrip("_").split("_")
    name = first + "".join(word[:1].upper() + word[1:] for word in rest)
    return f"_{name}" if name[0].isdigit() else name


def pascal(text: str) -> str:
    """Returns a text as the name of a class, e.g. `BookInput`."""
    name = "".join(word[:1].upper() + word[1:] for word in _WORD.findall(text)) or "Model"
    return f"_{name}" if name[0].isdigit() else name
