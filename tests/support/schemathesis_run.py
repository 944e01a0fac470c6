# SPDX-License-Identifier: MIT
"""Runs schemathesis on the document of a served app."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Numbers such as 3.0 are integers in JSON Schema, but not for msgspec.
HOOKS = r"""
import schemathesis


def possible(value):
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [possible(each) for each in value]
    if isinstance(value, dict):
        return {name: possible(each) for name, each in value.items()}
    return value


@schemathesis.hook
def map_body(ctx, body):
    return possible(body)
"""
# Limits the examples per operation and phase. NUL is excluded because it can't be in the name of a
# form field, which no schema expresses.
CONFIGURATION = """
hooks = "hooks"

[generation]
max-examples = 25
allow-x00 = false
"""


def run(
    folder: Path,
    url: str,
    *options: str,
    configuration: str = CONFIGURATION,
    hooks: str = "",
) -> str:
    """Runs Schemathesis with valid and invalid data; its checks, all by default, have to pass.

    Args:
        folder: A folder for its files.
        url: The URL of the app.
        options: Further command-line options.
        configuration: The content of `schemathesis.toml`.
        hooks: Further hooks and checks, in Python.

    Returns:
        The output.
    """
    (folder / "hooks.py").write_text(HOOKS + hooks)
    (folder / "schemathesis.toml").write_text(configuration)
    command = [
        str(Path(sys.executable).parent / "st"),
        "run",
        f"{url}/openapi.json",
        "--mode=all",
        "--seed=1",
        "--continue-on-failure",
        "--no-color",
        *options,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=600, env={"PYTHONPATH": "."}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)
