# SPDX-License-Identifier: MIT
"""Checks the structure of the workspace, which no linter does.

    python scripts/check_tree.py

Prints one line per problem, and exits with 1 if there are any.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 400
NEEDED = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "src/kit", "tests")


def problems() -> list[str]:
    """Lists all problems."""
    found: list[str] = []
    packages = sorted((ROOT / "packages").iterdir())
    for package in packages:
        found += [f"{package.name}: no {name}" for name in NEEDED if not (package / name).exists()]
        if not list(package.glob("src/kit/**/py.typed")):
            found.append(f"{package.name}: no py.typed")
        init = package / "src/kit/__init__.py"
        if init.exists() != (package.name == "kit-core"):
            found.append(f"{package.name}: kit/__init__.py belongs to kit-core alone")
        found += too_long(package)
    init = ROOT / "packages/kit-core/src/kit/__init__.py"
    if "extend_path(__path__, __name__)" not in init.read_text():
        found.append("kit-core: kit/__init__.py must extend __path__, or it hides its siblings")
    return found + contract_gaps()


def too_long(package: Path) -> list[str]:
    """Lists modules that exceed the limit."""
    sizes = [(path, len(path.read_text().splitlines())) for path in package.glob("src/**/*.py")]
    return [
        f"{path.relative_to(ROOT)}: {size} lines, at most {MOST_LINES}"
        for path, size in sizes
        if size > MOST_LINES
    ]


def contract_gaps() -> list[str]:
    """Lists modules of the core that the import contracts fail to forbid."""
    core = ROOT / "packages/kit-core/src/kit"
    modules = {f"kit.{path.stem}" for path in core.iterdir() if path.stem.strip("_") == path.stem}
    modules |= {f"kit.{path.stem}" for path in core.glob("_[!_]*.py")}
    modules = {m for m in modules if m not in ("kit.py", "kit.__pycache__")}
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    gaps = []
    for contract in settings["tool"]["importlinter"]["contracts"]:
        missing = sorted(modules - set(contract["forbidden_modules"]))
        gaps += [f"import contract {contract['name']!r}: lacks {name}" for name in missing]
    return gaps


if __name__ == "__main__":
    lines = problems()
    print("\n".join(lines) if lines else "the tree is as it should be")
    sys.exit(1 if lines else 0)
