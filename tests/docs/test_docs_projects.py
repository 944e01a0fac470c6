# SPDX-License-Identifier: MIT
"""The pages that begin in an empty folder and end with a distribution of the reader's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import documents
import pytest
from document_runner import Reader
from environments import versions

PROJECTS = ("docs/publish-middleware.md", "docs/publish-router.md")


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("page", PROJECTS)
def test_project_is_made(page: str, wheels: dict[str, Path], tmp_path: Path) -> None:
    """With the wheels of this workspace in the place of the published ones."""
    project = tmp_path / "project"
    project.mkdir()
    environment = {
        "UV_CONSTRAINT": str(versions(tmp_path, wheels)),
        # Found first, so that `uv venv` takes the interpreter of this test. UV_PYTHON would make
        # `uv pip` install into the environment of this test.
        "PATH": f"{Path(sys.base_prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "UV_PYTHON_PREFERENCE": "only-system",
    }
    Reader(documents.read(page), project, environment).follow()
