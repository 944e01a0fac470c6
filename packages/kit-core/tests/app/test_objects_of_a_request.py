# SPDX-License-Identifier: MIT
"""Context and request behave as other objects do."""

from __future__ import annotations

import gc
import weakref
from typing import Any, get_type_hints

import pytest

from kit import Context, Kit, KitRequest, Request, Response


class Marker:
    """Something that tells whether it is still there."""


def test_no_two_are_equal() -> None:
    one, other = (KitRequest(Request("http://x/")) for _ in range(2))
    assert one != other
    assert len({one, other}) == 2


def test_no_attribute_can_be_added() -> None:
    req = KitRequest(Request("http://x/"))
    with pytest.raises(AttributeError):
        req.other = 1  # type: ignore[attr-defined]


async def test_a_context_that_holds_itself_is_collected() -> None:
    seen: list[weakref.ref[Marker]] = []

    def handler(c: Context) -> Any:
        marker = Marker()
        seen.append(weakref.ref(marker))
        c.set("context", c)
        c.set("request", c.req)
        c.set("marker", marker)
        return c.text("")

    await Kit().get("/", handler).request("/")
    gc.collect()
    assert seen[0]() is None


async def test_they_say_what_they_are() -> None:
    app = Kit().get("/users/:id", lambda c: c.text(f"{c!r} {c.req!r}"))
    text = await (await app.request("/users/7", {"method": "GET"})).text()
    assert text == "<Context GET /users/7> <KitRequest GET /users/7>"


async def test_what_they_say_has_no_line_breaks() -> None:
    app = Kit().get("/*", lambda c: c.text(f"{c!r} {c.req!r}"))
    text = await (await app.request("/a%0aERROR")).text()
    assert text == "<Context GET /a\\nERROR> <KitRequest GET /a\\nERROR>"


def test_annotations_can_be_read() -> None:
    assert get_type_hints(KitRequest)["path"] is str
    assert get_type_hints(Context.text)["return"] is Response


def test_a_request_takes_its_arguments_by_name() -> None:
    match: Any = ([("handler", {"id": "7"})],)
    req = KitRequest(request=Request("http://x/users/7?a=1"), match_result=match, path="/users/7")
    assert isinstance(req, KitRequest)
    assert (req.path, req.param(), req.query("a"), req.method) == (
        "/users/7",
        {"id": "7"},
        "1",
        "GET",
    )
    with pytest.raises(TypeError):
        KitRequest()  # type: ignore[call-arg]
