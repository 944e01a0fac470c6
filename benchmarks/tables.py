# SPDX-License-Identifier: MIT
"""Tables, printed as Markdown so that they can be put into a page as they are."""

from __future__ import annotations

from collections.abc import Sequence


class Table:
    """A table with a title, a column of labels and others of figures.

    Args:
        title: What stands above it.
        columns: Headings, without that of the labels.
    """

    def __init__(self, title: str, columns: Sequence[str]) -> None:
        self.title = title
        self._lines = [["", *columns]]

    @property
    def lines(self) -> list[list[str]]:
        """The cells of all lines, the headings first."""
        return self._lines

    def add(self, label: str, *cells: str) -> None:
        """Adds a line."""
        self._lines.append([label, *cells])

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self._lines, strict=True)]
        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        lines = [self._lines[0], rule, *self._lines[1:]]
        text = "\n".join(
            "| "
            + " | ".join(
                cell.ljust(width) if number == 0 else cell.rjust(width)
                for number, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            + " |"
            for line in lines
        )
        return f"{self.title[:1].upper()}{self.title[1:]}:\n\n{text}\n"
