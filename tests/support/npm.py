# SPDX-License-Identifier: MIT
"""Packages of npm for tests, and Node to run them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

INSTALL_S = 300.0
RUN_S = 120.0


def missing() -> str | None:
    """Says what is missing; None if there are Node and npm."""
    for name in ("node", "npm"):
        if shutil.which(name) is None:
            return f"there is no {name}: install Node.js 20 or newer"
    return None


def give_up(reason: str) -> None:
    """Skips the test; fails it where KIT_ALL_PROGRAMS says that all programs are there."""
    if os.environ.get("KIT_ALL_PROGRAMS"):
        pytest.fail(reason)
    pytest.skip(reason)


def install_npm(packages: Mapping[str, str], directory: Path) -> Path:
    """Installs packages of npm, once; other processes that want the same wait for it.

    Skips the test if there is no npm, or if its registry doesn't answer.

    Args:
        packages: Exact versions by the names of packages.
        directory: The folder to install into, with a `package.json` and `node_modules`.

    Returns:
        `directory`: `run_npm` runs the commands of its packages.
    """
    if reason := missing():
        give_up(reason)
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        installed = directory / "installed.json"
        wanted = json.dumps(dict(packages), sort_keys=True)
        if installed.exists() and installed.read_text() == wanted:
            return directory
        about = {"private": True, "type": "module", "dependencies": dict(packages)}
        (directory / "package.json").write_text(json.dumps(about))
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--save-exact")
        done = _run(["npm", "install", *options], directory, INSTALL_S)
        if done.returncode:
            give_up(f"npm can't install {wanted}: {done.stderr}")
        installed.write_text(wanted)
    return directory


def run_npm(
    directory: Path,
    *command: str | Path,
    code: int = 0,
    cwd: Path | None = None,
    **environment: str,
) -> str:
    """Runs Node, or the command of an installed package, which has to end with `code`.

    Args:
        directory: What `install_npm` returned.
        command: The name of the command and its arguments.
        code: The expected exit code.
        cwd: The folder to run it in; the default is `directory`.
        environment: Variables for it.

    Returns:
        What it printed.
    """
    first, *rest = map(str, command)
    program = directory / "node_modules" / ".bin" / first
    full = [str(program) if program.exists() else first, *rest]
    done = _run(full, cwd or directory, RUN_S, **environment)
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _run(
    command: list[str], folder: Path, timeout_s: float, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        check=False,
    )
