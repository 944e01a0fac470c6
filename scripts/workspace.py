# SPDX-License-Identifier: MIT
"""The packages of the workspace, read from their folders.

Scripts and tests get them from here, so that a new package needs no entry in a list.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# The package with `kit/__init__.py`, and with all modules of `kit` that are in no other package.
CORE = "kit-core"
INTERFACE = "kit-interface"
AUTHORING = "kit-authoring"
# Extras of kit-core that are for apps. The core itself imports nothing of them.
BUNDLES = {"standard", "api", "web", "all"}


class Package:
    """A distribution: a folder of `packages`.

    Attributes:
        name: Name of the distribution and of its folder.
        folder: The folder.
        source: The folder that contains its modules.
        project: The table `project` of its pyproject.toml.
    """

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.folder = folder
        self.source = folder / "src"
        settings = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        self.project: dict[str, Any] = settings["project"]

    @property
    def summary(self) -> str:
        """The description for a table of packages, without the name of Kit and the full stop."""
        description: str = self.project["description"]
        return re.sub(r",? (?:of|for) the Kit web framework", "", description).removesuffix(".")

    @property
    def is_middleware(self) -> bool:
        """Whether it registers middleware."""
        return "kit.middleware" in self.project.get("entry-points", {})

    @property
    def needs(self) -> set[str]:
        """The distributions of Kit that it depends on, without those of its extras."""
        return _of_kit(self.project.get("dependencies", ()))

    @property
    def declares(self) -> set[str]:
        """The distributions of Kit that its modules may import, including those of its extras."""
        bundles = BUNDLES if self.name == CORE else ()
        extras = self.project.get("optional-dependencies", {}).items()
        return self.needs.union(*(_of_kit(lines) for name, lines in extras if name not in bundles))

    @cached_property
    def files(self) -> dict[str, Path]:
        """The files of its wheel, by their path in it."""
        found = (path for path in sorted(self.source.rglob("*")) if path.is_file())
        return {
            path.relative_to(self.source).as_posix(): path
            for path in found
            if path.parent.name != "__pycache__"
        }

    @property
    def entries(self) -> set[str]:
        """The names of its folders and modules in the folder `kit`."""
        return {parts[1] for name in self.files if len(parts := PurePosixPath(name).parts) > 1}

    @property
    def leaves(self) -> list[str]:
        """The import names that it owns, e.g. `kit.logger`: its folders with a `py.typed`."""
        typed = (PurePosixPath(name) for name in self.files)
        return sorted(".".join(path.parent.parts) for path in typed if path.name == "py.typed")

    @property
    def modules(self) -> dict[str, Path]:
        """Its modules, by their import names."""
        return {
            ".".join(PurePosixPath(name).with_suffix("").parts).removesuffix(".__init__"): path
            for name, path in self.files.items()
            if name.endswith(".py")
        }


def packages(root: Path = ROOT) -> dict[str, Package]:
    """Returns the packages of a workspace by name, in alphabetical order."""
    folders = sorted(path.parent for path in root.glob("packages/*/pyproject.toml"))
    return {folder.name: Package(folder) for folder in folders}


def needed(names: Iterable[str], among: dict[str, Package]) -> set[str]:
    """Returns these distributions of Kit, and those that they need, without their extras."""
    found: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += among[name].needs
    return found


def _of_kit(requirements: Iterable[str]) -> set[str]:
    names = (re.split(r"[^A-Za-z0-9-]", line, maxsplit=1)[0] for line in requirements)
    return {name for name in names if name.startswith("kit-")}
