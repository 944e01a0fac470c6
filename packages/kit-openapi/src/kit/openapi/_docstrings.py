# SPDX-License-Identifier: MIT
"""Parses Google-style docstrings: summary, description, responses and exceptions."""

from __future__ import annotations

import re
from typing import NamedTuple

_SECTION = re.compile(
    r"^(Args|Arguments|Attributes|Example|Examples|Keyword Args|Note|Notes|Raises|References"
    r"|Returns|See Also|Todo|Warns|Warnings|Yields):[ ]*$"
)
_ENTRY = re.compile(r"^\*{0,2}(\w[\w.]*)[ ]*(?:\([^)]*\))?:[ ]*(.*)$")
_STATUS = re.compile(r"^([1-5][0-9][0-9])\b[ ,:;-]*(.*)$", re.DOTALL)


class Docstring(NamedTuple):
    """The content of a docstring.

    Attributes:
        summary: Its first paragraph in one line, without the full stop.
        description: The paragraphs after it, up to the first section.
        prose: Summary and description as written.
        returns: The text of `Returns:`.
        attributes: The entries of `Attributes:`, by name.
        statuses: The entries of `Raises:` that begin with a status: a mapping of status to text.
    """

    summary: str = ""
    description: str = ""
    prose: str = ""
    returns: str = ""
    attributes: dict[str, str] = {}  # noqa: RUF012 - a default that nobody changes
    statuses: dict[int, str] = {}  # noqa: RUF012


def parse(text: str | None) -> Docstring:
    """Parses a docstring.

    Args:
        text: The docstring, with its indentation; None if there is none.

    Returns:
        Its content; sections in other styles are part of the description.
    """
    if not text or not text.strip():
        return Docstring()
    from inspect import cleandoc

    text = text.encode(errors="replace").decode()  # JSON has no lone surrogates
    sections = _sections(cleandoc(text))
    prose = sections.pop("", "").strip()
    first, _, rest = prose.partition("\n\n")
    statuses: dict[int, str] = {}
    for _, entry in _entries(sections.get("Raises", "")):
        match = _STATUS.match(entry)
        if match:
            statuses.setdefault(int(match[1]), _sentence(match[2]))
    return Docstring(
        summary=" ".join(first.split()).removesuffix("."),
        description=rest.strip(),
        prose=prose,
        returns=_sentence(sections.get("Returns", "")),
        attributes=dict(_entries(sections.get("Attributes", ""))),
        statuses=statuses,
    )


def _sections(text: str) -> dict[str, str]:
    """Splits the text at the section headings; the part before the first one has the name ''."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in text.splitlines():
        heading = _SECTION.match(line)
        if heading:
            name = heading[1]
            found.setdefault(name, [])
        elif name and line and not line[0].isspace():
            name = ""  # prose after a section
            found[name].append(line)
        else:
            found[name].append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items()}


def _entries(section: str) -> list[tuple[str, str]]:
    from textwrap import dedent

    entries: list[tuple[str, str]] = []
    for line in dedent(section).splitlines():
        match = None if line[:1].isspace() else _ENTRY.match(line)
        if match:
            entries.append((match[1], match[2]))
        elif entries and line.strip():
            name, text = entries[-1]
            entries[-1] = (name, f"{text} {line.strip()}".strip())
    return entries


def _sentence(text: str) -> str:
    """Returns one line that begins with a capital letter and has no full stop at its end."""
    line = " ".join(text.split()).removesuffix(".")
    return line[:1].upper() + line[1:]
