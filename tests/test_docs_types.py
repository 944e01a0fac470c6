# SPDX-License-Identifier: MIT
"""The apps of README and docs pass mypy --strict and pyright as they are written."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import documents
import pytest
from commands import run
from documents import ROOT, Block
from environments import install_pinned, new_environment

pytestmark = [pytest.mark.slow, pytest.mark.once]

PAGES = (
    "README.md",
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md")),
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("packages/*/README.md")),
)
MAKES_AN_APP = re.compile(r"^\w+ = Kit(?:\[.*\])?\(", re.MULTILINE)
# Beside what Kit needs.
IMPORTED = (
    "a2wsgi",
    "argon2-cffi",
    "fastapi",
    "flask",
    "granian",
    "hypercorn",
    "mangum",
    "pydantic",
    "starlette",
)


def sources(page: str) -> dict[str, str]:
    """The apps of a page, and the modules of the page that they import, as files.

    The lines have the numbers that they have on the page.
    """
    blocks = [block for block in documents.read(page).blocks if block.language == "python"]
    stem = re.sub(r"\W", "_", page.removesuffix(".md"))
    files: dict[str, str] = {}
    imported: set[str] = set()
    text = ""
    for block in blocks:
        text = padded(text if block.continues else "", block)
        if MAKES_AN_APP.search(text) and not block.not_typed and not is_test(block):
            files[f"{stem}_{block.line}.py"] = text
            imported |= {f"{name}.py" for name in re.findall(r"^from (\w+) ", text, re.MULTILINE)}
    return files | {block.title: padded("", block) for block in blocks if block.title in imported}


def padded(text: str, block: Block) -> str:
    """Puts a block behind a text, at its line."""
    return text + "\n" * (block.line - text.count("\n")) + block.text


def is_test(block: Block) -> bool:
    return Path(block.title).name.startswith("test_")


def test_apps_of_the_docs_are_typed(wheels: dict[str, Path], tmp_path: Path) -> None:
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *wheels.values(), "mypy", "pyright[nodejs]", *IMPORTED)
    work = tmp_path / "work"
    work.mkdir()
    names: list[str] = []
    for page in PAGES:
        found = sources(page)
        assert not {*names}.intersection(found), "two pages have modules of one name"
        names += found
        for name, text in found.items():
            (work / name).write_text(text)
    assert len(names) > len(PAGES)
    version = ".".join(map(str, sys.version_info[:2]))
    settings = {"typeCheckingMode": "basic", "pythonVersion": version}
    (work / "pyrightconfig.json").write_text(json.dumps(settings))
    tools = python.parent
    assert run(tools / "mypy", "--strict", *names, cwd=work).startswith("Success: no issues")
    said = run(tools / "pyright", "--pythonpath", python, "-p", work, cwd=work)
    assert said.startswith("0 errors, 0 warnings")
