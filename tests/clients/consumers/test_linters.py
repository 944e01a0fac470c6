# SPDX-License-Identifier: MIT
"""Redocly, Spectral and openapi-spec-validator find no error in documents of Kit."""

from __future__ import annotations

import json
from pathlib import Path

import consumers
import pytest
from openapi_spec_validator import validate

pytestmark = [pytest.mark.once, pytest.mark.slow]


def test_openapi_spec_validator(documents: dict[str, Path]) -> None:
    for file in documents.values():
        validate(json.loads(file.read_text()))


def test_redocly_with_its_recommended_rules(documents: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "redocly.yaml").write_text("extends: [recommended]\n")
    files = documents.values()
    # It ends with 1 if it finds an error, and with 0 if it finds warnings only.
    consumers.run_program("redocly", "lint", "--format=stylish", *files, folder=tmp_path)


def test_spectral_with_its_rules_for_openapi(documents: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("extends: [spectral:oas]\n")
    options = ("--ruleset", "rules.yaml", "--fail-on-unmatched-globs", "--display-only-failures")
    consumers.run_program("spectral", "lint", *options, *documents.values(), folder=tmp_path)
