# SPDX-License-Identifier: MIT
"""The conformance suite of the Model Context Protocol, where it is installed.

It runs if npm has version 0.1.11 of @modelcontextprotocol/conformance in its cache; nothing is
downloaded. Of its scenarios, those about tools, sessions and security apply; resources, prompts,
logging, completion, sampling and elicitation do not, as routes have none of these.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from serving import ServedApp

SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-error",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
NPX = ("npx", "--offline", "--yes", "@modelcontextprotocol/conformance@0.1.11")


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*NPX, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize("path", ["/mcp", "/sessions"])
def test_the_scenarios_that_apply_pass(path: str, tmp_path: Path):
    if shutil.which("npx") is None or run("--version", folder=tmp_path).returncode:
        pytest.skip("the conformance suite is not installed")
    with ServedApp("uvicorn", "mcp_conformance_app:app", tmp_path / "log") as server:
        url = f"http://localhost:{server.port}{path}"
        printed = run("server", "--url", url, folder=tmp_path).stdout
    summary = printed.partition("=== SUMMARY ===")[2]
    for name in SCENARIOS:
        assert f"\u2713 {name}: " in summary, summary
