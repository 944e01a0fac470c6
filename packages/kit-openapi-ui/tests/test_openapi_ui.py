# SPDX-License-Identifier: MIT
"""The files, and where they are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import kit.openapi_ui
from kit.openapi_ui import find_assets


def test_public_names() -> None:
    assert kit.openapi_ui.__all__ == ("find_assets",)


@pytest.mark.parametrize(
    ("ui", "files"),
    [
        ("swagger", {"swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png", "NOTICE"}),
        ("scalar", {"standalone.js"}),
    ],
)
def test_files_are_there_with_their_licenses(ui: str, files: set[str]) -> None:
    folder = find_assets(ui)
    names = {path.name for path in folder.iterdir()}
    assert names >= {*files, "LICENSE", "THIRD-PARTY.txt"}
    assert all(path.stat().st_size for path in folder.iterdir())
    bundled = (folder / "THIRD-PARTY.txt").read_text().splitlines()
    assert len(bundled) > 100
    assert all(": " in line for line in bundled[2:])


def test_files_are_those_of_the_manifest() -> None:
    folder = find_assets("swagger").parent
    listed = json.loads((folder / "manifest.json").read_text())["files"]
    found = {path.relative_to(folder).as_posix(): path for path in folder.glob("*/*")}
    assert {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in found.items()
    } == (listed)


def test_other_user_interfaces() -> None:
    with pytest.raises(ValueError, match="got 'redoc': expected 'swagger' or 'scalar'"):
        find_assets("redoc")


def test_files_that_were_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kit.openapi_ui, "_ASSETS", tmp_path)
    with pytest.raises(FileNotFoundError, match="uv sync --reinstall-package kit-openapi-ui"):
        find_assets("swagger")
