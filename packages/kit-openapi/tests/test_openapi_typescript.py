# SPDX-License-Identifier: MIT
"""The text of a TypeScript client. tests/clients compiles and runs such clients."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import client_app
import openapi_app
import pytest
from click.testing import CliRunner

from kit.dev.cli import main
from kit.openapi import build_document

APPS = {"client_app": client_app.app, "openapi_app": openapi_app.app}
SUPPORT = Path(client_app.__file__).parent


def write(module: str) -> str:
    result = CliRunner().invoke(main, ["client", f"{SUPPORT / module}.py", "--lang", "typescript"])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module", params=APPS)
def written(request: pytest.FixtureRequest) -> tuple[dict[str, Any], str]:
    """A document, and the client for it."""
    document = build_document(APPS[request.param], version="3.2")
    return document, write(request.param)


def list_operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for item in document["paths"].values():
        for key, each in {**item, **item.get("additionalOperations", {})}.items():
            if key not in ("additionalOperations", "parameters") and isinstance(each, dict):
                found.append(each)
    return found


def test_each_operation_is_a_method(written: tuple[dict[str, Any], str]) -> None:
    document, text = written
    operations = list_operations(document)
    assert operations
    named = set(re.findall(r'operation: "(\w+)"', text))
    for operation in operations:
        words = re.split(r"\W|_", operation["operationId"])
        plain = "".join(words).lower()
        assert any(each.replace("_", "").lower() == plain for each in named), plain
    assert len(named) == len(operations)


def test_each_component_is_a_type(written: tuple[dict[str, Any], str]) -> None:
    document, text = written
    exported = set(re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE))
    for name in document["components"]["schemas"]:
        plain = re.sub(r"\W", "", name).lower()
        assert any(each.replace("_", "").lower() == plain.replace("_", "") for each in exported)


def test_descriptions_are_comments(written: tuple[dict[str, Any], str]) -> None:
    document, text = written
    for operation in list_operations(document):
        first = operation.get("summary", "").split("\n")[0]
        assert not first or first.split(".")[0].split("*/")[0][:40] in text


def test_text_is_plain_and_the_same_each_time(written: tuple[dict[str, Any], str]) -> None:
    _, text = written
    assert text.isascii() or "\u2028" not in text
    assert not [line for line in text.split("\n") if line != line.rstrip()]
    assert text.endswith("}\n")
    assert "import " not in text.replace("import(", "")  # it depends on nothing
    assert copy.copy(text) in {write(name) for name in APPS}
