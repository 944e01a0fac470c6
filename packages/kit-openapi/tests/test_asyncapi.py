# SPDX-License-Identifier: MIT
"""AsyncAPI documents of WebSockets: channels, messages, parameters, credentials, the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from click.testing import CliRunner

from kit import Context, Kit
from kit.asgi import from_asgi
from kit.bearer_auth import bearer_auth
from kit.dev.cli import main
from kit.openapi import asyncapi, build_asyncapi, build_document, describe, describe_messages
from kit.openapi import openapi as serve_openapi
from kit.typed import Header, Query, typed
from kit.websocket import WebSocket, upgrade_websocket

Run = Callable[..., Any]


class Say(msgspec.Struct, tag="say"):
    """Says something to all."""

    text: str


class Point(msgspec.Struct, tag="point"):
    at: tuple[int, float]


class Said(msgspec.Struct):
    by: str
    what: Say | Point | None = None


async def forward(ws: WebSocket) -> None:
    await ws.send_json(Said("ada"))


def make_app() -> Kit:
    app = Kit()

    @app.get("/rooms/:room", use=[bearer_auth(token="secret")])
    @describe(tags=["chat"])
    @describe_messages(receives=Say | Point, sends=Said)
    @upgrade_websocket
    @typed
    async def room(
        ws: WebSocket,
        room: int,
        version: Annotated[str, Header()],
        limit: Annotated[int, Query()] = 3,
    ) -> None:
        """Talks in a room.

        Everybody hears it.
        """

    @app.get("/read/:name")
    @upgrade_websocket
    async def read(c: Context, ws: WebSocket) -> None:
        await ws.receive_json(type=Say)
        await forward(ws)
        await ws.send("text")

    @app.get("/echo")
    @upgrade_websocket
    async def echo(c: Context, ws: WebSocket) -> None:
        async for message in ws:
            await ws.send(message)

    app.get("/plain", lambda c: c.json({}))
    return app


def names(operation: Any) -> list[str]:
    return [each["$ref"].rpartition("/")[2] for each in operation["messages"]]


def test_channels_have_addresses_parameters_and_bindings() -> None:
    document = build_asyncapi(make_app(), info={"title": "Chat", "version": "2"})
    assert document["asyncapi"] == "3.0.0"
    assert document["info"] == {"title": "Chat", "version": "2"}
    assert [*document["channels"]] == ["room", "read", "echo"]
    room = document["channels"]["room"]
    assert room["address"] == "/rooms/{room}"
    assert (room["summary"], room["description"]) == ("Talks in a room", "Everybody hears it.")
    assert room["tags"] == [{"name": "chat"}]
    assert room["parameters"] == {"room": {"x-schema": {"type": "integer"}}}
    binding = room["bindings"]["ws"]
    assert binding["method"] == "GET"
    assert binding["query"]["properties"] == {"limit": {"type": "integer", "default": 3}}
    assert binding["headers"]["required"] == ["version"]


def test_messages_are_operations_from_the_point_of_view_of_the_app() -> None:
    document = build_asyncapi(make_app())
    received, sent = (document["operations"][f"{each}_room"] for each in ("receive", "send"))
    assert (received["action"], names(received)) == ("receive", ["Say", "Point"])
    assert (sent["action"], names(sent)) == ("send", ["Said"])
    assert received["security"] == [{"$ref": "#/components/securitySchemes/bearer"}]
    said = document["components"]["messages"]["Said"]
    assert said["payload"] == {"$ref": "#/components/schemas/Said"}
    assert said["contentType"] == "application/json"
    assert document["components"]["messages"]["Say"]["summary"] == "Says something to all"


def test_messages_are_read_from_the_source() -> None:
    operations = build_asyncapi(make_app())["operations"]
    assert names(operations["receive_read"]) == ["Say"]
    assert names(operations["send_read"]) == ["Said", "Text"]
    assert names(operations["receive_echo"]) == names(operations["send_echo"]) == ["Message"]


def test_schemas_are_of_draft_07() -> None:
    schemas = build_asyncapi(make_app())["components"]["schemas"]
    at = schemas["Point"]["properties"]["at"]
    assert [each["type"] for each in at["items"]] == ["integer", "number"]
    assert "prefixItems" not in json.dumps(schemas)
    assert "discriminator" not in json.dumps(schemas)
    assert schemas["Point"]["properties"]["type"]["enum"] == ["point"]


@pytest.mark.parametrize(
    ("receives", "expected"),
    [(str, ("Text", "text/plain")), (bytes, ("Binary", "application/octet-stream"))],
)
def test_text_and_binary_messages(receives: Any, expected: tuple[str, str]) -> None:
    app = Kit()

    async def feed(c: Context, ws: WebSocket) -> None: ...

    app.get("/feed", describe_messages(receives=receives, sends=None)(upgrade_websocket(feed)))
    document = build_asyncapi(app)
    assert [*document["operations"]] == ["receive_feed"]
    name, media_type = expected
    assert document["components"]["messages"][name]["contentType"] == media_type


def test_describe_messages_refuses_what_it_cannot_describe() -> None:
    with pytest.raises(TypeError, match="got neither"):
        describe_messages()
    with pytest.raises(TypeError, match=r"takes a type such as str, not 'Say'"):
        describe_messages(receives="Say")
    with pytest.raises(TypeError, match=r"describe_messages\(sends=\.\.\.\)"):
        describe_messages(sends=list[Say | Said])


def test_hidden_websockets_are_left_out() -> None:
    app = Kit()

    @app.get("/hidden")
    @describe(hidden=True)
    @upgrade_websocket
    @typed
    async def hidden(ws: WebSocket) -> None: ...

    assert build_asyncapi(app)["channels"] == {}


def test_options_are_checked() -> None:
    app: Any = Kit()
    wrong: Any = "a"
    with pytest.raises(TypeError, match=r"asyncapi\(\) takes a Kit app first"):
        asyncapi(wrong)
    with pytest.raises(ValueError, match="protocol"):
        asyncapi(app, servers={"main": {"host": "a", "protocol": "http"}})
    with pytest.raises(ValueError, match="a host"):
        asyncapi(app, servers={"main": {"host": "wss://a", "protocol": "wss"}})
    with pytest.raises(ValueError, match="summary"):
        asyncapi(app, info={"title": "a", "summary": "b"})
    with pytest.raises(ValueError, match=r"asyncapi\(docs="):
        asyncapi(app, path="/a", docs="/a")
    assert not app.routes


def get(run: Run, app: Kit, path: str, **headers: str) -> tuple[Any, bytes]:
    async def ask() -> tuple[Any, bytes]:
        given = {name.replace("_", "-"): each for name, each in headers.items()}
        response = await app.request(path, headers=given)
        return response, await response.bytes()

    return run(ask)  # type: ignore[no-any-return]


def test_the_document_is_served_with_its_server(run: Run) -> None:
    app = asyncapi(make_app())
    response, body = get(run, app, "http://api.example/asyncapi.json")
    document = json.loads(body)
    assert document["servers"] == {"default": {"host": "api.example", "protocol": "ws"}}
    etag = response.headers["etag"]
    path = "http://api.example/asyncapi.json"
    assert get(run, app, path, if_none_match=etag)[0].status == 304
    outer = Kit()
    outer.mount("/api", from_asgi(app))
    _, body = get(run, outer, "https://api.example/api/asyncapi.json")
    server = {"host": "api.example", "protocol": "wss", "pathname": "/api"}
    assert json.loads(body)["servers"] == {"default": server}


def test_given_servers_and_a_part_of_an_app(run: Run) -> None:
    app = make_app()
    part = app.base_path("/v1")

    @part.get("/feed")
    @upgrade_websocket
    async def feed(c: Context, ws: WebSocket) -> None: ...

    servers = {"main": {"host": "api.example.com", "protocol": "wss"}}
    asyncapi(part, servers=servers)
    document = json.loads(get(run, app, "/v1/asyncapi.json")[1])
    assert document["servers"] == servers
    assert [each["address"] for each in document["channels"].values()] == ["/v1/feed"]
    policy = get(run, app, "/v1/docs/websockets")[0].headers["content-security-policy"]
    assert "connect-src 'self' wss://api.example.com" in policy


def test_the_page_shows_channels_and_messages(run: Run) -> None:
    app = asyncapi(make_app(), info={"title": "<Chat>", "version": "1"})
    response, body = get(run, app, "/docs/websockets")
    page = body.decode()
    assert response.status == 200
    assert "<h1>&lt;Chat&gt; <small>1</small></h1>" in page
    for text in ("/rooms/{room}", "Talks in a room", "Messages that you send", "http bearer"):
        assert text in page
    assert "<script>" not in page
    assert "style=" not in page
    for name in ("asyncapi.css", "asyncapi.js"):
        assert f'"websockets/ui/{name}"' in page
        assert get(run, app, f"/docs/websockets/ui/{name}")[0].status == 200
    assert get(run, app, "/docs/websockets/ui/other.js")[0].status == 404


def test_the_page_of_openapi_links_to_it(run: Run) -> None:
    assert b"websockets" not in get(run, serve_openapi(make_app()), "/docs")[1]
    app = asyncapi(serve_openapi(make_app()))
    assert b'<a href="docs/websockets">WebSockets</a>' in get(run, app, "/docs")[1]
    assert [*build_document(app)["paths"]] == ["/plain"]


APP = """
from kit import Kit
from kit.openapi import asyncapi
from kit.websocket import upgrade_websocket

app = Kit()

async def echo(c, ws):
    async for message in ws:
        await ws.send(message)

app.get("/echo", upgrade_websocket(echo))
app.get("/files/*", upgrade_websocket(echo))
asyncapi(app, info={"title": "Echo", "version": "3"})
"""


def test_the_command_prints_and_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    result = run.invoke(main, ["asyncapi", "app.py:app", "--output", "asyncapi.json"])
    assert result.exit_code == 0, result.output
    assert json.loads(Path("asyncapi.json").read_text())["info"]["title"] == "Echo"
    assert "GET /files/* is left out: AsyncAPI doesn't support wildcards" in result.stderr
    assert "GET /echo: the type of messages that the app receives isn't known" in result.stderr
    checked = ["asyncapi", "app.py:app", "--check", "asyncapi.json"]
    assert run.invoke(main, checked).exit_code == 0
    Path("asyncapi.json").write_text("{}")
    result = run.invoke(main, checked)
    assert result.exit_code == 1
    assert "out of date" in result.stderr
    result = run.invoke(main, ["asyncapi", "app.py:app", "--document", "/other.json"])
    assert "there is /asyncapi.json" in result.output
