# SPDX-License-Identifier: MIT
"""Builds the wheels and checks them as users get them: contents, import contract, types.

    python scripts/check_wheels.py

Pyright and ty need the packages in one folder, as an installation has them; editable installs
spread them over several.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TYPING = ROOT / "tests" / "typing"
LEAVES = {
    "kit_interface": "kit/interface/",
    "kit_routers": "kit/router/",
    "kit_core": "kit/",
    "kit_bearer_auth": "kit/bearer_auth/",
    "kit_trailing_slash": "kit/trailing_slash/",
    "kit_logger": "kit/logger/",
    "kit_dev": "kit/dev/",
}


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    """Runs a command, shows what it prints, and ends this script if it fails."""
    print("$", *command, flush=True)
    done = subprocess.run([*map(str, command)], cwd=cwd, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"failed with exit code {done.returncode}: {' '.join(map(str, command))}")


def check_contents(wheels: list[Path]) -> None:
    """Each wheel has its own leaf with py.typed, and no file stands in two of them."""
    owners: dict[str, str] = {}
    for wheel in wheels:
        distribution = wheel.name.partition("-")[0]
        leaf = LEAVES[distribution]
        names = [n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n]
        strangers = [name for name in names if not name.startswith(leaf)]
        if strangers:
            sys.exit(f"{wheel.name} has files outside {leaf}: {strangers}")
        if leaf + "py.typed" not in names:
            sys.exit(f"{wheel.name} has no {leaf}py.typed")
        for name in names:
            if name in owners:
                sys.exit(f"{name} is in {wheel.name} and in {owners[name]}")
            owners[name] = wheel.name
    if sorted(w.name.partition("-")[0] for w in wheels) != sorted(LEAVES):
        sys.exit(f"expected a wheel for each of {sorted(LEAVES)}, found {[w.name for w in wheels]}")
    print(f"{len(owners)} files in {len(wheels)} wheels, each in one of them")


def main() -> None:
    """Runs all checks."""
    with tempfile.TemporaryDirectory() as folder:
        dist, site, work = (Path(folder) / name for name in ("dist", "venv", "work"))
        run("uv", "build", "--quiet", "--all-packages", "--no-sources", "--wheel", "-o", dist)
        wheels = sorted(dist.glob("*.whl"))
        check_contents(wheels)
        run("uv", "venv", "--quiet", "--python", sys.executable, site)
        python = site / "bin" / "python"
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
        pins = Path(folder) / "pins.txt"
        pins.write_text("\n".join(settings["uv"]["constraint-dependencies"]))
        tools_wanted = ("mypy", "pyright[nodejs]", "ty", "import-linter")
        run(
            *("uv", "pip", "install", "--quiet", "--python", python, "--constraint", pins),
            *wheels,
            *tools_wanted,
        )
        work.mkdir()
        for source in TYPING.glob("*.py"):
            (work / source.name).write_text(source.read_text())
        (work / "pyrightconfig.json").write_text('{"reportUnnecessaryTypeIgnoreComment": "error"}')
        tools = site / "bin"
        run(tools / "lint-imports", "--config", ROOT / "pyproject.toml", cwd=work)
        run(tools / "mypy", "--strict", "public_api.py", "refused.py", cwd=work)
        run(tools / "pyright", "--pythonpath", python, "-p", work, cwd=work)
        run(tools / "ty", "check", "--python", site, "public_api.py", cwd=work)


if __name__ == "__main__":
    main()
