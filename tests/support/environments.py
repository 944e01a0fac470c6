# SPDX-License-Identifier: MIT
"""Virtual environments with the wheels of Kit, as its users have them."""

from __future__ import annotations

import re
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from email.parser import HeaderParser
from pathlib import Path

from commands import run

ROOT = Path(__file__).resolve().parents[2]


def new_environment(folder: Path) -> Path:
    """Makes a virtual environment with nothing in it; gives its interpreter."""
    run("uv", "venv", "--quiet", "--python", sys.executable, folder)
    return folder / "bin" / "python"


def install(python: Path, *what: str | Path, options: tuple[str | Path, ...] = ()) -> None:
    """Installs wheels, folders or requirements."""
    run("uv", "pip", "install", "--quiet", "--python", python, *options, *what)


def install_pinned(python: Path, *what: str | Path) -> None:
    """Installs with the versions of third parties that Kit is developed with."""
    install(python, *what, options=("--constraint", versions(python.parent.parent)))


def versions(folder: Path, wheels: Mapping[str, Path] | None = None) -> Path:
    """Writes a file with the versions of third parties that Kit is developed with.

    Args:
        folder: Where to write it.
        wheels: Wheels that take the place of published distributions, however they are asked for.
    """
    file = folder / "versions.txt"
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    ours = [f"{name} @ {wheel.as_uri()}" for name, wheel in (wheels or {}).items()]
    file.write_text("\n".join([*settings["constraint-dependencies"], *ours]))
    return file


def with_needed(wheels: Mapping[str, Path], *names: str) -> list[Path]:
    """The wheels of these distributions of Kit, and of those of Kit that they need.

    Files are named, so that no namesake from a package index can take the place of one.
    """
    wanted: list[str] = []
    for name in names:
        if name not in wanted:
            wanted.append(name)
    for name in wanted:
        wanted += [each for each in _needed(wheels[name]) if each in wheels and each not in wanted]
    return [wheels[name] for name in wanted]


def metadata(wheel: Path) -> Mapping[str, list[str]]:
    """What the metadata of a wheel says, all values of each field; the README is `Description`."""
    archive = zipfile.ZipFile(wheel)
    [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    message = HeaderParser().parsestr(archive.read(name).decode())
    fields = {key: [str(value) for value in message.get_all(key, [])] for key in message}
    return {**fields, "Description": [str(message.get_payload())]}


def _needed(wheel: Path) -> list[str]:
    """The distributions that a wheel needs without its extras."""
    lines = [line for line in metadata(wheel).get("Requires-Dist", []) if "extra ==" not in line]
    return [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in lines]
