# SPDX-License-Identifier: MIT
"""Response: statuses, headers, `json` both ways, redirects, copies."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
from http import HTTPStatus
from typing import Any, Self

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Blob, Context, FormData, Headers, HTTPException, Kit, Response
from kit.interface import Next


@given(st.integers(-10, 700))
def test_every_status(status: int) -> None:
    if status == 101 or 200 <= status <= 599:
        response = Response(None, status=status)
        assert (response.status, response.ok) == (status, 200 <= status <= 299)
    else:
        text = rf"^Invalid response status {status}: expected an int from 200 to 599$"
        with pytest.raises(ValueError, match=text):
            Response(None, status=status)


@pytest.mark.parametrize("status", [101.0, 200.0, "200", None, True, [200]])
def test_status_that_is_no_int(status: Any) -> None:
    with pytest.raises(ValueError, match=r"expected an int from 200 to 599(; write [0-9]+)?$"):
        Response(None, status=status)


def test_status_of_the_standard_library() -> None:
    response = Response(None, status=HTTPStatus.NOT_FOUND, status_text="Nope")
    assert (response.status, response.status_text, response.ok) == (404, "Nope", False)
    assert repr(response) == "<Response 404>"


@pytest.mark.parametrize("status", [101, 204, 205, 304])
@pytest.mark.parametrize("body", ["", b"", "x", [], Blob([]), FormData()], ids=repr)
def test_null_body_status(status: int, body: Any) -> None:
    text = rf"^A response with status {status} has no body: give None$"
    with pytest.raises(TypeError, match=text):
        Response(body, status=status)
    assert Response(None, status=status).body is None


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        pytest.param(None, "text/plain;charset=UTF-8", id="none"),
        pytest.param({}, "text/plain;charset=UTF-8", id="no headers"),
        pytest.param({"CONTENT-TYPE": "a/b"}, "a/b", id="own"),
        pytest.param({"Content-Type": ""}, "", id="own, empty"),
        pytest.param(Headers({"content-type": "a/b"}), "a/b", id="headers object"),
        pytest.param([("Content-Type", "a"), ("content-type", "b")], "a, b", id="pairs"),
    ],
)
def test_content_type(headers: Any, kind: str) -> None:
    assert Response("x", headers=headers).headers["content-type"] == kind


def test_headers_given_are_copied() -> None:
    given_headers = Headers({"a": "1"})
    response = Response("x", headers=given_headers)
    response.headers.set("a", "2")
    assert list(given_headers.items()) == [("a", "1")]
    assert response.headers["a"] == "2"
    assert response.headers is not given_headers


def test_headers_change_the_response() -> None:
    response = Response(None)
    kept = response.headers
    response.headers.append("Set-Cookie", "a=1")
    kept.append("set-cookie", "b=2")
    assert response.headers.get_set_cookie() == ["a=1", "b=2"]
    with pytest.raises(ValueError, match="CR, LF and NUL are not allowed"):
        Response(None, headers={"x": "a\r\nSet-Cookie: b"})


class Foreign:
    """Headers by the protocol of kit.interface and not a method more."""

    def __init__(self, lines: dict[str, list[str]]) -> None:
        self._lines = lines

    def get(self, name: str) -> str | None:
        values = self.get_all(name)
        return ", ".join(values) if values else None

    def get_all(self, name: str) -> list[str]:
        return self._lines.get(name.lower(), [])

    def get_set_cookie(self) -> list[str]:
        return self.get_all("set-cookie")

    def set(self, name: str, value: str) -> None:
        self._lines[name.lower()] = [value]

    def append(self, name: str, value: str) -> None:
        self._lines.setdefault(name.lower(), []).append(value)

    def delete(self, name: str) -> None:
        self._lines.pop(name.lower(), None)

    def has(self, name: str) -> bool:
        return name.lower() in self._lines

    def items(self) -> Any:
        for name, values in sorted(self._lines.items()):
            if name == "set-cookie":
                yield from ((name, value) for value in values)
            else:
                yield name, ", ".join(values)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.has(name)

    def __getitem__(self, name: str) -> str:
        return ", ".join(self._lines[name.lower()])

    def __iter__(self) -> Any:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def test_headers_of_another_implementation() -> None:
    foreign = Foreign({"a": ["1", "2"], "set-cookie": ["x=1", "y=2"]})
    headers = Response(None, headers=foreign).headers
    assert headers.get_all("a") in (["1", "2"], ["1, 2"])
    assert headers.get_set_cookie() == ["x=1", "y=2"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(None, "null", id="null"),
        pytest.param({"é": ["a", 1.5, True]}, '{"é":["a",1.5,true]}', id="compact, not escaped"),
        pytest.param("", '""', id="empty text"),
        pytest.param(float("nan"), "null", id="NaN"),
    ],
)
async def test_json_is_made(value: Any, text: str) -> None:
    response = Response.json(value)
    assert response.headers["content-type"] == "application/json"
    assert await response.text() == text


async def test_json_is_read() -> None:
    assert await Response('\ufeff{"a": [1]}').json() == {"a": [1]}
    for bad in ("", "{", "{'a': 1}", b"\xff", "1 2"):
        response = Response(bad)
        with pytest.raises(ValueError, match=r"."):
            await response.json()
        assert response.body_used


def test_json_refuses_what_has_no_body_or_can_not_be_sent() -> None:
    with pytest.raises(TypeError, match=r"^A response with status 204 has no body: give None$"):
        Response.json({}, status=204)
    with pytest.raises(TypeError, match=r"^Can't encode object as JSON, at \$\['a'\]\[1\]: <obj"):
        Response.json({"a": [1, object()]})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect(status: int) -> None:
    response = Response.redirect("/a?b=c d", status)
    assert (response.status, response.headers["location"]) == (status, "/a?b=c%20d")
    assert response.body is None


@pytest.mark.parametrize("status", [200, 300, 304, 305, 306, 309, 400, "302", None])
def test_redirect_with_another_status(status: Any) -> None:
    text = rf"^Invalid redirect status {status!r}: expected 301, 302, 303, 307 or 308$"
    with pytest.raises(ValueError, match=text):
        Response.redirect("/", status)


@pytest.mark.parametrize("url", ["/a\r\nSet-Cookie: x=1", "/a\n", "/\0"])
def test_redirect_to_what_is_no_header(url: str) -> None:
    if url == "/a\n":  # stripped, as WHATWG does to every header value
        assert Response.redirect(url).headers["location"] == "/a"
        return
    with pytest.raises(ValueError, match=r"^Invalid value .* of header 'location': "):
        Response.redirect(url)


async def test_copies_know_that_the_body_was_read() -> None:
    """An HTTPException carries a response, and errors survive pickle and copy."""

    response = Response("x")
    fresh = pickle.loads(pickle.dumps(response))
    assert await fresh.text() == "x"
    await response.text()
    for again in (pickle.loads(pickle.dumps(response)), copy.deepcopy(response)):
        assert again.body_used


def test_a_copy_has_headers_of_its_own() -> None:
    headers = Headers({"a": "1"})
    copy.copy(headers).set("a", "2")
    assert headers["a"] == "1"
    response = Response("x", headers=headers)
    copy.copy(response).headers.set("a", "2")
    assert response.headers["a"] == "1"


class Page(Response):
    """A subclass with its own constructor."""

    def __init__(self, title: str) -> None:
        super().__init__(f"<h1>{title}</h1>", status=203, headers={"content-type": "text/html"})
        self.title = title


class Slotted(Response):
    __slots__ = ("__dict__", "note")
    note: str


async def test_a_subclass_is_a_response() -> None:
    page = Page("Hi")
    assert isinstance(page, Response)
    assert (page.title, page.status, page.status_text) == ("Hi", 203, "")
    page.headers.set("x-a", "1")
    assert page.clone().headers["x-a"] == "1"
    assert copy.copy(page).status == 203
    assert await page.text() == "<h1>Hi</h1>"
    assert page.body_used
    slotted = Slotted("x", status=201)
    slotted.note = "n"
    assert (slotted.status, slotted.note, await slotted.text()) == (201, "n", "x")


class Labelled(Response):
    """A subclass with the constructor of a Response."""


class WithoutSlots(Response):
    __slots__ = ()


class Cramped(Response):
    __slots__ = ("note",)
    note: str


def test_a_subclass_may_have_slots() -> None:
    assert WithoutSlots("x", status=201).status == 201
    cramped = Cramped("x", status=201)
    cramped.note = "n"
    assert (cramped.status, cramped.note) == (201, "n")


class Noting:
    """A base class with a constructor of its own."""

    notes: list[object]

    def __new__(cls, note: object, **others: object) -> Self:
        noting = super().__new__(cls)
        noting.notes = [note, others]
        return noting

    def __init_subclass__(cls, *, topic: str = "", **options: object) -> None:
        super().__init_subclass__(**options)
        cls.topic = topic

    topic: str


async def test_a_subclass_has_other_bases() -> None:
    class Noted(Response, Noting, topic="news"):
        pass

    noted = Noted("x", status=201)
    assert (noted.topic, noted.notes, noted.status) == ("news", ["x", {"status": 201}], 201)
    assert await noted.text() == "x"


async def test_an_app_sends_an_object_of_a_subclass() -> None:
    async def late(c: Context, next: Next) -> None:
        await next()
        c.header("x-late", "1")

    def page(c: Context) -> Any:
        return Page("Hi")

    app = Kit().use(late).get("/", page)
    response = await app.request("/")
    assert (response.status, response.headers["x-late"]) == (203, "1")
    assert await response.text() == "<h1>Hi</h1>"


def test_the_constructor_is_described() -> None:
    names = ["body", "status", "status_text", "headers"]
    assert [*inspect.signature(Response).parameters] == names
    assert inspect.getdoc(Response()) == inspect.getdoc(Response)
    assert "track_body(self)" in pydoc.plain(pydoc.render_doc(Response()))
    for arguments, keywords in (((None, 200), {}), ((), {"stats": 200})):
        with pytest.raises(TypeError, match=r"^Response\.__init__\(\) "):
            Response(*arguments, **keywords)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "Gone fishing"])
def test_a_response_is_no_data(text: str) -> None:
    response = Response("x", status_text=text)
    with pytest.raises(TypeError, match=r"^Encoding objects of type Response is unsupported"):
        msgspec.json.encode(response)
    assert not hasattr(response, "__struct_fields__")
    assert not hasattr(response, "__rich_repr__")
    problem = r"^Can't encode Response as JSON, at \$\['a'\]\[0\]: <Response 200>$"
    with pytest.raises(TypeError, match=problem):
        Response.json({"a": [response]})


@pytest.mark.parametrize("status_text", ["", "Fine"])
@pytest.mark.parametrize("kind", [Response, Labelled])
def test_the_status_text_is_copied(kind: Any, status_text: str) -> None:
    response = kind("x", status_text=status_text)
    error = HTTPException(400, res=response)
    twins = [
        copy.copy(response),
        copy.deepcopy(response),
        response.clone(),
        pickle.loads(pickle.dumps(response)),
        copy.deepcopy(error).res,
        pickle.loads(pickle.dumps(error)).res,
    ]
    for twin in twins:
        assert twin.status_text == status_text
        with pytest.raises(TypeError, match=r"unsupported$"):
            msgspec.json.encode(twin)
    if kind is Labelled:
        assert [type(twins[index]) for index in (1, 3, 4, 5)] == [Labelled] * 4
