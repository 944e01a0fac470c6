# SPDX-License-Identifier: MIT
"""Clients that TypeScript generators make pass `tsc --strict`, and call the served apps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import consumers
import pytest
from consumer_clients import check_read, environment

pytestmark = [pytest.mark.once, pytest.mark.slow]

ORVAL = """
export default {{
  client: {{
    input: {document},
    output: {{
      target: {target},
      client: "fetch",
      baseUrl: {url},
      headers: true,
    }},
  }},
}};
"""


def call(name: str, folder: Path, urls: dict[str, str]) -> None:
    """Compiles a client program with what was generated for it, and compares what it reads."""
    shutil.copy(consumers.HERE / f"{name}.ts", folder)
    consumers.compile_typescript(folder)
    variables = environment(urls)
    printed = consumers.run_program("node", f"built/{name}.js", folder=folder, **variables)
    check_read(consumers.read_printed(printed))


def test_openapi_typescript(
    documents: dict[str, Path], urls: dict[str, str], tmp_path: Path
) -> None:
    for name, document in documents.items():
        options = ("--default-non-nullable=false", "--output", f"{name}/paths.ts")
        consumers.run_program("openapi-typescript", document, *options, folder=tmp_path)
    call("openapi_fetch", tmp_path, urls)


def test_hey_api(documents: dict[str, Path], urls: dict[str, str], tmp_path: Path) -> None:
    for name, document in documents.items():
        options = ("--input", document, "--output", name, "--no-log-file")
        consumers.run_program("openapi-ts", *options, folder=tmp_path)
    call("hey_api", tmp_path, urls)


def test_orval(documents: dict[str, Path], urls: dict[str, str], tmp_path: Path) -> None:
    for name, document in documents.items():
        values = {"document": str(document), "target": f"{name}/client.ts", "url": urls[name]}
        quoted = {key: json.dumps(value) for key, value in values.items()}
        (tmp_path / "orval.config.mjs").write_text(ORVAL.format(**quoted))
        consumers.run_program("orval", "--fail-on-warnings", folder=tmp_path)
    call("orval", tmp_path, urls)
