# SPDX-License-Identifier: MIT
"""Runs commands as a user would, without what lets the workspace's own sources be imported."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def clean_environment() -> dict[str, str]:
    """The environment variables of a shell outside of the workspace."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def run(*command: str | Path, code: int = 0, cwd: str | Path = "/") -> str:
    """Runs a command that has to end with `code`; gives what it printed, or its errors."""
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        timeout=240,
        env=clean_environment(),
        cwd=cwd,
    )
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout if code == 0 else done.stderr
