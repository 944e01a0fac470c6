# SPDX-License-Identifier: MIT
"""Bytes that are sent as they are, and bytes in JSON."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from msgspec import Struct

from kit import Context, File, Kit, Response
from kit.openapi import build_document, describe
from kit.typed import Body, Form, typed
from kit.validator import validator

BINARY = {"type": "string", "format": "binary"}
BASE64 = {"type": "string", "contentEncoding": "base64"}
FILE = {**BINARY, "contentMediaType": "application/octet-stream"}


HEADERS = {"content-type": "image/png"}


class Upload(Struct):
    cover: File
    more: list[bytes] = []


def describe_operation(function: Any, **options: Any) -> Any:
    app = Kit()
    app.post("/", function, **options)
    return build_document(app)["paths"]["/"]["post"]


def new() -> Any:
    """Returns a new handler, since decorators change theirs."""
    return lambda c: c.text("x")


@pytest.mark.parametrize("kind", [bytes, bytes | None])
@pytest.mark.parametrize("media_type", ["image/png", "image/*", "application/octet-stream"])
def test_described_bytes_are_binary_unless_they_are_json(media_type: str, kind: Any) -> None:
    content = {media_type: kind, "application/json": bytes, "text/csv": str}
    described = describe(request_body={"content": content}, responses={200: {"content": content}})
    operation = describe_operation(described(new()))
    for found in (operation["requestBody"]["content"], operation["responses"]["200"]["content"]):
        assert found[media_type] == {"schema": BINARY}
        assert found["application/json"] == {"schema": BASE64}
        assert found["text/csv"] == {"schema": {"type": "string"}}


def test_a_raw_body_is_binary_and_a_result_is_json() -> None:
    @typed
    async def save(body: Annotated[bytes, Body()]) -> bytes:
        return body

    operation = describe_operation(save)
    assert operation["requestBody"]["content"] == {"application/octet-stream": {"schema": BINARY}}
    assert operation["responses"]["200"]["content"] == {"application/json": {"schema": BASE64}}


@typed
async def upload(cover: Annotated[File, Form()], more: Annotated[list[bytes], Form()]) -> None: ...


def test_files_of_forms_are_binary_however_they_are_declared() -> None:
    described = describe(request_body={"content": {"multipart/form-data": Upload}})
    for operation in (
        describe_operation(upload),
        describe_operation(new(), use=validator("form", Upload)),
        describe_operation(described(new())),
    ):
        schema = operation["requestBody"]["content"]["multipart/form-data"]["schema"]
        assert schema["properties"]["cover"] == FILE
        assert schema["properties"]["more"]["items"] == FILE


def test_bytes_in_objects_of_json_are_base64() -> None:
    class Encoded(Struct):
        data: bytes

    app = Kit()
    app.post("/", new(), use=validator("json", Encoded))
    (schema,) = (
        each
        for name, each in build_document(app)["components"]["schemas"].items()
        if name == "Encoded"
    )
    assert schema["properties"] == {"data": BASE64}


async def image(c: Context) -> Response:
    return c.body(b"\x89PNG", 200, {"Content-Type": "image/png"})


async def vector(c: Context) -> Response:
    return c.body("<svg/>", headers={"content-type": "image/svg+xml; charset=utf-8"})


async def cached(c: Context) -> Response:
    return c.text("x", 200, {"cache-control": "no-store"})


async def unknown(c: Context) -> Response:
    return c.body(b"", 200, {"content-type": str(c.req.query("type"))})


async def spread(c: Context) -> Response:
    return c.text("x", 200, {**HEADERS, "x-more": "1"})


@pytest.mark.parametrize(
    ("function", "content"),
    [
        (image, {"image/png": {"schema": BINARY}}),
        (vector, {"image/svg+xml": {}}),
        (cached, {"text/plain": {}}),
        (unknown, None),
        (spread, None),
    ],
)
def test_the_media_type_of_a_body_is_that_of_its_headers(function: Any, content: Any) -> None:
    assert describe_operation(function)["responses"]["200"].get("content") == content
