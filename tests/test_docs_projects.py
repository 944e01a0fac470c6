# SPDX-License-Identifier: MIT
"""The pages that begin in an empty folder and end with a distribution of the reader's own."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import documents
import pytest
from document_runner import Reader
from documents import ROOT

PROJECTS = ("docs/publish-middleware.md", "docs/publish-router.md")


@pytest.mark.slow
@pytest.mark.parametrize("page", PROJECTS)
def test_project_is_made(page: str, wheels: dict[str, Path], tmp_path: Path) -> None:
    """With the wheels of this workspace in the place of the published ones."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    ours = [f"{name} @ {wheel.as_uri()}" for name, wheel in wheels.items()]
    versions = tmp_path / "versions.txt"
    versions.write_text("\n".join([*settings["constraint-dependencies"], *ours]))
    project = tmp_path / "project"
    project.mkdir()
    environment = {
        "UV_CONSTRAINT": str(versions),
        # Found first, so that `uv venv` takes the interpreter of this test. UV_PYTHON would make
        # `uv pip` install into the environment of this test.
        "PATH": f"{Path(sys.base_prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "UV_PYTHON_PREFERENCE": "only-system",
    }
    Reader(documents.read(page), project, environment).follow()
