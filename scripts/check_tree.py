# SPDX-License-Identifier: MIT
"""Checks the structure of the packages, and the central files that list them.

    python scripts/check_tree.py
    python scripts/check_tree.py --write

Prints one line per problem, and exits with 1 if there are any. With `--write` it first updates the
central files, e.g. after a package was split.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import central
import reference
from workspace import CORE, ROOT, Package, packages

NEEDED = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "src/kit", "tests")


def problems() -> Iterator[str]:
    """Yields all problems."""
    for folder in sorted(ROOT.glob("packages/*")):
        lacking = [name for name in NEEDED if not (folder / name).exists()]
        yield from (f"{folder.name}: no {name}" for name in lacking)
    found = packages()
    for package in found.values():
        yield from shape_problems(package)
    yield from owner_problems(found)
    yield from central.problems(found)


def shape_problems(package: Package) -> Iterator[str]:
    """Yields problems with the modules of a package."""
    if package.project["name"] != package.name:
        yield f"{package.name}: its pyproject.toml names it {package.project['name']!r}"
    init = package.files.get("kit/__init__.py")
    if package.name == CORE:
        yield from (
            f"{CORE}: no {name}"
            for name in ("kit/__init__.py", "kit/py.typed")
            if name not in package.files
        )
        if init is not None and ".extend_path(__path__, __name__)" not in init.read_text():
            yield f"{CORE}: kit/__init__.py must extend __path__, or it hides its siblings"
        return
    if init is not None:
        yield f"{package.name}: kit/__init__.py belongs to kit-core alone"
    for entry in sorted(package.entries - {"__init__.py"}):
        if f"kit/{entry}" in package.files:
            yield f"{package.name}: kit/{entry} is not a folder; put it into one with a py.typed"
        elif f"kit/{entry}/py.typed" not in package.files:
            yield f"{package.name}: no kit/{entry}/py.typed"


def owner_problems(found: dict[str, Package]) -> Iterator[str]:
    """Yields entries of `kit` that are in two packages."""
    owners: dict[str, str] = {}
    for package in found.values():
        for entry in sorted(package.entries):
            if entry in owners:
                yield f"kit/{entry} is in {owners[entry]} and in {package.name}"
            owners[entry] = package.name


def main() -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write what central places lack")
    if parser.parse_args().write:
        for path in dict.fromkeys([*central.write(packages()), *reference.write()]):
            print(f"wrote {path.relative_to(ROOT)}")
    lines = [*problems()]
    print("\n".join(lines) if lines else "the tree is as it should be")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
