# SPDX-License-Identifier: MIT
"""The bytes of a body, alone and beside what is read from them."""

from __future__ import annotations

import hashlib
import hmac
from typing import Annotated, Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from kit import HTTPException, Kit
from kit.body_limit import body_limit
from kit.openapi import build_document, describe
from kit.typed import Body, Depends, Form, Header, typed

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


class Event(Struct):
    kind: str


@typed
async def save(image: Annotated[bytes, Body(media_type=["image/png", "image/*"])]) -> int:
    return len(image)


@typed
async def echo(body: Annotated[bytes, Body()]) -> str:
    return body.hex()


async def send(
    app: Kit[Any, Any], body: bytes | str, headers: dict[str, str], path: str = "/"
) -> tuple[int, Any]:
    response = await app.request(path, method="POST", headers=headers, body=body)
    if "json" not in (response.headers.get("content-type") or ""):
        return response.status, await response.text()
    return response.status, await response.json()


@given(st.binary(min_size=1), st.sampled_from(["", "image/png", "application/json", "text/plain"]))
async def test_any_bytes_of_any_media_type(body: bytes, kind: str) -> None:
    app = Kit().post("/", echo)
    headers = {"content-type": kind} if kind else {}
    assert await send(app, body, headers) == (200, body.hex())


async def test_a_missing_body() -> None:
    @typed
    async def optional(body: Annotated[bytes | None, Body()] = None) -> str:
        return repr(body)

    app = Kit().post("/", echo).post("/optional", optional)
    status, document = await send(app, b"", {})
    assert (status, document["detail"]) == (400, "The body is invalid")
    assert document["errors"] == [
        {"path": "", "message": "Missing required body", "type": "missing"}
    ]
    assert await send(app, b"", {}, "/optional") == (200, "None")
    assert await send(app, b"x", {}, "/optional") == (200, "b'x'")


async def test_other_media_types_are_refused() -> None:
    app = Kit().post("/", save)
    for kind in ("image/png", "IMAGE/PNG; q=1", "image/jpeg"):
        assert await send(app, b"x", {"content-type": kind}) == (200, 1)
    for headers in ({"content-type": "text/plain"}, {"content-type": "x"}, {}):
        response = await app.request("/", method="POST", headers=headers, body=b"x")
        assert response.status == 415
        assert response.headers.get("accept") == "image/png, image/*"


async def verify(body: Annotated[bytes, Body()], x_signature: Annotated[str, Header()]) -> None:
    if not hmac.compare_digest(hmac.new(b"key", body, hashlib.sha256).hexdigest(), x_signature):
        raise HTTPException(401)


def signed(body: bytes) -> dict[str, str]:
    return {"x-signature": hmac.new(b"key", body, hashlib.sha256).hexdigest()}


@typed
async def receive(event: Event, checked: Annotated[None, Depends(verify)]) -> str:
    return event.kind


@typed
async def receive_form(
    kind: Annotated[str, Form()], checked: Annotated[None, Depends(verify)]
) -> str:
    return kind


async def test_a_signature_of_what_was_parsed() -> None:
    app = Kit().post("/", receive).post("/form", receive_form)
    body = b'\xef\xbb\xbf { "kind":\n"paid" } '
    assert await send(app, body, {**JSON, **signed(body)}) == (200, "paid")
    assert (await send(app, body + b" ", {**JSON, **signed(body)}))[0] == 401
    assert await send(app, b"kind=a%20b", {**FORM, **signed(b"kind=a%20b")}, "/form") == (
        200,
        "a b",
    )
    assert (await send(app, b"kind=b", {**FORM, **signed(b"kind=a")}, "/form"))[0] == 401


async def test_errors_beside_what_was_parsed() -> None:
    app = Kit().post("/", receive).post("/form", receive_form)
    status, document = await send(app, b"", {"x-signature": ""})
    assert status == 400
    assert [(each["path"], each["type"]) for each in document["errors"]] == [("", "missing")]
    status, document = await send(app, b'{"kind": 1}', {**JSON, "x-signature": ""})
    assert [(each["path"], each["type"]) for each in document["errors"]] == [
        ("kind", "string_type")
    ]


async def test_constraints() -> None:
    @typed
    async def short(
        body: Annotated[bytes, Body(min_length=2, max_length=20)], event: Event | None = None
    ) -> str:
        return repr((body, event))

    @typed
    async def checked(
        body: Annotated[bytes, pydantic.AfterValidator(bytes.upper), Body(max_length=3)],
    ) -> str:
        return repr(body)

    app = Kit().post("/", short).post("/checked", checked)
    assert (await send(app, b"ab", {}))[0] == 415  # it isn't JSON
    assert (await send(app, b'{"kind": "a"}', JSON))[0] == 200
    status, document = await send(app, b'{"kind": "aaaaaaaaaaaaa"}', JSON)
    assert (status, [each["type"] for each in document["errors"]]) == (400, ["bytes_too_long"])
    status, document = await send(app, b"", {})
    assert (status, [each["type"] for each in document["errors"]]) == (400, ["missing"])
    assert await send(app, b"ab", {}, "/checked") == (200, "b'AB'")
    status, document = await send(app, b"abcd", {}, "/checked")
    assert status == 400
    assert [each["path"] for each in document["errors"]] == [""]


async def test_limits_of_bodies() -> None:
    app = Kit()
    app.use(body_limit(max_size=3))
    app.post("/", echo)
    assert (await send(app, b"abc", {}))[0] == 200
    assert (await send(app, b"abcd", {}))[0] == 413


async def test_bytes_in_json_are_base64() -> None:
    @typed
    async def embedded(body: Annotated[bytes, Body(embed=True)]) -> str:
        return repr(body)

    app = Kit().post("/", embedded)
    assert await send(app, '{"body": "YWI="}', JSON) == (200, "b'ab'")


async def test_a_str_is_json() -> None:
    @typed
    async def text(body: Annotated[str, Body()]) -> str:
        return body

    app = Kit().post("/", text)
    assert await send(app, '"ab"', JSON) == (200, "ab")
    assert (await send(app, "ab", {"content-type": "text/plain"}))[0] == 415


def test_documents() -> None:
    @describe(request_body={"content": {"text/csv": {"schema": str}}})
    @typed
    async def described(body: Annotated[bytes, Body()]) -> None: ...

    @typed
    async def optional(body: Annotated[bytes, Body()] = b"") -> None: ...

    app = Kit().post("/echo", echo).post("/save", save).post("/receive", receive)
    app.post("/described", described).post("/optional", optional)
    paths = build_document(app)["paths"]
    binary = {"schema": {"type": "string", "format": "binary"}}

    def body(path: str) -> Any:
        return paths[path]["post"]["requestBody"]

    assert body("/echo") == {"content": {"application/octet-stream": binary}, "required": True}
    assert body("/save") == {"content": {"image/png": binary, "image/*": binary}, "required": True}
    assert body("/receive")["content"].keys() == {"application/json"}
    assert body("/described")["content"].keys() == {"text/csv"}
    assert body("/optional") == {"content": {"application/octet-stream": binary}}
    assert paths["/save"]["post"]["responses"].keys() == {"200", "400", "415"}


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="a media type such as 'image/png'"):
        Body(media_type="png")
    with pytest.raises(TypeError, match="media_type"):
        Body(media_type=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="leave media_type out"):
        Body(embed=True, media_type="image/png")

    @typed
    async def text(body: Annotated[str, Body(media_type="text/plain")]) -> None: ...

    with pytest.raises(TypeError, match="has a media_type, which is for bytes"):
        Kit().post("/", text)
    with pytest.raises(TypeError, match="which a GET request doesn't have"):
        Kit().get("/", echo)
