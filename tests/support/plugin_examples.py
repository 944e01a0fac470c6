# SPDX-License-Identifier: MIT
"""The distributions of `examples/plugin-*`, as their authors and their users have them."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from typing import Any

from commands import run
from environments import ROOT, install


class PluginExample:
    """A distribution outside of the workspace, built into `dist`."""

    def __init__(self, name: str, dist: Path) -> None:
        self.folder = ROOT / "examples" / name
        self.readme = (self.folder / "README.md").read_text()
        self._dist = dist
        run("uv", "--directory", self.folder, "build", "--quiet", "--no-sources", "-o", dist)
        [self.wheel] = dist.glob("*.whl")

    def run_own_tests(self, python: Path, folder: Path) -> int:
        """Runs the tests that are in the source distribution; gives how many passed."""
        [archive] = self._dist.glob("*.tar.gz")
        with tarfile.open(archive) as source:
            source.extractall(folder, filter="data")
        [unpacked] = folder.iterdir()
        names = {path.name for path in unpacked.iterdir()}
        assert {"README.md", "LICENSE", "pyproject.toml", "src", "tests"} <= names
        return _run_tests(python, unpacked)

    def build_from_readme(self, python: Path, folder: Path) -> int:
        """Makes the distribution that the README shows, builds, installs and tests it.

        Gives how many of its tests passed.
        """
        shown = r"^`([\w./]+)`:\n\n```\w+\n(.*?)```"
        files = re.findall(shown, self.readme, re.DOTALL | re.MULTILINE)
        assert len(files) == 3
        [module] = [Path(name).parent for name, _ in files if name.startswith("src/")]
        for name, text in [*files, (str(module / "py.typed"), "")]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        run("uv", "--directory", folder, "build", "--quiet", "--wheel")
        [wheel] = (folder / "dist").glob("*.whl")
        install(python, wheel, options=("--no-deps",))
        return _run_tests(python, folder)

    def shown_apps(self) -> list[str]:
        """The apps in the README that show how the plugin is used."""
        blocks = re.findall(r"^```python\n(.*?)```", self.readme, re.DOTALL | re.MULTILINE)
        return [block for block in blocks if re.search(r"^app = Kit", block, re.MULTILINE)]

    def dead_links(self) -> list[str]:
        """The links of the README that lead to no file."""
        targets = re.findall(r"\]\(([^)]+)\)", self.readme)
        assert len(targets) >= 3
        return [target for target in targets if not (self.folder / target).exists()]


def listed_by_kit(python: Path, name: str) -> dict[str, Any]:
    """What `kit plugins` says of a plugin; it shows the same as a table."""
    kit = python.parent / "kit"
    [found] = [row for row in json.loads(run(kit, "plugins", "--json")) if row["name"] == name]
    shown = [line.split() for line in run(kit, "plugins").splitlines()]
    assert [found["kind"], name, found["distribution"], found["version"]] in shown
    return dict(found)


def _run_tests(python: Path, folder: Path) -> int:
    said = run(python, "-m", "pytest", "-p", "no:cacheprovider", cwd=folder)
    return int(re.findall(r"(\d+) passed", said)[0])
