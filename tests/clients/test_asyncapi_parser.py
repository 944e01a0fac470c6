# SPDX-License-Identifier: MIT
"""AsyncAPI documents of examples, read by @asyncapi/parser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from npm import install_npm, run_npm
from workspace import ROOT

from kit.dev import load_app
from kit.openapi import build_asyncapi

pytestmark = [pytest.mark.slow, pytest.mark.once]

PARSE = """
import {Parser} from "@asyncapi/parser";
import {readFileSync} from "node:fs";

const {diagnostics, document} = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
const told = diagnostics.filter(({code}) => code !== "asyncapi-latest-version");
console.log(JSON.stringify({told, operations: document?.operations().all().map((o) => o.id())}));
"""
SERVERS = {"main": {"host": "api.example.com", "protocol": "wss", "pathname": "/v1"}}


@pytest.fixture(scope="module")
def parse(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], Any]:
    folder = tmp_path_factory.mktemp("parser")
    install_npm({"@asyncapi/parser": "3.6.0"}, folder)
    (folder / "parse.mjs").write_text(PARSE)

    def parse(document: Any) -> Any:
        (folder / "document.json").write_text(json.dumps(document))
        return json.loads(run_npm(folder, "node", "parse.mjs", "document.json"))

    return parse


@pytest.mark.parametrize(
    ("path", "operations"),
    [
        (ROOT / "tests" / "support" / "asyncapi_app.py", 7),
        (ROOT / "examples" / "chat" / "app.py", 2),
    ],
)
def test_documents_are_valid(parse: Callable[[Any], Any], path: Path, operations: int) -> None:
    found = parse(build_asyncapi(load_app(f"{path}:app"), servers=SERVERS))
    severe = [each for each in found["told"] if each["severity"] < 2]
    assert severe == []
    assert len(found["operations"]) == operations


def test_a_wrong_document_is_noticed(parse: Callable[[Any], Any]) -> None:
    document = build_asyncapi(load_app(f"{ROOT / 'examples' / 'chat' / 'app.py'}:app"))
    for operation in document["operations"].values():
        operation["action"] = "publish"
    assert parse(document)["told"]
