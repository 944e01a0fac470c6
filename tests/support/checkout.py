# SPDX-License-Identifier: MIT
"""Copies of this repository, for scripts that change or check a whole checkout."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from workspace import ROOT

# Made by tools, and large; the lock file spares uv the search for versions.
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "dist", "*.db*")
_SITE = "site"  # of the docs; an example has the same name


class Checkout:
    """A copy of the files of the repository as they are.

    Args:
        root: A folder that isn't there.
        without: Folders of the repository that the copy has no need of.
    """

    def __init__(self, root: Path, without: Iterable[str] = ()) -> None:
        left_out = {_SITE, *without}

        def ignore(folder: str, names: list[str]) -> set[str]:
            found = _LEFT_OUT(folder, names)
            return found | left_out if Path(folder) == ROOT else found

        shutil.copytree(ROOT, root, ignore=ignore)
        self.root = root

    def read(self, name: str) -> str:
        """Returns the text of a file."""
        return (self.root / name).read_text()

    def write(self, name: str, text: str) -> None:
        """Writes a file, in a new folder if need be."""
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        """Replaces a text that is there once."""
        text = self.read(name)
        assert text.count(old) == 1, (name, old)
        self.write(name, text.replace(old, new))

    def restore(self, files: dict[str, bytes]) -> None:
        """Undoes all changes since `files()` gave these."""
        now = self.files()
        for name in now.keys() - files.keys():
            (self.root / name).unlink()
        for name, content in files.items():
            if now.get(name) != content:
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                (self.root / name).write_bytes(content)
        for folder in sorted(self.root.rglob("*"), reverse=True):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def files(self) -> dict[str, bytes]:
        """Returns what is in all files, by their names."""
        paths = (path for path in self.root.rglob("*") if path.is_file())
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in paths
            if "__pycache__" not in path.parts
        }
