# SPDX-License-Identifier: MIT
"""Documents of OpenAPI 3.2, and what of them becomes an extension in 3.1."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from msgspec import Struct
from openapi_spec_validator import validate

from kit import Context, Kit, Response
from kit.dev.cli import main
from kit.openapi import build_document, describe, find_operations, openapi
from kit.typed import Endpoints, typed
from kit.validator import validator


class Search(Struct):
    text: str


class Book(Struct):
    title: str


TAGS = [
    {"name": "shop", "summary": "Shop", "kind": "nav"},
    {"name": "books", "parent": "shop", "kind": "nav"},
]
SERVERS = [{"url": "https://api.example.com", "name": "production"}]
FLOW = {
    "deviceAuthorizationUrl": "https://login.example.com/device",
    "tokenUrl": "https://login.example.com/token",
    "scopes": {},
}
SCHEMES = {
    "tv": {
        "type": "oauth2",
        "oauth2MetadataUrl": "https://login.example.com/.well-known/oauth-authorization-server",
        "flows": {"deviceAuthorization": FLOW},
    },
    "old": {"type": "apiKey", "in": "header", "name": "x-key", "deprecated": True},
}
OPTIONS: dict[str, Any] = {"tags": TAGS, "servers": SERVERS, "security_schemes": SCHEMES}


def make_app() -> Kit:
    app = Kit()
    api = Endpoints(app)

    @api.query("/books")
    async def search_books(search: Search | None = None, page: int = 1) -> list[Book]:
        """Searches for books."""
        return [] if search is None else [Book(search.text)] * page

    @api.get("/books")
    async def stream_books() -> AsyncIterator[Book]:
        """Streams books."""
        yield Book("Emma")

    @app.on("PURGE", "/cache")
    @describe(responses={204: {"summary": "Purged", "description": "It is empty"}})
    async def purge(c: Context) -> Response:
        """Empties the cache."""
        return c.body(None, 204)

    return app


def test_a_document_of_3_2() -> None:
    document = build_document(make_app(), version="3.2", **OPTIONS)
    validate(document)
    assert document["openapi"] == "3.2.0"
    assert (document["tags"], document["servers"]) == (TAGS, SERVERS)
    assert document["components"]["securitySchemes"] == SCHEMES
    books = document["paths"]["/books"]
    assert [*books] == ["query", "get"]
    assert books["query"]["operationId"] == "search_books"
    assert books["query"]["requestBody"]["required"] is True  # since its type is, too
    assert [each["name"] for each in books["query"]["parameters"]] == ["page"]
    assert [*books["query"]["responses"]] == ["200", "400", "415"]
    content = books["get"]["responses"]["200"]["content"]
    book = {"$ref": "#/components/schemas/Book"}
    assert content["application/jsonl"] == {"itemSchema": book}
    assert [*content["text/event-stream"]] == ["itemSchema"]
    data = content["text/event-stream"]["itemSchema"]["properties"]["data"]
    assert data["contentSchema"] == book
    purge = document["paths"]["/cache"]["additionalOperations"]["PURGE"]
    assert purge["responses"]["204"] == {"summary": "Purged", "description": "It is empty"}


def test_a_document_of_3_1_is_the_default() -> None:
    document = build_document(make_app())
    assert document == build_document(make_app(), version="3.1")
    validate(document)
    assert document["openapi"] == "3.1.1"
    newer = build_document(make_app(), version="3.2")
    assert document["components"] == newer["components"]
    paths = newer["paths"]
    assert [*document["paths"]["/books"]] == ["get", "x-query"]
    assert document["paths"]["/books"]["x-query"] == paths["/books"]["query"]
    content = document["paths"]["/books"]["get"]["responses"]["200"]["content"]
    for media_type, media in paths["/books"]["get"]["responses"]["200"]["content"].items():
        assert content[media_type] == {
            "schema": {"type": "string"},
            "x-itemSchema": media["itemSchema"],
        }
    purge = document["paths"]["/cache"]["x-additionalOperations"]["PURGE"]
    assert purge["responses"]["204"] == {"description": "It is empty", "x-summary": "Purged"}


def test_the_served_document_has_the_version() -> None:
    app = make_app()
    openapi(app, version="3.2", docs=None)
    _, said, noted = kit(app)
    assert json.loads(said)["openapi"] == "3.2.0"
    assert noted == ""


def kit(app: Kit, *arguments: str, command: str = "openapi") -> tuple[int, str, str]:
    module = ModuleType("versions_app")
    module.__dict__["app"] = app
    sys.modules["versions_app"] = module
    try:
        result = CliRunner().invoke(main, [command, "versions_app:app", *arguments])
    finally:
        del sys.modules["versions_app"]
    return result.exit_code, result.stdout, result.stderr


def test_the_command_writes_either_version(tmp_path: Path) -> None:
    app = make_app()
    openapi(app, version="3.2", docs=None, **OPTIONS)
    code, said, noted = kit(app, "--version", "3.1")
    assert code == 0
    document = json.loads(said)
    validate(document)
    assert document["tags"] == [
        {"name": "shop", "x-summary": "Shop", "x-kind": "nav"},
        {"name": "books", "x-parent": "shop", "x-kind": "nav"},
    ]
    assert document["servers"] == [{"url": "https://api.example.com", "x-name": "production"}]
    schemes = document["components"]["securitySchemes"]
    assert schemes["tv"]["flows"] == {"x-deviceAuthorization": FLOW}
    assert schemes["old"]["x-deprecated"] is True
    assert noted == (
        "Note: QUERY /books is written as x-query, which most tools ignore: OpenAPI 3.1 has no "
        'method QUERY; write openapi(version="3.2")\n'
        "Note: PURGE /cache is written as x-additionalOperations, which most tools ignore: OpenAPI "
        '3.1 has no method PURGE; write openapi(version="3.2")\n'
    )
    assert json.loads(kit(app)[1])["openapi"] == "3.2.0"  # that of the app stays
    plain = make_app()
    assert json.loads(kit(plain)[1])["openapi"] == "3.1.1"
    assert json.loads(kit(plain, "--version", "3.2")[1])["openapi"] == "3.2.0"
    code, _, said = kit(plain, "--version", "3.0")
    assert (code, "'3.0' is not one of '3.1', '3.2'" in said) == (2, True)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"version": "3.0"}, "expected '3.1' or '3.2'"),
        ({"tags": TAGS}, r"tags\[0\].*no field 'summary', or version='3.2'"),
        ({"tags": TAGS[1:]}, r"tags\[0\].*no field 'parent'"),
        ({"servers": SERVERS}, r"servers\[0\].*no field 'name'"),
        ({"security_schemes": SCHEMES}, r"security_schemes\['tv'\].*'oauth2MetadataUrl'"),
        (
            {"security_schemes": {"tv": {"type": "oauth2", "flows": SCHEMES["tv"]["flows"]}}},
            r"\['flows'\].*'deviceAuthorization'",
        ),
        ({"security_schemes": {"old": SCHEMES["old"]}}, "no field 'deprecated'"),
        (
            {"version": "3.2", "tags": [{**TAGS[0], "parent": "books"}, TAGS[1]]},
            r"tags\[0\].*a parent that isn't below the tag",
        ),
        ({"version": "3.2", "tags": [{"name": "a", "parent": "a"}]}, "that isn't below the tag"),
    ],
)
def test_fields_of_another_version(options: dict[str, Any], text: str) -> None:
    for function in (openapi, build_document):
        with pytest.raises(ValueError, match=text):
            function(Kit(), **options)


def test_a_parent_of_tags_is_a_tag() -> None:
    document = build_document(Kit(), version="3.2", tags=TAGS[1:])
    assert document["tags"] == [*TAGS[1:], {"name": "shop"}]
    validate(document)


def test_another_status_of_invalid_data_is_not_that_of_a_missing_type() -> None:
    app = Kit(validation_status=422)

    @app.query("/typed")
    @typed
    async def search(search: Search) -> Book: ...

    app.query("/validated", validator("json", Search), lambda c: c.text("found"))
    document = build_document(app, version="3.2")
    for path in ("/typed", "/validated"):
        responses = document["paths"][path]["query"]["responses"]
        assert {"400", "415", "422"} <= responses.keys()
        schema = {"$ref": "#/components/schemas/Problem"}
        if path == "/typed":
            assert responses["400"]["content"] == {"application/problem+json": {"schema": schema}}


def test_tools_find_operations_of_all_methods() -> None:
    app = make_app()
    found = find_operations(app)
    assert [(each.method, each.path) for each in found.operations] == [
        ("QUERY", "/books"),
        ("GET", "/books"),
        ("PURGE", "/cache"),
    ]
    assert found.operations[0].operation["operationId"] == "search_books"
    assert found.operations[2].operation["summary"] == "Empties the cache"
    assert found.notes == []


def test_streams_may_be_bodies_of_requests() -> None:
    app = Kit()
    body = {"content": {"application/jsonl": {"itemSchema": Book}}}

    @app.post("/books")
    @describe(request_body=body, responses={200: Book})
    async def add_books(c: Context) -> Response:
        return c.json({})

    document = build_document(app)
    validate(document)
    assert document["paths"]["/books"]["post"]["requestBody"]["content"] == {
        "application/jsonl": {
            "schema": {"type": "string"},
            "x-itemSchema": {"$ref": "#/components/schemas/Book"},
        }
    }


@pytest.mark.parametrize("version", ["3.1", "3.2"])
async def test_the_python_client_has_all_methods(version: Any, monkeypatch: Any) -> None:
    app = make_app()
    openapi(app, version=version, docs=None)
    code, source, _ = kit(app, command="client")
    assert code == 0
    client = ModuleType("versions_client")
    monkeypatch.setitem(sys.modules, "versions_client", client)
    exec(compile(source, "versions_client.py", "exec"), client.__dict__)
    sent: list[tuple[str, str | None]] = []

    async def note(request: httpx.Request) -> None:
        sent.append((request.method, request.headers.get("content-type")))

    http = httpx.AsyncClient(transport=httpx.ASGITransport(app), event_hooks={"request": [note]})
    async with http, client.AsyncClient("http://api.test", client=http) as api:
        found = await api.search_books(client.Search(text="Emma"), page=2)
        assert [each.title for each in found] == ["Emma", "Emma"]
        assert await api.search_books(None) == []
        assert [each.title async for each in api.stream_books()] == ["Emma"]
        assert await api.purge() is None
    json = "application/json"
    assert sent == [("QUERY", json), ("QUERY", json), ("GET", None), ("PURGE", None)]


REDOCLY = ("npx", "--offline", "--yes", "@redocly/cli@2.77.0")


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("version", ["3.1", "3.2"])
def test_redocly_finds_no_error(version: Any, tmp_path: Path) -> None:
    """It also lints `x-query` as an operation."""
    if shutil.which("npx") is None or redocly("--version", folder=tmp_path).returncode:
        pytest.skip("npm doesn't have @redocly/cli in its cache")
    server = [{"url": "https://api.example.com"}]
    options = {"servers": server} if version == "3.1" else OPTIONS
    document = build_document(make_app(), version=version, **options)
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    # The app has no guards, which this rule asks for.
    done = redocly("lint", "openapi.json", "--skip-rule=security-defined", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def redocly(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [*REDOCLY, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
