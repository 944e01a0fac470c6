# SPDX-License-Identifier: MIT
"""Classes that an app encodes and decodes with functions of its own."""

from __future__ import annotations

import ipaddress
import pathlib
import re
from collections import deque
from typing import Any

import msgspec
import pydantic
import pytest

from kit import Context, Kit, Response
from kit.factory import create_factory
from kit.streaming import SSEStreamingApi, stream_sse
from kit.testing import test_client
from kit.websocket import WebSocket, upgrade_websocket


class ObjectId:
    def __init__(self, text: str) -> None:
        if not re.fullmatch("[0-9a-f]{4}", text):
            raise ValueError("expected 4 digits")
        self.text = text

    def __str__(self) -> str:
        return self.text


class Book(msgspec.Struct):
    id: ObjectId
    path: pathlib.PurePosixPath | None = None


def make_app(**options: Any) -> Kit:
    return Kit(encoders={ObjectId: str}, decoders={ObjectId: ObjectId}, **options)


async def text(app: Kit, path: str, **options: Any) -> str:
    return await (await app.request(path, **options)).text()


async def test_json_of_every_kind() -> None:
    class Model(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
        id: ObjectId = pydantic.Field(alias="_id")

    app = make_app()
    model = Model(_id=ObjectId("0a1b"))
    app.get("/json", lambda c: c.json([Book(ObjectId("0a1b"), pathlib.PurePosixPath("/a"))]))
    app.get("/model", lambda c: c.json({"m": [model]}, by_alias=True))
    app.get("/codecs", lambda c: c.body(c.codecs.encode_json({ObjectId("0a1b"): deque([1])})))
    assert await text(app, "/json") == '[{"id":"0a1b","path":"/a"}]'
    assert await text(app, "/model") == '{"m":[{"_id":"0a1b"}]}'
    assert await text(app, "/codecs") == '{"0a1b":[1]}'
    assert app.codecs.encoders == {ObjectId: str}


async def test_without_an_encoder(caplog: pytest.LogCaptureFixture) -> None:
    app = Kit().get("/", lambda c: c.json({"id": ObjectId("0a1b")}))
    assert (await app.request("/")).status == 500
    assert "Can't encode ObjectId as JSON, at $['id']" in caplog.text
    assert "Kit(encoders={ObjectId: ...})" in caplog.text


async def test_an_encoder_that_raises_is_an_error_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Kit(encoders={ObjectId: lambda value: 1 / 0})
    app.get("/", lambda c: c.json([ObjectId("0a1b")]))
    assert (await app.request("/")).status == 500
    assert "ObjectId as JSON, at $[0]" in caplog.text
    assert "raised ZeroDivisionError: division by zero" in caplog.text


async def test_events() -> None:
    app = make_app()

    @app.get("/")
    def events(c: Context) -> Response:
        async def write(stream: SSEStreamingApi) -> None:
            await stream.write_sse(Book(ObjectId("0a1b")))

        return stream_sse(c, write)

    assert await text(app, "/") == 'data: {"id":"0a1b","path":null}\n\n'


async def test_messages_of_a_websocket() -> None:
    app = make_app()

    @app.get("/")
    @upgrade_websocket
    async def echo(c: Context, ws: WebSocket) -> None:
        await ws.send_json([await ws.receive_json(type=ObjectId), ipaddress.ip_address("::1")])

    async with test_client(app).index.ws() as ws:
        await ws.send('"0a1b"')
        assert await ws.receive_json() == ["0a1b", "::1"]


async def test_values_of_a_request() -> None:
    app = make_app()

    @app.post("/:id")
    async def read(c: Context) -> Response:
        param = c.req.param("id", ObjectId)
        query = c.req.query("q", ObjectId | None)
        every = c.req.queries("n", ObjectId)
        header = c.req.header("x-id", ObjectId)
        return c.json([param, query, every, header, await c.req.json(Book)])

    ok: dict[str, Any] = {"method": "POST", "json": {"id": ObjectId("0005")}}
    headers = {"x-id": "0004"}
    assert await text(app, "/0001?q=0002&n=0003&n=0003", headers=headers, **ok) == (
        '["0001","0002",["0003","0003"],"0004",{"id":"0005","path":null}]'
    )
    for path, options in (
        ("/x", ok),
        ("/0001?q=x", ok),
        ("/0001?n=x", ok),
        ("/0001", {**ok, "headers": {"x-id": "x"}}),
        ("/0001", {"method": "POST", "json": {"id": "x"}}),
    ):
        response = await app.request(path, **options)
        assert response.status == 400
        assert "expected 4 digits" in await response.text()


async def test_a_type_without_a_decoder(caplog: pytest.LogCaptureFixture) -> None:
    app = Kit().get("/:id", lambda c: c.text(str(c.req.param("id", ObjectId))))
    assert (await app.request("/0001")).status == 500
    assert "Kit(decoders={ObjectId: ...})" in caplog.text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"encoders": {int: str}}, r"Kit\(encoders=\.\.\.\) has int, which is always encoded"),
        ({"decoders": {Book: Book}}, r"Kit\(decoders=\.\.\.\) has Book, which msgspec builds"),
        ({"encoders": ObjectId}, r"Kit\(encoders=\.\.\.\) takes a mapping"),
    ],
)
def test_wrong_options(options: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        Kit(**options)


# --- Apps within apps ---------------------------------------------------------------------------


async def test_encoders_of_an_app_apply_to_the_apps_within_it() -> None:
    part = Kit().get("/", lambda c: c.json(ObjectId("0a1b")))
    app = make_app().route("/part", part)
    app.base_path("/below").get("/", lambda c: c.json(ObjectId("0a1c")))
    assert await text(app, "/part") == '"0a1b"'
    assert await text(app, "/below") == '"0a1c"'
    assert (await part.request("/")).status == 500


async def test_encoders_of_an_app_within_another_are_added() -> None:
    app = Kit().get("/own", lambda c: c.json(ObjectId("0a1b")))
    inner = make_app().get("/", lambda c: c.json(c.req.query("q", ObjectId)))
    app.route("/part", Kit().route("/inner", inner))
    assert await text(app, "/part/inner?q=0a1b") == '"0a1b"'
    assert await text(app, "/own") == '"0a1b"'


def test_apps_with_different_encoders_are_refused() -> None:
    for name in ("encoders", "decoders"):
        one, other = Kit(**{name: {ObjectId: repr}}), Kit(**{name: {ObjectId: str}})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=rf"route\('/part', .*{name}=.ObjectId"):
            one.route("/part", other)


async def test_a_mounted_app_has_its_own() -> None:
    mounted = Kit(encoders={ObjectId: lambda value: 1}).get("/", lambda c: c.json(ObjectId("0a1b")))
    app = make_app().mount("/mounted", mounted.fetch).get("/", lambda c: c.json(ObjectId("0a1b")))
    assert await text(app, "/mounted") == "1"
    assert await text(app, "/") == '"0a1b"'


async def test_encoders_of_a_factory() -> None:
    factory = create_factory(default_app_options={"encoders": {ObjectId: str}})
    app = factory.create_app().get("/", lambda c: c.json(ObjectId("0a1b")))
    assert await text(app, "/") == '"0a1b"'


def test_responses_without_an_app_have_the_built_in_encoders() -> None:
    assert Response.json(pathlib.PurePosixPath("/a")).status == 200
    with pytest.raises(TypeError, match="ObjectId as JSON"):
        Response.json(ObjectId("0a1b"))
