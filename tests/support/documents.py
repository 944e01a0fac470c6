# SPDX-License-Identifier: MIT
"""Reads the Markdown of docs and READMEs: code blocks, headings and links.

A comment before a block, which readers don't see, says how it is to be taken:

    <!-- not run: why -->     it can't be run here
    <!-- not typed: why -->   it shows what a type checker refuses
    <!-- continues -->        it goes on with the names of the Python block before
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# Where links lead that leave the site: files of the repository.
REPOSITORY = re.compile(r"https://github\.example/kit/kit/(?:blob|tree)/main/")

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<info>[^`]*)$")
_MARKER = re.compile(r"^ *<!-- (not run|not typed|continues)(?:: (.+?))? -->$")
_HEADING = re.compile(r"^(#{1,6}) (.+?)(?: \{#([\w-]+)\})?$")
# What scripts/reference.py takes from docstrings.
_GENERATED = re.compile(
    r"^<!-- reference: [\w.]+ -->$.*?^<!-- end of reference -->$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\]\(<?([^)\s>]+)>?\)")


class Heading(NamedTuple):
    """A heading of a document."""

    level: int
    text: str
    anchor: str
    line: int


@dataclass
class Block:
    """A code block: `place` is for messages, `line` the number of its first fence."""

    document: str
    line: int
    language: str
    title: str
    text: str
    not_run: str = ""
    not_typed: str = ""
    continues: bool = False

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"


@dataclass
class Document:
    """A Markdown file, by its path from the root of the repository."""

    name: str
    blocks: list[Block] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    prose: str = ""

    def section(self, heading: str) -> list[Block]:
        """Returns the blocks below a heading, up to the next heading of any level."""
        [start] = [each.line for each in self.headings if each.text == heading]
        end = min((each.line for each in self.headings if each.line > start), default=None)
        return [b for b in self.blocks if b.line > start and (end is None or b.line < end)]

    @property
    def anchors(self) -> set[str]:
        return {heading.anchor for heading in self.headings}


def read(name: str) -> Document:
    """Reads a document of the repository."""
    document = Document(name)
    prose: list[str] = []
    marker: re.Match[str] | None = None
    lines = _GENERATED.sub("\\n", (ROOT / name).read_text()).splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if fence := _FENCE.match(line):
            start = number
            end = f"{fence['indent']}{fence['fence']}"
            while lines[number] != end:
                number += 1
            code = [each.removeprefix(fence["indent"]) for each in lines[start:number]]
            document.blocks.append(_block(name, start, fence["info"], code, marker))
            number += 1
            marker = None
        elif match := _MARKER.match(line):
            marker = match
        elif line.strip():
            assert marker is None, f"{name}:{number}: a marker stands before no block"
            prose.append(line)
            if heading := _HEADING.match(line):
                document.headings.append(_heading(heading, document.anchors, number))
    document.prose = "\n".join(prose)
    document.links = _LINK.findall(re.sub(r"`[^`\n]*`", "", document.prose))
    return document


def _block(name: str, line: int, info: str, code: list[str], marker: re.Match[str] | None) -> Block:
    language, _, attributes = info.strip().partition(" ")
    title = re.search(r'title="([^"]+)"', attributes)
    block = Block(name, line, language, title[1] if title else "", "\n".join([*code, ""]))
    if marker is not None and marker[1] == "continues":
        block.continues = True
    elif marker is not None:
        assert marker[2], f"{block.place}: the marker gives no reason"
        if marker[1] == "not run":
            block.not_run = marker[2]
        else:
            block.not_typed = marker[2]
    return block


def _heading(match: re.Match[str], taken: set[str], line: int) -> Heading:
    """A heading with its anchor, as Python-Markdown and GitHub make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[2]).replace("`", "")
    anchor = match[3] or re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())
    unique, count = anchor, 1
    while unique in taken:
        unique, count = f"{anchor}_{count}", count + 1
    return Heading(len(match[1]), text, unique, line)


def dead_links(name: str) -> list[str]:
    """The links of a document that lead to no file of the repository, or to no heading there."""
    document = read(name)
    return [link for link in document.links if not _leads_somewhere(name, document, link)]


def _leads_somewhere(name: str, document: Document, link: str) -> bool:
    if "://" in link and not REPOSITORY.match(link):
        return link.startswith("https://")
    path, _, anchor = link.partition("#")
    if REPOSITORY.match(path):
        target = REPOSITORY.sub("", path)
    else:
        target = os.path.normpath(PurePosixPath(name).parent / path) if path else name
    if not (ROOT / target).exists():
        return False
    # Those with a dot are of the reference, made of docstrings; the build of the site sees to them.
    return not anchor or "." in anchor or anchor in (read(target) if path else document).anchors
