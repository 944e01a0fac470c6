# SPDX-License-Identifier: MIT
"""The page about clients: its commands generate them, and its programs call served apps."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import documents
import pytest
from documents import ROOT
from npm import run_npm

if TYPE_CHECKING:
    from conftest import Served

pytestmark = [pytest.mark.once, pytest.mark.slow]

PAGE = documents.read("docs/clients.md")
PACKAGE = re.compile(r"(@?[\w./-]+)@(\d[\w.]*)")


def find_packages() -> dict[str, str]:
    """The packages that the page installs, with their versions."""
    lines = [line for block in PAGE.blocks for line in block.text.splitlines()]
    installed = [line for line in lines if line.startswith("$ npm install ")]
    return dict(match for line in installed for match in PACKAGE.findall(line))


class Reader:
    """Does what the page says, in a folder.

    Args:
        folder: The folder.
        npm: What `install_npm` returned.
        urls: The URLs of served apps, by those of the page.
    """

    def __init__(self, folder: Path, npm: Path, urls: Mapping[str, str]) -> None:
        self._folder = folder
        self._npm = npm
        self._urls = urls

    def follow(self) -> None:
        """Writes the files, and runs the commands."""
        for block in PAGE.blocks:
            if block.title:
                self._write(block.title, block.text)
            elif block.language == "sh":  # what the environment of this test has
                assert block.text.startswith("pip install "), block.place
            else:
                assert block.language == "console", block.place
                for command, expected in _split(block.text):
                    printed = self._run(command)
                    assert not expected or printed == expected, f"{block.place}: {command}"

    def _write(self, name: str, text: str) -> None:
        for known, url in self._urls.items():
            text = text.replace(known, url)
        (self._folder / name).write_text(text)

    def _run(self, command: str) -> str:
        program, *arguments = shlex.split(command)
        if program == "npm":  # what `find_packages` returned is installed
            assert arguments[0] == "install"
            return ""
        if program == "npx":
            return run_npm(self._npm, *arguments, cwd=self._folder)
        if program == "node":
            return run_npm(self._npm, program, *arguments, cwd=self._folder)
        found = Path(sys.executable).with_name(program)
        environment = {**os.environ, "PYTHONPATH": str(self._folder)}
        done = subprocess.run(
            [str(found), *arguments],
            capture_output=True,
            text=True,
            cwd=self._folder,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Yields the commands of a block, and what each prints."""
    for each in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = each.partition("\n")
        yield command, printed


def test_page_is_true(
    npm: Callable[[Mapping[str, str]], Path],
    serve: Callable[..., Served],
    database: Path,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "project"
    without = shutil.ignore_patterns("*.db*", "*.secret", "__pycache__", "tests")
    shutil.copytree(ROOT / "examples" / "bookshelf", folder, ignore=without)
    installed = npm(find_packages())
    (folder / "node_modules").symlink_to(installed / "node_modules")
    [clock] = [block for block in PAGE.blocks if block.title == "clock.py"]
    (folder / "clock.py").write_text(clock.text)
    urls = {
        "http://127.0.0.1:8000": serve(folder, "app:app", BOOKSHELF_DB=str(database)).url,
        "http://127.0.0.1:8001": serve(folder, "clock:app").url,
    }
    Reader(folder, installed, urls).follow()
