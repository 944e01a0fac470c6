# SPDX-License-Identifier: MIT
"""The chapters of FastAPI's tutorial on streams, with FastAPI and with kit-typed.

Status, Content-Type and body have to be the same. What differs on purpose:

| topic | FastAPI | kit-typed |
|---|---|---|
| JSON Lines or events | as `response_class=` says | as Accept says |
| a str as the item of an event | JSON, in quotes | as it is; FastAPI's `raw_data=` |
| an error before the first item | a 200 that breaks off | the response of the error |
| JSON without an annotation | with blanks, in ASCII | compact, in UTF-8 |
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, Iterable
from typing import Annotated, Any

import fastapi
import httpx
import pydantic
import pytest
from fastapi.sse import EventSourceResponse
from fastapi.sse import ServerSentEvent as TheirEvent

from kit import HTTPException, Kit
from kit.typed import Header, ServerSentEvent, typed

EVENTS = {"accept": "text/event-stream"}


class Item(pydantic.BaseModel):
    name: str
    description: str | None = None


class Stored(Item):
    password: str = "s3cret"


ITEMS = [Item(name="Plumbus"), Item(name="Portal Gun", description="a\nb\u2028")]


async def stream_items() -> AsyncIterable[Item]:
    for item in ITEMS:
        yield item


def stream_items_plainly() -> Iterable[Item]:
    yield from ITEMS


async def stream_anything():  # type: ignore[no-untyped-def]
    for item in ITEMS:
        yield item


async def stream_more_fields() -> AsyncIterable[Item]:
    yield Stored(name="Plumbus")


async def stream_prompt(prompt: Item) -> AsyncIterable[dict[str, str]]:
    for word in prompt.name.split():
        yield {"word": word}


async def their_ticks(
    last_event_id: Annotated[int | None, fastapi.Header()] = None,
) -> AsyncIterable[TheirEvent]:
    yield TheirEvent(comment="stream of item updates")
    for number in range(last_event_id or 0, 3):
        yield TheirEvent(data=ITEMS[0], event="item", id=str(number + 1), retry=5000)
    yield TheirEvent(raw_data="[DONE]\nall")


async def own_ticks(
    last_event_id: Annotated[int | None, Header()] = None,
) -> AsyncIterable[ServerSentEvent[Any]]:
    yield ServerSentEvent(comment="stream of item updates")
    for number in range(last_event_id or 0, 3):
        yield ServerSentEvent(ITEMS[0], event="item", id=str(number + 1), retry=5000)
    yield ServerSentEvent("[DONE]\nall")


async def ask(app: Any, method: str, **more: Any) -> tuple[int, str, str]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://a") as http:
        response = await http.request(method, "/", **more)
    content_type = response.headers["content-type"].partition(";")[0]
    return response.status_code, content_type, response.text


def serve(theirs: Any, ours: Any, method: str, *, has_events: bool) -> tuple[Any, Any]:
    """Returns an app of each framework, with a function for each."""
    fast, own = fastapi.FastAPI(), Kit()
    options: dict[str, Any] = {"response_class": EventSourceResponse} if has_events else {}
    fast.api_route("/", methods=[method], **options)(theirs)
    own.on(method, "/", typed(ours))
    return fast, own


@pytest.mark.parametrize("has_events", [False, True], ids=["lines", "events"])
@pytest.mark.parametrize("function", [stream_items, stream_items_plainly, stream_more_fields])
async def test_items(function: Any, has_events: bool) -> None:
    fast, own = serve(function, function, "GET", has_events=has_events)
    headers = EVENTS if has_events else {}
    expected = await ask(fast, "GET", headers=headers)
    assert expected[:2] == (200, EVENTS["accept"] if has_events else "application/jsonl")
    assert await ask(own, "GET", headers=headers) == expected


async def test_items_without_an_annotation() -> None:
    fast, own = serve(stream_anything, stream_anything, "GET", has_events=False)
    expected, found = await ask(fast, "GET"), await ask(own, "GET")
    assert found[:2] == expected[:2]
    lines = [[json.loads(line) for line in text.split("\n")[:-1]] for *_, text in (expected, found)]
    assert lines[0] == lines[1] == [item.model_dump() for item in ITEMS]


@pytest.mark.parametrize("has_events", [False, True], ids=["lines", "events"])
async def test_post(has_events: bool) -> None:
    fast, own = serve(stream_prompt, stream_prompt, "POST", has_events=has_events)
    more = {"headers": EVENTS if has_events else {}, "json": {"name": "long live Dune"}}
    expected = await ask(fast, "POST", **more)
    assert await ask(own, "POST", **more) == expected
    more["json"] = {"name": 5}
    assert (await ask(fast, "POST", **more))[0] == 422
    assert (await ask(own, "POST", **more))[0] == 400


@pytest.mark.parametrize("last", [None, "2"])
async def test_server_sent_events(last: str | None) -> None:
    fast, own = serve(their_ticks, own_ticks, "GET", has_events=True)
    headers = EVENTS if last is None else {**EVENTS, "last-event-id": last}
    expected = await ask(fast, "GET", headers=headers)
    assert expected[0] == 200
    assert await ask(own, "GET", headers=headers) == expected


async def test_text_on_purpose() -> None:
    async def tokens() -> AsyncIterable[str]:
        yield "one"

    fast, own = serve(tokens, tokens, "GET", has_events=True)
    assert (await ask(fast, "GET", headers=EVENTS))[2] == 'data: "one"\n\n'
    assert (await ask(own, "GET", headers=EVENTS))[2] == "data: one\n\n"
    fast, own = serve(tokens, tokens, "GET", has_events=False)
    assert await ask(fast, "GET") == await ask(own, "GET") == (200, "application/jsonl", '"one"\n')


async def test_an_early_error_on_purpose() -> None:
    async def fails() -> AsyncIterable[Item]:
        raise fastapi.HTTPException(404)
        yield

    async def own_fails() -> AsyncIterable[Item]:
        raise HTTPException(404)
        yield

    fast, own = serve(fails, own_fails, "GET", has_events=False)
    with pytest.raises(RuntimeError, match="response already started"):
        await ask(fast, "GET")
    assert (await ask(own, "GET"))[0] == 404
