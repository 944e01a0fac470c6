# SPDX-License-Identifier: MIT
"""Wrong calls, and what they are told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kit.openapi
from kit import Context, Kit
from kit.interface import File
from kit.interface.metadata import attach
from kit.openapi import build_document, describe, find_operations, openapi


def test_public_names() -> None:
    assert kit.openapi.__all__ == (
        "UI",
        "AppOperation",
        "AppOperations",
        "Problem",
        "RoutingApp",
        "Version",
        "build_document",
        "describe",
        "find_operations",
        "openapi",
    )


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"info": "Bookshelf"}, TypeError, "takes a mapping with 'title', 'version'"),
        ({"info": {"name": "Bookshelf"}}, ValueError, "has the unknown key 'name': expected"),
        ({"info": {"version": 1}}, TypeError, "takes a str, not 1"),
        (
            {"security_schemes": {"own": {"type": "http", "scheme": 'x"'}}},
            ValueError,
            "expected a scheme of RFC 9110 such as 'bearer'",
        ),
        ({"servers": "https://x.test"}, TypeError, "takes a list of mappings such as {'url'"),
        ({"servers": ["https://x.test"]}, TypeError, "takes a list of mappings such as"),
        ({"tags": [{"title": "x"}]}, TypeError, "takes a list of mappings such as {'name'"),
        ({"path": "openapi.json"}, ValueError, "expected a path without parameters such as"),
        ({"path": "/:name"}, ValueError, "expected a path without parameters such as"),
        ({"path": None}, TypeError, "openapi(path=...) takes a str, not None"),
        ({"docs": "/docs/"}, ValueError, "expected a path without parameters such as '/docs'"),
        ({"docs": "/openapi.json"}, ValueError, "expected a path other than that of the"),
        ({"ui": "redoc"}, ValueError, "expected 'swagger' or 'scalar'"),
        ({"assets": "static/swagger"}, ValueError, "expected a URL such as '/static/swagger'"),
        ({"assets": Path("/no/such/folder")}, ValueError, "expected a folder that exists"),
        ({"assets": 3}, TypeError, "takes a pathlib.Path of a folder, or a URL as str, not 3"),
        ({"errors": "Problem"}, TypeError, "takes a type, or a mapping from media types to"),
        ({"errors": {"json": int}}, ValueError, "expected media types such as"),
        ({"security_schemes": ["x"]}, TypeError, "takes a mapping from names to schemes, not"),
    ],
)
def test_wrong_calls_of_openapi(options: dict[str, Any], kind: type, text: str) -> None:
    app = Kit()
    with pytest.raises(kind) as caught:
        openapi(app, **options)
    assert text in str(caught.value)
    assert app.routes == []


def test_not_an_app() -> None:
    with pytest.raises(TypeError) as caught:
        openapi("app")  # type: ignore[type-var]
    assert str(caught.value) == "openapi() takes a Kit app first, not 'app'"
    with pytest.raises(TypeError) as caught:
        build_document(Kit)  # type: ignore[arg-type]
    assert str(caught.value) == f"build_document() takes a Kit app first, not {Kit!r}"


def test_folder_without_the_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="assets") as caught:
        openapi(Kit(), assets=tmp_path)
    assert str(caught.value) == (
        f"openapi(assets=...) has no file 'swagger-ui-bundle.js': looked in {tmp_path}"
    )


def test_page_without_the_files_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kit.openapi_ui", None)
    app = Kit()
    with pytest.raises(ModuleNotFoundError) as caught:
        openapi(app)
    assert str(caught.value).startswith("openapi(docs=...) needs kit-openapi-ui, which is")
    assert app.routes == []
    openapi(app, docs=None)
    assert [route.path for route in app.routes] == ["/openapi.json"]


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"summary": 1}, TypeError, "describe(summary=...) takes a str, not 1"),
        ({"hidden": "yes"}, TypeError, "describe(hidden=...) takes a bool, not 'yes'"),
        ({"tags": 1}, TypeError, "describe(tags=...) takes a str or a list of them, not 1"),
        ({"responses": 404}, TypeError, "takes a mapping from statuses, not 404"),
        ({"responses": {4.04: None}}, TypeError, "takes statuses such as 404, not 4.04"),
        ({"responses": {"404": None}}, ValueError, "describe(responses=...) has the status"),
        ({"responses": {600: None}}, ValueError, "describe(responses=...) has the status 600"),
        ({"security": "bearer"}, TypeError, "takes Security Scheme Objects, or a list of"),
        ({"security": {"type": "http", "scheme": 1}}, TypeError, "takes a str, not 1"),
        (
            {"security": [{}, {"type": "http", "scheme": "my scheme"}]},
            ValueError,
            "expected a scheme of RFC 9110 such as 'bearer'",
        ),
        ({"security": ["bearer"]}, TypeError, "takes Security Scheme Objects, or a list of"),
        ({"sumary": "x"}, TypeError, "describe() got an unexpected keyword argument 'sumary'"),
    ],
)
def test_wrong_calls_of_describe(options: dict[str, Any], kind: type, text: str) -> None:
    with pytest.raises(kind) as caught:
        describe(**options)
    assert text in str(caught.value)


def test_operations_are_found_with_their_handlers() -> None:
    app = Kit()

    def read_book(c: Any) -> Any:
        return c.text("")

    app.get("/books/:id?", read_book)
    app.get("/files/*", read_book)
    app.get("/hidden", describe(hidden=True)(lambda c: c.text("")))
    found = find_operations(app)
    assert [(each.method, each.path, each.handler) for each in found.operations] == [
        ("GET", "/books", read_book),
        ("GET", "/books/{id}", read_book),
    ]
    assert found.document == build_document(app, version="3.2")
    assert found.operations[1].operation is found.document["paths"]["/books/{id}"]["get"]
    (note,) = found.notes
    assert note.startswith("GET /files/* is left out: ")


class Plain:
    """Not a type of data."""


class Upload(msgspec.Struct):
    file: File


def validating(target: str, kind: Any) -> Kit:
    def handler(c: Context) -> None: ...

    return Kit().post("/", attach(handler, validates={target: kind}))  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("target", "kind", "text"),
    [
        ("json", Plain, "for 'json', which neither msgspec nor pydantic can describe: "),
        ("query", list[Plain], "for 'query', which neither msgspec nor pydantic can describe: "),
        ("json", complex, "has the type <class 'complex'>"),
        ("json", 5, "has the type 5"),
        ("json", "Book", "has the type 'Book'"),
        ("json", list[int] | set[int], "may not contain more than one array-like"),
    ],
)
def test_validated_types_that_nothing_can_describe(target: str, kind: Any, text: str) -> None:
    app = validating(target, kind)
    with pytest.raises(TypeError, match=r"^attach\(validates=\.\.\.\) of validating") as caught:
        build_document(app)
    assert text in str(caught.value)


@pytest.mark.parametrize("kind", [Any, int, dict[str, int], Upload, bytes, list[File], int | None])
def test_validated_types_that_can_be_described(kind: Any) -> None:
    assert "post" in build_document(validating("form", kind))["paths"]["/"]
