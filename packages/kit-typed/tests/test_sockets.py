# SPDX-License-Identifier: MIT
"""`Socket`: WebSockets with typed messages."""

from __future__ import annotations

from typing import Any

import msgspec
import pydantic
import pytest

from kit import Kit
from kit.openapi import build_asyncapi
from kit.testing import test_client
from kit.typed import ResponseValidationError, Socket, typed
from kit.websocket import InvalidMessageError, upgrade_websocket


class Say(msgspec.Struct, tag="say"):
    text: str


class Typing(msgspec.Struct, tag="typing"):
    on: bool = True


class Said(pydantic.BaseModel):
    by: str
    text: str


class Secret(Said):
    password: str = "secret"


def make_app(trace: list[Any]) -> Kit:
    app = Kit()

    @app.get("/rooms/:room")
    @upgrade_websocket(protocols="v1")
    @typed
    async def room(ws: Socket[Say | Typing, Said], room: str) -> None:
        async for message in ws:
            if isinstance(message, Say):
                await ws.send(Secret(by=f"{room} {ws.protocol} {ws.url[:3]}", text=message.text))
        trace.append("ended")

    @app.get("/patient")
    @upgrade_websocket
    @typed
    async def patient(ws: Socket[Say, str]) -> None:
        try:
            await ws.receive()
        except InvalidMessageError as error:
            await ws.send(str(error)[:10])
        await ws.close(3000, "enough")

    @app.get("/text")
    @upgrade_websocket
    @typed
    async def text(ws: Socket[str, bytes]) -> None:
        async for message in ws:
            await ws.send(message.encode())

    return app


def make_sender(kind: Any, value: Any, trace: list[Any]) -> Kit:
    app = Kit()

    async def send(ws: Any) -> None:
        try:
            await ws.send(value)
        except ResponseValidationError as error:
            trace.append(str(error))

    send.__annotations__["ws"] = Socket[(None, kind)]
    app.get("/send", upgrade_websocket(typed(send)))
    return app


def test_messages_are_validated_and_encoded(run: Any) -> None:
    async def main() -> None:
        trace: list[Any] = []
        async with test_client(make_app(trace)) as client:
            room = client.rooms[":room"]
            async with room.ws(param={"room": "a"}, protocols=["v1"]) as ws:
                await ws.send_json({"type": "typing"})
                await ws.send_json({"type": "say", "text": "hello"})
                # Of an object of a subclass, only the declared fields are sent.
                assert await ws.receive_json() == {"by": "a v1 ws:", "text": "hello"}
        assert trace == ["ended"]

    run(main)


@pytest.mark.parametrize("sent", ["{", '{"type": "say"}', '{"type": "other"}', b"\xff"])
def test_an_invalid_message_closes_with_1007(run: Any, sent: Any) -> None:
    async def main() -> None:
        async with test_client(make_app([])) as client:
            async with client.rooms[":room"].ws(param={"room": "a"}) as ws:
                await ws.send(sent)
                assert [message async for message in ws] == []
            assert ws.close_code == 1007
            assert "JSON in the message" in ws.close_reason

    run(main)


def test_an_invalid_message_may_be_caught(run: Any) -> None:
    async def main() -> None:
        async with test_client(make_app([])) as client, client.patient.ws() as ws:
            await ws.send("{}")
            assert await ws.receive() == "Unexpected"
            assert [message async for message in ws] == []
            assert (ws.close_code, ws.close_reason) == (3000, "enough")

    run(main)


def test_text_and_binary_messages(run: Any) -> None:
    async def main() -> None:
        async with test_client(make_app([])) as client, client.text.ws() as ws:
            await ws.send("hello")
            assert await ws.receive() == b"hello"
            await ws.send(b"hello")
            assert [message async for message in ws] == []
            assert (ws.close_code, ws.close_reason) == (1003, "Unexpected binary message")

    run(main)


@pytest.mark.parametrize(("kind", "value"), [(Said, Say("a")), (bytes, "a"), (None, "a")])
def test_a_message_of_another_type_is_not_sent(run: Any, kind: Any, value: Any) -> None:
    async def main() -> None:
        trace: list[Any] = []
        async with test_client(make_sender(kind, value, trace)) as client, client.send.ws() as ws:
            assert [message async for message in ws] == []
        assert len(trace) == 1
        assert "isn't the declared" in trace[0]

    run(main)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Socket, "write Socket\\[Received, Sent\\]"),
        (Socket[Say | bytes, Said], "keep one kind"),
        (Socket[dict[str, int] | Say, Said], "can't have messages"),
        (Socket[str, dict[str, int] | Say], "can't have messages"),
    ],
)
def test_types_are_checked_at_decoration(kind: Any, words: str) -> None:
    async def endpoint(ws: Any) -> None: ...

    endpoint.__annotations__["ws"] = kind
    with pytest.raises(TypeError, match=words):
        Kit().get("/", upgrade_websocket(typed(endpoint)))


def test_messages_are_documented() -> None:
    document = build_asyncapi(make_app([]))
    operations = document["operations"]
    assert [*operations] == [
        "receive_room",
        "send_room",
        "receive_patient",
        "send_patient",
        "receive_text",
        "send_text",
    ]
    assert [*document["channels"]["room"]["messages"]] == ["Said", "Say", "Typing"]
    assert [*document["channels"]["text"]["messages"]] == ["Binary", "Text"]
