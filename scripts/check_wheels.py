# SPDX-License-Identifier: MIT
"""Builds the distributions and checks them as installed: contents, import contracts, types.

    python scripts/check_wheels.py

Pyright and ty need the packages in one folder, as in an installation; editable installs spread them
over several.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TYPING = ROOT / "tests" / "typing"
# Files that a package has outside its own folder in `kit`: `python -m kit` runs kit-dev.
BESIDE = {"kit-dev": ["kit/__main__.py"]}
SOURCE_NAMES = {
    "CHANGELOG.md",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "pyproject.toml",
    "src",
    "tests",
}


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    """Runs a command, shows its output, and exits if it fails."""
    print("$", *command, flush=True)
    done = subprocess.run([*map(str, command)], cwd=cwd, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"failed with exit code {done.returncode}: {' '.join(map(str, command))}")


def name_of(path: Path) -> str:
    """Returns the distribution name of a wheel or source distribution."""
    return path.name.partition("-")[0].replace("_", "-")


def leaf_of(package: str) -> str:
    """Returns the folder of a package: the one with its py.typed, `kit/` for kit-core."""
    source = ROOT / "packages" / package / "src"
    [typed] = source.glob("kit/**/py.typed")
    return f"{typed.parent.relative_to(source).as_posix()}/"


def check_wheels(wheels: list[Path]) -> None:
    """Checks that each package has a wheel with its own folder, and no file is in two wheels."""
    owners: dict[str, str] = {}
    for wheel in wheels:
        package = name_of(wheel)
        leaf = leaf_of(package)
        names = [n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n]
        own = [name for name in names if name.startswith(leaf)] + BESIDE.get(package, [])
        if strangers := set(names).difference(own):
            sys.exit(f"{wheel.name} has files outside {leaf}: {sorted(strangers)}")
        if missing := {leaf + "py.typed", *own}.difference(names):
            sys.exit(f"{wheel.name} lacks {sorted(missing)}")
        for name in names:
            if name in owners:
                sys.exit(f"{name} is in {wheel.name} and in {owners[name]}")
            owners[name] = wheel.name
    packages = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))
    if sorted(map(name_of, wheels)) != packages:
        sys.exit(f"expected a wheel for each of {packages}, found {[w.name for w in wheels]}")
    print(f"{len(owners)} files in {len(wheels)} wheels, each in one of them")


def check_sources(archives: list[Path], wheels: list[Path]) -> None:
    """Checks that each wheel has a source distribution with sources, tests and pages."""
    if [*map(name_of, archives)] != [*map(name_of, wheels)]:
        sys.exit(f"expected an archive for each wheel, found {[a.name for a in archives]}")
    for archive in archives:
        with tarfile.open(archive) as source:
            names = {name.split("/")[1] for name in source.getnames()} - {".gitignore"}
        if names != SOURCE_NAMES:
            sys.exit(f"{archive.name} has {sorted(names)}, expected {sorted(SOURCE_NAMES)}")


def main() -> None:
    """Runs all checks."""
    with tempfile.TemporaryDirectory() as folder:
        dist, site, work = (Path(folder) / name for name in ("dist", "venv", "work"))
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
            *checkers,
            *publishing,
        )
        work.mkdir()
        for source in TYPING.glob("*.py"):
            (work / source.name).write_text(source.read_text())
        (work / "pyrightconfig.json").write_text('{"reportUnnecessaryTypeIgnoreComment": "error"}')
        tools = site / "bin"
        run(tools / "twine", "check", "--strict", *archives, *wheels)
        run(tools / "check-wheel-contents", *wheels)
        run(tools / "lint-imports", "--config", ROOT / "pyproject.toml", cwd=work)
        run(tools / "mypy", "--strict", "public_api.py", "refused.py", cwd=work)
        run(tools / "pyright", "--pythonpath", python, "-p", work, cwd=work)
        run(tools / "ty", "check", "--python", site, "public_api.py", cwd=work)


if __name__ == "__main__":
    main()
