# SPDX-License-Identifier: MIT
"""Unions with which msgspec would crash the process while a document is built."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated, Any

import pytest
from msgspec import Meta

from kit import Context, Kit, Response
from kit.openapi import build_document, describe, find_operations, openapi

CRASHING = list[int] | Annotated[str, Meta(pattern="^[a-z]+$")]
PROBLEM = (
    f"{CRASHING!r:.100}: msgspec doesn't support a union of an array or dict with a str that has "
    "a pattern: check the pattern elsewhere"
)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("request_body", CRASHING),
        ("request_body", {"content": {"application/json": CRASHING}}),
        ("request_body", {"content": {"application/json": {"schema": CRASHING}}}),
        ("responses", {200: CRASHING}),
        ("responses", {404: {"description": "", "content": {"application/json": CRASHING}}}),
    ],
)
def test_describe_refuses_them(option: Any, value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        describe(**{option: value})
    assert str(caught.value) == f"describe({option}=...) has {PROBLEM}"


@pytest.mark.parametrize("errors", [CRASHING, {"application/json": CRASHING}])
def test_they_are_no_bodies_of_errors(errors: Any) -> None:
    for function in (openapi, build_document):
        with pytest.raises(TypeError) as caught:
            function(Kit(), errors=errors)
        assert str(caught.value) == f"{function.__name__}(errors=...) has {PROBLEM}"


def test_describe_takes_schemas_that_look_like_types() -> None:
    schema = {"anyOf": [{"type": "array"}, {"type": "string", "pattern": "^[a-z]+$"}]}
    for value in ({"content": {"application/json": {"schema": schema}}}, {"$ref": "#/x"}):
        describe(request_body=value, responses={200: value})


def test_those_that_nobody_registers_have_no_schema() -> None:
    app = Kit()

    @app.post("/")
    async def read(c: Context) -> Response:
        return c.json(await c.req.json(CRASHING))

    found = find_operations(app)
    assert found.notes == [f"POST / has a type without a schema: {PROBLEM}"]
    assert found.operations[0].undescribed == (PROBLEM,)
    body = found.document["paths"]["/"]["post"]["requestBody"]
    assert body["content"] == {"application/json": {"schema": {}}}


async def test_a_served_document_warns_of_them(caplog: pytest.LogCaptureFixture) -> None:
    app = Kit()

    @app.post("/numbers")
    async def read(c: Context) -> Response:
        return c.json(await c.req.json(CRASHING))

    app.get("/other", lambda c: c.json({}))
    openapi(app, docs=None)
    document = await (await app.request("/openapi.json")).json()
    await app.request("/openapi.json")
    assert [*document["paths"]] == ["/numbers", "/other"]
    (text,) = caplog.messages
    for word in ("/openapi.json", "POST /numbers", "list[int]"):
        assert word in text


SCRIPT = """
import gc, os
from typing import Annotated, Any
import msgspec
from msgspec import Meta
from kit import Kit
from kit.openapi import build_document, describe
from kit.typed import Query, typed

Crashing = list[int] | Annotated[str, Meta(pattern="^[a-z]+$")]

class Held(msgspec.Struct):
    value: Crashing
    other: Any = object

class Listed(msgspec.Struct):
    value: Crashing

async def described(c): ...
async def returned(c) -> Crashing: ...
async def read(c): return c.json(await c.req.json(Crashing))
async def queried(listed: Annotated[Listed, Query()], page: int = 1) -> None: ...

for number in range(100):
    app = Kit()
    app.post("/described", describe(request_body=Held)(described))
    app.get("/returned", returned)
    app.post("/read", read)
    app.get("/queried", typed(queried))
    document = build_document(app)
    del app
    gc.collect()
assert document["components"]["schemas"]["Held"]["properties"]["value"]["anyOf"]
os._exit(0)  # msgspec may crash when Python drops the classes of this script
"""


def test_documents_with_them_are_built() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
