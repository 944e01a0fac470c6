# SPDX-License-Identifier: MIT
"""`kit openapi` and `kit client`: what they print, write and compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

APP = """
from kit import Kit
from kit.openapi import openapi

print("made")
app = Kit()
app.get("/books/:id", lambda c: c.json({}))
app.get("/files/*", lambda c: c.json({}))
openapi(app, info={"title": "Shelf", "version": "1"})
openapi(app.base_path("/v2"), info={"title": "Other", "version": "2"})
plain = Kit()
plain.get("/a", lambda c: c.json({}))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "app.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def kit(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, arguments, prog_name="kit")
    return result.exit_code, result.stdout, result.stderr


def test_the_commands_are_listed() -> None:
    _, said, _ = kit("--help")
    assert "openapi  Prints the OpenAPI document of an app." in said
    assert "client   Writes a typed client for an app." in said


def test_document_is_printed(folder: Path) -> None:
    code, said, noted = kit("openapi", "app.py:app")
    assert code == 0
    document = json.loads(said)
    assert document["info"] == {"title": "Shelf", "version": "1"}
    assert [*document["paths"]] == ["/books/{id}"]
    assert said.startswith('{\n  "openapi": "3.1.1",\n')
    assert said.endswith("}\n")
    assert "Note: GET /files/* is left out: OpenAPI doesn't support wildcards\n" in noted


def test_the_app_may_be_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_APP", "app.py:plain")
    _, said, _ = kit("openapi")
    assert [*json.loads(said)["paths"]] == ["/a"]


def test_one_of_several_documents(folder: Path) -> None:
    _, said, _ = kit("openapi", "app.py:app", "--path", "/v2/openapi.json")
    assert json.loads(said)["info"]["title"] == "Other"
    code, _, noted = kit("openapi", "app.py:app", "--path", "/v3.json")
    assert code == 2
    assert (
        "Invalid value for '--path': the app has no document at '/v3.json'; there is "
        "/openapi.json, /v2/openapi.json\n"
    ) in noted


def test_app_without_a_document(folder: Path) -> None:
    code, said, _ = kit("openapi", "app.py:plain")
    assert code == 0
    assert json.loads(said)["info"] == {"title": "API", "version": "0.1.0"}
    assert [*json.loads(said)["paths"]] == ["/a"]


def test_file_is_written_and_checked(folder: Path) -> None:
    assert kit("openapi", "app.py:app", "--output", "openapi.json")[:2] == (0, "")
    written = (folder / "openapi.json").read_text()
    assert written == kit("openapi", "app.py:app")[1]
    assert kit("openapi", "app.py:app", "--check", "openapi.json")[:2] == (0, "")

    (folder / "openapi.json").write_text(written.replace("Shelf", "Old"))
    code, said, noted = kit("openapi", "app.py:app", "--check", "openapi.json")
    assert code == 1
    assert said.startswith("--- openapi.json\n+++ the app\n")
    assert '-    "title": "Old",\n+    "title": "Shelf",\n' in said
    assert noted.endswith("openapi.json is out of date: update it with --output openapi.json\n")


def test_file_that_is_not_there(folder: Path) -> None:
    code, _, noted = kit("openapi", "app.py:app", "--check", "no.json")
    assert code == 1
    assert noted.endswith("Error: can't read 'no.json': No such file or directory\n")


def test_files_that_can_not_be_used(folder: Path) -> None:
    (folder / "latin.json").write_bytes(b"\xff")
    code, _, noted = kit("openapi", "app.py:app", "--check", "latin.json")
    assert code == 1
    assert noted.endswith("\nError: can't read 'latin.json': it is not UTF-8\n")
    code, _, noted = kit("openapi", "app.py:app", "--output", "no/openapi.json")
    assert code == 1
    assert noted.endswith("Error: can't write 'no/openapi.json': No such file or directory\n")


def test_app_that_is_not_there(folder: Path) -> None:
    code, _, noted = kit("openapi", "no.py")
    assert code == 1
    assert "There is no app at 'no.py'" in noted


def test_client_is_written_and_checked(folder: Path) -> None:
    code, said, _ = kit("client", "app.py:app", "--lang", "python")
    assert code == 0
    assert said.startswith('"""Client of Shelf 1.\n')
    assert kit("client", "app.py:app", "--output", "client.py")[:2] == (0, "")
    assert (folder / "client.py").read_text() == said
    assert kit("client", "app.py:app", "--check", "client.py")[0] == 0
    assert kit("client", "app.py:app", "--lang", "cobol")[0] == 2


def test_typescript_client_is_written_and_checked(folder: Path) -> None:
    code, said, _ = kit("client", "app.py:app", "--lang", "typescript")
    assert code == 0
    assert said.startswith("/**\n * Client of Shelf 1.\n")
    assert "export class Client {" in said
    assert kit("client", "app.py:app", "--lang", "typescript", "-o", "api.ts")[:2] == (0, "")
    assert (folder / "api.ts").read_text() == said
    assert kit("client", "app.py:app", "--lang", "typescript", "--check", "api.ts")[0] == 0
    assert kit("client", "app.py:app", "--check", "api.ts")[0] == 1


@pytest.mark.parametrize("lang", ["python", "typescript"])
def test_client_has_operations_of_all_methods(lang: str, folder: Path) -> None:
    """Those of OpenAPI 3.2, too, which the document of the app leaves out."""
    (folder / "own.py").write_text(
        "from kit import Kit\n\napp = Kit()\n"
        'app.query("/books", lambda c: c.json({}))\n'
        'app.on("COPY", "/books/:id", lambda c: c.json({}))\n'
    )
    _, said, noted = kit("client", "own.py:app", "--lang", lang)
    assert '"QUERY"' in said
    assert '"COPY"' in said
    assert "x-query" not in noted
