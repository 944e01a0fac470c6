# SPDX-License-Identifier: MIT
"""RealWorld's Postman collection for back ends, run against examples/conduit."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from pathlib import Path

import conduit_collection
import conduit_served
import httpx
import pytest

pytestmark = [pytest.mark.once, pytest.mark.slow]

NEWMAN = ("npx", "--offline", "--yes", "newman@6.2.2")
COUNT = 380


def variables(url: str) -> dict[str, str]:
    """Returns the variables of the collection, for new users."""
    name = f"u{secrets.token_hex(6)}"
    return {
        "APIURL": url,
        "USERNAME": name,
        "EMAIL": f"{name}@mail.com",
        "PASSWORD": conduit_served.PASSWORD,
    }


def test_every_assertion_is_true(conduit: conduit_served.Conduit) -> None:
    assert sum(len(step.assertions) for step in conduit_collection.steps()) == COUNT
    with httpx.Client(timeout=30) as client:
        outcomes = conduit_collection.run(client, variables(conduit.url))
    assert not [outcome for outcome in outcomes if not outcome.passed]
    # The others depend on whether lists are empty.
    assert len(outcomes) > COUNT * 0.75


def test_newman_agrees(conduit: conduit_served.Conduit, tmp_path: Path) -> None:
    if shutil.which("npx") is None or newman("--version", folder=tmp_path).returncode:
        pytest.skip("npm doesn't have newman in its cache")
    given = [f"--global-var={name}={value}" for name, value in variables(conduit.url).items()]
    done = newman("run", str(conduit_collection.FILE), "--color=off", *given, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# failure" not in done.stdout


def newman(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*NEWMAN, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
