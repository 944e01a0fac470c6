# SPDX-License-Identifier: MIT
"""Any text as docstring, pattern or name: the document is valid, and the client is Python."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openapi_spec_validator import validate

from kit import Context, Kit, Response
from kit.interface import UnsupportedPathError
from kit.openapi import build_document, describe
from kit.openapi._client._names import pascal, snake
from kit.openapi._client.python import generate
from kit.openapi._docstrings import parse

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SECTIONS = st.sampled_from(
    ["Returns:", "Raises:", "Attributes:", "  E: 404 x", "x", "", "    y: z"]
)
SEGMENTS = st.sampled_from(["a", "b-c", ":x", ":y{[0-9]+}", ":z{a|b}", ":w?", "*", "c*", ""])
# A keyword that is a property of an object, of any depth.
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(
        [
            {},
            True,
            {"type": "string"},
            {"type": "string", "format": "date"},
            {"type": ["integer", "null"], "default": None},
            {"enum": ["a", 'b"\\', None, 1]},
            {"const": "x", "default": "x"},
            {"$ref": "#/components/schemas/One"},
            {"$ref": "#/components/schemas/no such"},
            {"type": "boolean", "default": True},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda each: {"type": "array", "items": each, "default": []}, inner),
        st.builds(lambda each: {"anyOf": each}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda each: {"allOf": [each]}, inner),
        st.builds(lambda each: {"type": "object", "additionalProperties": each}, inner),
        st.builds(
            lambda each: {"type": "object", "properties": each},
            st.dictionaries(st.text(max_size=8), inner, max_size=3),
        ),
    ),
    max_leaves=6,
)


async def handler(c: Context) -> Response:
    return c.json({})


@given(st.one_of(TEXTS, st.lists(SECTIONS).map("\n".join)))
def test_any_docstring(text: str) -> None:
    said = parse(text)
    assert "\n" not in said.summary
    assert all(100 <= status <= 599 for status in said.statuses)


@given(st.lists(SEGMENTS, max_size=4).map("/".join), st.sampled_from(["GET", "ALL", "PURGE"]))
def test_any_pattern(path: str, method: str) -> None:
    app = Kit()
    try:
        app.on(method, f"/{path}", handler)
    except (UnsupportedPathError, UserWarning):
        return
    document = build_document(app)
    validate(document)
    for template in document["paths"]:
        assert "*" not in template
        assert "?" not in template


@given(TEXTS, TEXTS, TEXTS)
def test_any_description(summary: str, tag: str, text: str) -> None:
    app = Kit()
    app.get("/", describe(summary=summary, tags=tag, responses={200: text})(lambda c: c.text("")))
    document = build_document(app, info={"title": summary or "x", "description": text})
    validate(document)
    assert json.loads(json.dumps(document)) == document
    ast.parse(generate(document))


@given(TEXTS)
def test_any_name(text: str) -> None:
    assert snake(text).isidentifier()
    assert pascal(text).isidentifier()


@given(SCHEMAS, st.text(max_size=8))
def test_any_schema_makes_a_client(schema: Any, name: str) -> None:
    document = {
        "info": {"title": "x", "version": "1"},
        "paths": {
            "/": {
                "post": {
                    "operationId": name,
                    "parameters": [{"name": name, "in": "query", "schema": schema}],
                    "requestBody": {"content": {"application/json": {"schema": schema}}},
                    "responses": {
                        "200": {"content": {"application/json": {"schema": schema}}},
                    },
                }
            }
        },
        "components": {
            "schemas": {"One": schema, name: {"type": "object", "properties": {name: schema}}}
        },
    }
    source = generate(document)
    # Where a name is not defined, or a type can't be, this is where it shows.
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(source, "generated", "exec"), names)


@pytest.mark.parametrize("name", ["", "1", "class", "Any", "self", "_", "é", "A_b-C", "HTTPServer"])
def test_names(name: str) -> None:
    assert snake(name).isidentifier()
    assert pascal(name).isidentifier()


def test_apps_that_do_not_use_it_do_not_import_it() -> None:
    code = (
        "import sys\nfrom kit import Kit\napp = Kit()\napp.get('/', lambda c: c.text('x'))\n"
        "print([name for name in sys.modules if name.startswith('kit.openapi')])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_little_is_imported_before_the_document_is_asked_for() -> None:
    code = (
        "import sys, inspect\nfrom kit import Kit\napp = Kit()\nbefore = {*sys.modules}\n"
        "from kit.openapi import openapi\nopenapi(app)\nprint(*sorted({*sys.modules} - before))"
    )
    added = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert [name for name in added if name.startswith("kit.openapi.")] == [
        "kit.openapi._describable",
        "kit.openapi._describe",
        "kit.openapi._document",
        "kit.openapi._methods",
        "kit.openapi._options",
        "kit.openapi._page",
        "kit.openapi._serving",
        "kit.openapi._setup",
        "kit.openapi._versions",
    ]
    heavy = {"ast", "click", "gzip", "hashlib", "importlib.resources", "inspect", "msgspec"}
    assert not {*added} & {*heavy, "pydantic", "tempfile", "zipfile"}
