# SPDX-License-Identifier: MIT
"""The order of results: fields, completed by a key that keeps it unambiguous."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Term(NamedTuple):
    """A field that results are sorted by. A missing value counts as greater than all others.

    Attributes:
        field: The field.
        descending: Whether greater values come first.
    """

    field: str
    descending: bool

    def reversed(self) -> Term:
        """Returns the opposite order."""
        return Term(self.field, not self.descending)

    def __str__(self) -> str:
        return f"-{self.field}" if self.descending else self.field


def parse_sort(text: str, allowed: Sequence[str]) -> tuple[Term, ...]:
    """Parses a list of fields, such as `-year,title`.

    Args:
        text: Names with commas between them; `-` before one stands for descending order.
        allowed: The fields that may be sorted by.

    Raises:
        ValueError: If a field isn't allowed, or occurs twice.
    """
    terms: list[Term] = []
    for part in text.split(","):
        name = part.strip()
        term = Term(name.removeprefix("-"), name.startswith("-"))
        if term.field not in allowed:
            raise ValueError(
                f"Expected {', '.join(allowed)}, or one of these after -, got {term.field!r:.50}"
            )
        if any(each.field == term.field for each in terms):
            raise ValueError(f"Expected each field once, got {term.field!r} twice")
        terms.append(term)
    return tuple(terms)


def complete(terms: Sequence[Term], key: Sequence[str]) -> tuple[Term, ...]:
    """Adds the fields of the key, in the direction of the last term, so that nothing is equal."""
    descending = terms[-1].descending if terms else False
    own = {each.field for each in terms}
    return (*terms, *(Term(name, descending) for name in key if name not in own))
