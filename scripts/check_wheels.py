# SPDX-License-Identifier: MIT
"""Builds the distributions and checks them as installed: contents, import contracts, types.

    python scripts/check_wheels.py [--output FOLDER]

The distributions are kept if a folder is given.
Pyright and ty need the packages in one folder, as in an installation; editable installs spread them
over several.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

from workspace import ROOT, packages

# Files for the type checkers: the type tests of all packages together, and those of each.
TYPING = ("tests/typing/*.py", "packages/*/tests/typing/*.py")
# Wrong uses, for which ty has other error codes than the other checkers.
REFUSED = "refused.py"
SOURCE_NAMES = {
    "CHANGELOG.md",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "pyproject.toml",
    "src",
    "tests",
}
# What a package needs to be built besides.
BUILD_NAMES = {
    "kit-openapi-ui": {
        "assets.toml",
        "build_assets.py",
        "components.json",
        "hatch_build.py",
        "sbom.cdx.json",
    },
}
# Software bills of materials, in the metadata of a wheel (PEP 770).
SBOMS = {"kit-openapi-ui": {"sbom.cdx.json"}}


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    """Runs a command, shows its output, and exits if it fails."""
    print("$", *command, flush=True)
    done = subprocess.run([*map(str, command)], cwd=cwd, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"failed with exit code {done.returncode}: {' '.join(map(str, command))}")


def name_of(path: Path) -> str:
    """Returns the distribution name of a wheel or source distribution."""
    return path.name.partition("-")[0].replace("_", "-")


def check_wheels(wheels: list[Path]) -> None:
    """Checks that each package has a wheel with its files, and no file is in two wheels."""
    expected = packages()
    if sorted(map(name_of, wheels)) != [*expected]:
        sys.exit(f"expected a wheel for each of {[*expected]}, found {[w.name for w in wheels]}")
    owners: dict[str, str] = {}
    for wheel in wheels:
        package = expected[name_of(wheel)]
        contents = zipfile.ZipFile(wheel).namelist()
        names = {n for n in contents if ".dist-info/" not in n}
        sboms = {n.rpartition("/")[2] for n in contents if ".dist-info/sboms/" in n}
        if sboms != SBOMS.get(package.name, set()):
            sys.exit(f"{wheel.name} has the bills of materials {sorted(sboms)}")
        if strangers := names.difference(package.files):
            sys.exit(f"{wheel.name} has files that its src folder lacks: {sorted(strangers)}")
        if missing := set(package.files).difference(names):
            sys.exit(f"{wheel.name} lacks {sorted(missing)}")
        for name in sorted(names):
            if name in owners:
                sys.exit(f"{name} is in {wheel.name} and in {owners[name]}")
            owners[name] = wheel.name
    print(f"{len(owners)} files in {len(wheels)} wheels, each in one of them")


def check_sources(archives: list[Path], wheels: list[Path]) -> None:
    """Checks that each wheel has a source distribution with sources, tests and pages."""
    if [*map(name_of, archives)] != [*map(name_of, wheels)]:
        sys.exit(f"expected an archive for each wheel, found {[a.name for a in archives]}")
    for archive in archives:
        with tarfile.open(archive) as source:
            names = {name.split("/")[1] for name in source.getnames()} - {".gitignore"}
        expected = SOURCE_NAMES | BUILD_NAMES.get(name_of(archive), set())
        if names != expected:
            sys.exit(f"{archive.name} has {sorted(names)}, expected {sorted(expected)}")


def copy_type_tests(folder: Path) -> list[str]:
    """Copies the type tests into one folder, away from the sources; returns their names."""
    names: list[str] = []
    for source in sorted(path for pattern in TYPING for path in ROOT.glob(pattern)):
        if source.name in names:
            sys.exit(f"there are two type tests called {source.name}: give each a name of its own")
        names.append(source.name)
        (folder / source.name).write_text(source.read_text())
    return names


def main() -> None:
    """Runs all checks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="a folder for the distributions")
    output: Path | None = parser.parse_args().output
    with tempfile.TemporaryDirectory() as folder:
        dist, site, work = (Path(folder) / name for name in ("dist", "venv", "work"))
        dist = output or dist
        run("uv", "build", "--quiet", "--all-packages", "--no-sources", "-o", dist)
        wheels = sorted(dist.glob("*.whl"))
        archives = sorted(dist.glob("*.tar.gz"))
        check_wheels(wheels)
        check_sources(archives, wheels)
        run("uv", "venv", "--quiet", "--python", sys.executable, site)
        python = site / "bin" / "python"
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
        pins = Path(folder) / "pins.txt"
        pins.write_text("\n".join(settings["uv"]["constraint-dependencies"]))
        checkers = ("mypy", "pyright[nodejs]", "ty", "import-linter")
        publishing = ("twine", "check-wheel-contents")
        run(
            *("uv", "pip", "install", "--quiet", "--python", python, "--constraint", pins),
            *wheels,
            "markupsafe",  # what kit.html asks for, whose types are checked
            "sqlalchemy[asyncio]",  # the same for kit.pages.sqlalchemy
            *checkers,
            *publishing,
        )
        work.mkdir()
        checked = copy_type_tests(work)
        (work / "pyrightconfig.json").write_text('{"reportUnnecessaryTypeIgnoreComment": "error"}')
        tools = site / "bin"
        run(tools / "twine", "check", "--strict", *archives, *wheels)
        run(tools / "check-wheel-contents", *wheels)
        run(tools / "lint-imports", "--config", ROOT / "pyproject.toml", cwd=work)
        run(tools / "mypy", "--strict", *checked, cwd=work)
        run(tools / "pyright", "--pythonpath", python, "-p", work, cwd=work)
        accepted = [name for name in checked if name != REFUSED]
        run(tools / "ty", "check", "--python", site, *accepted, cwd=work)


if __name__ == "__main__":
    main()
