# SPDX-License-Identifier: MIT
"""`kit.validator`: each target with functions and with each kind of type."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import MutableSet
from dataclasses import dataclass, field
from datetime import date
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    TypedDict,
    TypeVar,
)

import msgspec
import pytest

from kit import Context, File, FormData, HTTPException, Kit, Limits, Response
from kit.cookie import get_cookie
from kit.validator import validator

try:
    import attrs
except ImportError:
    attrs = None  # type: ignore[assignment]
try:
    import pydantic
except ImportError:
    pydantic = None  # type: ignore[assignment]

needs_attrs = pytest.mark.skipif(attrs is None, reason="attrs is not installed")
needs_pydantic = pytest.mark.skipif(pydantic is None, reason="pydantic is not installed")

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
T = TypeVar("T")


async def send(target: Any, kind: Any, path: str = "/", **init: Any) -> tuple[Response, Any]:
    """Sends a request to an app that validates it; gives the response and the valid data."""
    app = Kit()
    seen: list[Any] = []

    def handler(c: Context) -> Response:
        seen.append(c.req.valid(target))
        return c.text("handled")

    app.all("/:id?/:part?", validator(target, kind), handler)
    if "body" in init:
        init.setdefault("method", "POST")
    response = await app.request(path, init)  # type: ignore[arg-type]
    assert bool(seen) == (response.status == 200)
    return response, seen[0] if seen else None


async def valid(target: Any, kind: Any, path: str = "/", **init: Any) -> Any:
    response, data = await send(target, kind, path, **init)
    assert response.status == 200, await response.text()
    return data


async def errors(target: Any, kind: Any, path: str = "/", **init: Any) -> list[tuple[str, str]]:
    response, _ = await send(target, kind, path, **init)
    assert (response.status, response.headers["content-type"]) == (400, "application/problem+json")
    problem = await response.json()
    assert (problem["title"], problem["status"], problem["target"]) == ("Bad Request", 400, target)
    assert list(problem) == ["title", "status", "detail", "target", "errors"]
    return [(error["path"], error["message"]) for error in problem["errors"]]


async def errors_of_json(kind: Any, value: Any) -> list[tuple[str, str]]:
    return await errors("json", kind, headers=JSON, body=json.dumps(value))


def as_given(value: Any, c: Context) -> Any:
    return value


# Functions: what they get is what Hono's validator gives.


@pytest.mark.parametrize(
    ("target", "path", "init", "value"),
    [
        ("query", "/?a=1&b=2&a=3&c", {}, {"a": ["1", "3"], "b": "2", "c": ""}),
        ("query", "/", {}, {}),
        ("param", "/a%20b", {}, {"id": "a b"}),
        ("param", "/", {}, {}),
        ("header", "/", {"headers": [("X-A", "1"), ("x-a", "2")]}, {"x-a": "1, 2"}),
        ("cookie", "/", {"headers": {"cookie": "a=%201; b=2; a=3"}}, {"a": " 1", "b": "2"}),
        ("cookie", "/", {}, {}),
        ("form", "/", {"headers": FORM, "body": "a=1&a=2&b=3"}, {"a": ["1", "2"], "b": "3"}),
        ("form", "/", {"headers": FORM, "body": "a[]=1&b.c=2"}, {"a[]": ["1"], "b.c": "2"}),
        ("form", "/", {"headers": JSON, "body": "a=1"}, {}),
        ("form", "/", {}, {}),
        ("json", "/", {"headers": JSON, "body": '{"a": [1]}'}, {"a": [1]}),
        ("json", "/", {"headers": JSON, "body": "null"}, None),
        ("json", "/", {"headers": FORM, "body": '{"a": 1}'}, {}),
        ("json", "/", {"headers": {"content-type": "text/json"}, "body": "1"}, {}),
        ("json", "/", {}, {}),
    ],
)
async def test_what_a_function_is_given(target: Any, path: str, init: Any, value: Any) -> None:
    assert await valid(target, as_given, path, **init) == value


@pytest.mark.parametrize(
    "kind",
    [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json ;a=b",
        "application/vnd.api+json",
        "application/ld+json; profile=x",
        "application/problem-v2+json",
    ],
)
async def test_content_types_of_json(kind: str) -> None:
    assert await valid("json", as_given, headers={"content-type": kind}, body="[1]") == [1]


async def test_what_a_function_gives() -> None:
    async def later(value: Any, c: Context) -> Any:
        return {"page": int(value["page"]), "path": c.req.path}

    assert await valid("query", later, "/x?page=2") == {"page": 2, "path": "/x"}
    assert await valid("query", lambda value, c: None) is None

    class Sorting:
        def __call__(self, value: Any, c: Context) -> Any:
            return sorted(value)

    assert await valid("query", Sorting(), "/?b&a") == ["a", "b"]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_response_is_the_answer(is_async: bool) -> None:
    def refuse(value: Any, c: Context) -> Response:
        return c.json(value, 422)

    async def refuse_later(value: Any, c: Context) -> Response:
        return refuse(value, c)

    response, _ = await send("query", refuse_later if is_async else refuse, "/?a=1")
    assert (response.status, await response.json()) == (422, {"a": "1"})


async def test_what_a_function_raises() -> None:
    def refuse(value: Any, c: Context) -> Any:
        raise HTTPException(403, "not you")

    response, _ = await send("query", refuse)
    assert (response.status, await response.text()) == (403, "not you")
    response, _ = await send("query", lambda value, c: value["none"])
    assert response.status == 500


@pytest.mark.parametrize("kind", [as_given, dict])
@pytest.mark.parametrize(
    ("target", "content_type", "body", "text"),
    [
        ("json", "application/json", '{"a":', "Malformed JSON in the request body: Input data"),
        ("json", "application/json", "", "Malformed JSON in the request body: Input data"),
        ("json", "application/json", b'"\xff"', "Malformed JSON in the request body: JSON is"),
        ("json", "application/json", "[" * 9999, "Malformed JSON in the request body: it is"),
        ("form", "multipart/form-data; boundary=x", "--y", "Malformed"),
        ("form", "multipart/form-data", "--y", "Malformed"),
    ],
)
async def test_malformed_bodies(
    kind: Any, target: Any, content_type: str, body: Any, text: str
) -> None:
    response, _ = await send(target, kind, headers={"content-type": content_type}, body=body)
    assert response.status == 400
    assert response.headers["content-type"].startswith("text/plain")
    assert (await response.text()).startswith(text)


# Types: the same fields in each kind of type.


@dataclass
class Page:
    page: int
    ratio: float = 1.0
    tags: list[str] = field(default_factory=list)
    open: bool | None = None


class PageStruct(msgspec.Struct):
    page: int
    ratio: float = 1.0
    tags: list[str] = []
    open: bool | None = None


class PageDict(TypedDict):
    page: int
    ratio: NotRequired[float]
    tags: NotRequired[list[str]]
    open: NotRequired[bool | None]


class PageTuple(NamedTuple):
    page: int
    ratio: float = 1.0
    tags: list[str] = []  # noqa: RUF012 - as users write it
    open: bool | None = None


class PageArray(msgspec.Struct, array_like=True):
    page: int
    ratio: float = 1.0
    tags: list[str] = []
    open: bool | None = None


KINDS = [
    pytest.param(Page, id="dataclass"),
    pytest.param(PageStruct, id="Struct"),
    pytest.param(PageDict, id="TypedDict"),
    pytest.param(PageTuple, id="NamedTuple"),
    pytest.param(PageArray, id="array Struct"),
]

if attrs is not None:

    @attrs.define
    class PageAttrs:
        page: int
        ratio: float = 1.0
        tags: list[str] = attrs.field(factory=list)
        open: bool | None = None

    KINDS.append(pytest.param(PageAttrs, id="attrs"))

if pydantic is not None:

    class PageModel(pydantic.BaseModel):
        page: int
        ratio: float = 1.0
        tags: list[str] = []  # noqa: RUF012 - as users write it
        open: bool | None = None

    @pydantic.dataclasses.dataclass
    class PageModelClass:
        page: int
        ratio: float = 1.0
        tags: list[str] = field(default_factory=list)
        open: bool | None = None

    KINDS += [
        pytest.param(PageModel, id="pydantic"),
        pytest.param(PageModelClass, id="pydantic dataclass"),
    ]


def attributes(value: Any) -> Any:
    names = ("page", "ratio", "tags", "open")
    if isinstance(value, dict):
        return tuple(value.get(name) for name in names)
    return tuple(getattr(value, name) for name in names)


MULTIPART = (
    '--x\r\ncontent-disposition: form-data; name="page"\r\n\r\n7\r\n'
    '--x\r\ncontent-disposition: form-data; name="tags"\r\n\r\na\r\n--x--\r\n'
)
TEXTS = [
    pytest.param("query", "/?page=7&tags=a&more=1", {}, ["a"], id="query"),
    pytest.param("query", "/?page=7&page=8&tags=a&tags=b", {}, ["a", "b"], id="query, repeated"),
    pytest.param("form", "/", {"headers": FORM, "body": "page=7&tags=a"}, ["a"], id="form"),
    pytest.param(
        "form",
        "/",
        {"headers": FORM, "body": "page=8&tags=a&page=7&tags=b"},
        ["a", "b"],
        id="form, repeated",
    ),
    pytest.param(
        "form",
        "/",
        {"headers": {"content-type": "multipart/form-data; boundary=x"}, "body": MULTIPART},
        ["a"],
        id="form, multipart",
    ),
    pytest.param("header", "/", {"headers": {"Page": "7", "TAGS": "a, b"}}, ["a, b"], id="header"),
    pytest.param(
        "header",
        "/",
        {"headers": [("page", "7"), ("tags", "a"), ("tags", "b")]},
        ["a", "b"],
        id="header, repeated",
    ),
    pytest.param("cookie", "/", {"headers": {"cookie": "page=7; tags=a"}}, ["a"], id="cookie"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("target", "path", "init", "tags"), TEXTS)
async def test_text_becomes_what_the_fields_are(
    kind: Any, target: Any, path: str, init: Any, tags: list[str]
) -> None:
    data = await valid(target, kind, path, **init)
    assert isinstance(data, dict if kind is PageDict else kind)
    page, ratio, got, is_open = attributes(data)
    assert (page, got) == (7, tags)
    assert (ratio, is_open) == ((None, None) if kind is PageDict else (1.0, None))


@pytest.mark.parametrize("kind", KINDS)
async def test_coercion(kind: Any) -> None:
    data = await valid("query", kind, "/?page=-7&ratio=2&open=false")
    assert attributes(data)[:2] == (-7, 2.0)
    assert attributes(data)[3] is False


@pytest.mark.parametrize("kind", KINDS)
async def test_every_field_that_is_wrong_is_named(kind: Any) -> None:
    found = await errors("query", kind, "/?ratio=x&open=2&tags=a")
    assert [path for path, _ in found] == ["page", "ratio", "open"]
    if kind not in (globals().get("PageModel"), globals().get("PageModelClass")):
        assert [message for _, message in found] == [
            "Missing required field",
            "Expected `float`",
            "Expected `bool | null`",
        ]


@pytest.mark.parametrize("kind", KINDS)
async def test_parameters_of_the_path(kind: Any) -> None:
    app = Kit()
    app.get("/:page/:ratio", validator("param", kind), lambda c: c.json(c.req.valid("param")))
    assert (await app.request("/7/0.5")).status == 200
    response = await app.request("/a/b")
    assert [error["path"] for error in (await response.json())["errors"]] == ["page", "ratio"]


OBJECTS = [
    kind
    for kind in KINDS
    if kind.values[0] not in (PageTuple, PageArray)  # JSON arrays, both
]


@pytest.mark.parametrize("kind", OBJECTS)
async def test_json(kind: Any) -> None:
    body = '\ufeff{"page": 7, "tags": ["a"], "more": null}'
    data = await valid("json", kind, headers=JSON, body=body)
    assert isinstance(data, dict if kind is PageDict else kind)
    assert attributes(data)[::2] == (7, ["a"])


@pytest.mark.parametrize("kind", OBJECTS)
async def test_json_that_does_not_fit(kind: Any) -> None:
    found = await errors_of_json(kind, {"ratio": [], "tags": ["a", 1, {}], "open": "maybe"})
    assert [path for path, _ in found] == ["page", "ratio", "tags[1]", "tags[2]", "open"]
    assert [path for path, _ in await errors_of_json(kind, [1])] == [""]


@pytest.mark.parametrize("kind", [*OBJECTS, dict[str, str], Page | None])
@pytest.mark.parametrize(
    ("target", "content_type", "body", "accepted"),
    [
        ("json", "text/plain", '{"page": 1}', "application/json"),
        ("json", None, '{"page": 1}', "application/json"),
        ("json", "application/x-www-form-urlencoded", "page=1", "application/json"),
        (
            "form",
            "application/json",
            "{}",
            "multipart/form-data, application/x-www-form-urlencoded",
        ),
    ],
)
async def test_a_body_of_another_type_is_a_415(
    kind: Any, target: Any, content_type: str | None, body: str, accepted: str
) -> None:
    """Also if all fields are optional: a body is never ignored."""
    headers = {} if content_type is None else {"content-type": content_type}
    response, _ = await send(target, kind, headers=headers, body=body.encode())
    assert response.status == 415
    assert response.headers["accept"] == accepted
    assert "accept-patch" not in response.headers
    problem = await response.json()
    found = "There is no Content-Type" if content_type is None else f"is {content_type!r}"
    assert problem["title"] == "Unsupported Media Type"
    assert found in problem["detail"]
    assert f"expected {accepted.replace(', ', ' or ')}" in problem["detail"]
    response, _ = await send(target, kind, headers=headers, body=body.encode(), method="PATCH")
    assert response.headers["accept-patch"] == accepted


async def test_a_function_gets_no_body_of_another_type() -> None:
    """As Hono's validator has it."""
    for target in ("json", "form"):
        headers = {"content-type": "text/plain"}
        assert await valid(target, as_given, headers=headers, body="x") == {}


@pytest.mark.parametrize("kind", ["application/vnd.api+json", "application/merge-patch+json"])
async def test_other_types_of_json(kind: str) -> None:
    headers = {"content-type": kind}
    assert await valid("json", Page, headers=headers, body='{"page": 1}') == Page(1)


async def test_no_body_is_no_body_of_another_type() -> None:
    @dataclass
    class Options:
        page: int = 3

    for target in ("json", "form"):
        headers = {"content-type": "text/plain", "content-length": "0"}
        for sent in ({}, headers):
            found = await valid(target, Options, headers=sent, method="POST", body="")
            assert found == Options()


@pytest.mark.parametrize("kind", [Page, PageStruct, PageDict])
async def test_json_is_not_coerced(kind: Any) -> None:
    assert await errors_of_json(kind, {"page": "7", "open": 1}) == [
        ("page", "Expected `int`, got `str`"),
        ("open", "Expected `bool | null`, got `int`"),
    ]


async def test_named_tuples_are_arrays_in_json() -> None:
    assert await valid("json", PageTuple, headers=JSON, body="[7]") == PageTuple(7)
    assert await errors_of_json(PageTuple, [7, "x"]) == [("[1]", "Expected `float`, got `str`")]


async def test_files() -> None:
    @dataclass
    class Upload:
        title: str
        file: File
        more: list[File]
        none: File | None = None

    form = FormData()
    form.append("title", "t")
    for name in ("file", "more", "more"):
        form.append(name, File([name.encode()], f"{name}.txt"))
    data = await valid("form", Upload, body=form)
    assert (data.title, data.file.name, data.none) == ("t", "file.txt", None)
    assert [file.name for file in data.more] == ["more.txt", "more.txt"]
    form = FormData()
    form.append("title", File([b""], "t.txt"))
    form.append("file", "no file")
    assert await errors("form", Upload, body=form) == [
        ("title", "Expected `str`, got `File`"),
        ("file", "Expected `File`"),
        ("more", "Missing required field"),
    ]


class Contents(msgspec.Struct):
    cover: bytes
    pages: list[bytes] | None = None


class ModelOfContents(pydantic.BaseModel):
    pages: list[bytes] | None = None
    cover: bytes = pydantic.Field(alias="cover-image")


class TupleOfContents(NamedTuple):
    cover: bytes
    pages: list[bytes] | None = None


@pytest.mark.parametrize("kind", [Contents, ModelOfContents, TupleOfContents])
async def test_bytes_are_the_content_of_files(kind: Any) -> None:
    name = "cover-image" if kind is ModelOfContents else "cover"
    form = FormData()
    form.append(name, File([b"abc"], "a.png"))
    data = await valid("form", kind, body=form)
    assert (data.cover, data.pages) == (b"abc", None)
    for number in (b"1", b"2"):
        form.append("pages", File([number], "page"))
    assert (await valid("form", kind, body=form)).pages == [b"1", b"2"]
    form.append("pages", "dGV4dA==")
    text = b"dGV4dA==" if kind is ModelOfContents else b"text"
    assert (await valid("form", kind, body=form)).pages == [b"1", b"2", text]


async def test_names_of_headers() -> None:
    class Headers(msgspec.Struct, rename={"agent": "User-Agent", "plain": "not_a_dash"}):
        x_request_id: int
        agent: str
        plain: str = ""
        if_none_match: list[str] = []

    lines = [("X-Request-ID", "7"), ("user-agent", "me"), ("not_a_dash", "p")]
    lines += [("If-None-Match", '"a"'), ("If-None-Match", '"b"')]
    data = await valid("header", Headers, headers=lines)
    assert data == Headers(7, "me", "p", ['"a"', '"b"'])
    # What a client sends by another name than the one that proxies see to is nothing.
    found = await errors("header", Headers, headers=[("x_request_id", "7"), ("agent", "me")])
    message = "Missing required field"
    assert found == [("x-request-id", message), ("user-agent", message)]
    assert await errors("header", Headers, headers={"x-request-id": "a", "user-agent": "b"}) == [
        ("x-request-id", "Expected `int`")
    ]


class Separated(msgspec.Struct):
    ids: list[int] = []
    sizes: list[Literal["s", "m"]] | Literal["all"] = []
    words: list[str] = []


async def test_commas_separate_the_numbers_of_a_header() -> None:
    lines = [("ids", "1, 2,,"), ("ids", "3"), ("sizes", "s,m"), ("words", "a, b"), ("words", "c")]
    data = await valid("header", Separated, headers=lines)
    assert data == Separated([1, 2, 3], ["s", "m"], ["a, b", "c"])
    assert await errors("header", Separated, headers=[("ids", "1,x"), ("ids", "y")]) == [
        ("ids[1]", "Expected `int`"),
        ("ids[2]", "Expected `int`"),
    ]


@needs_pydantic
async def test_commas_separate_the_numbers_of_a_header_of_a_model() -> None:
    class Model(pydantic.BaseModel):
        ids: list[int] | None = pydantic.Field(None, alias="X-Ids")
        days: tuple[date, ...] = ()
        words: tuple[str, ...] = ()

    lines = [("x-ids", "1, 2"), ("x-ids", "3"), ("days", "2020-02-29,2021-01-01"), ("words", "a,b")]
    data = await valid("header", Model, headers=lines)
    assert data.ids == [1, 2, 3]
    assert data.days == (date(2020, 2, 29), date(2021, 1, 1))
    assert data.words == ("a,b",)


async def test_headers_that_nothing_knows_are_not_forbidden() -> None:
    class Strict(msgspec.Struct, forbid_unknown_fields=True):
        x_id: int

    lines = {"host": "localhost", "x-id": "1", "x_id": "2"}
    assert (await valid("header", Strict, headers=lines)).x_id == 1


async def test_unknown_fields_of_a_query() -> None:
    class Strict(msgspec.Struct, forbid_unknown_fields=True):
        page: int = 1

    assert (await valid("query", Strict)).page == 1
    assert await errors("query", Strict, "/?page=1&pgae=2&x") == [
        ("pgae", "Unknown field"),
        ("x", "Unknown field"),
    ]


# Pydantic.


@needs_pydantic
async def test_models_of_pydantic() -> None:
    class Headers(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", populate_by_name=True)
        token: str = pydantic.Field(alias="X-Token")
        request_id: int

    lines = {"x-token": "t", "request-id": "7"}
    data = await valid("header", Headers, headers=lines)
    assert (data.token, data.request_id) == ("t", 7)
    found = await errors("header", Headers, headers={"token": "t", "request_id": "x", "a": "1"})
    assert [path for path, _ in found] == ["x-token", "request-id"]

    class Search(pydantic.BaseModel):
        tags: set[int] | None = pydantic.Field(None, validation_alias="tag")
        words: tuple[str, ...] = pydantic.Field(
            (), validation_alias=pydantic.AliasChoices("w", "word")
        )
        text: str = ""

        @pydantic.model_validator(mode="after")
        def check(self) -> Any:
            if self.text == "no":
                raise ValueError("not this")
            return self

    data = await valid("query", Search, "/?tag=1&tag=2&word=a&text=x&text=y")
    assert (data.tags, data.words, data.text) == ({1, 2}, ("a",), "x")
    assert await errors("query", Search, "/?text=no") == [("", "Value error, not this")]
    found = await errors("query", Search | None, "/?tag=x&tag=y")
    assert [path for path, _ in found] == ["tag[0]", "tag[1]"]


# In an app.


async def test_several_validators_of_one_route() -> None:
    app = Kit()

    async def handler(c: Context) -> Response:
        valid = c.req.valid
        text = await c.req.text()
        return c.json([valid("param").page, valid("query")["page"], valid("json"), text])

    app.post(
        "/:page",
        validator("param", Page),
        validator("query", PageDict),
        validator("json", as_given),
        handler,
    )
    response = await app.request("/1?page=2", {"method": "POST", "headers": JSON, "body": "3"})
    assert await response.json() == [1, 2, 3, "3"]


async def test_for_all_routes_with_use() -> None:
    app = Kit()
    app.use("/a/*", validator("query", Page))
    app.get("/a/b", lambda c: c.json(c.req.valid("query").page))
    assert await (await app.request("/a/b?page=1")).json() == 1
    assert (await app.request("/a/b")).status == 400


async def test_limits_are_kept() -> None:
    app = Kit(limits=Limits(max_body_size_bytes=5))
    app.post("/json", validator("json", dict), lambda c: c.text("handled"))
    app.post("/form", validator("form", dict), lambda c: c.text("handled"))
    for path, headers in (("/json", JSON), ("/form", FORM)):
        init: Any = {"method": "POST", "headers": headers, "body": " " * 6}
        assert (await app.request(path, init)).status == 413


async def test_cookies_are_those_of_get_cookie() -> None:
    app = Kit()
    app.get(
        "/",
        validator("cookie", lambda value, c: value == get_cookie(c)),
        lambda c: c.json(c.req.valid("cookie")),
    )
    response = await app.request("/", {"headers": {"cookie": 'a="1"; b=%zz; c'}})
    assert await response.json() is True


def test_its_name() -> None:
    for kind in (Page, as_given):
        assert validator("query", kind).__name__ == "validator"


@dataclass
class Defaults:
    title: str
    year: int | None = None
    state: str = "new"


class Holder(NamedTuple):
    title: str
    within: Defaults | None = None


@pytest.mark.parametrize(
    ("target", "init"),
    [
        ("json", {"headers": JSON, "body": '{"title":"x"}'}),
        ("form", {"headers": FORM, "body": "title=x"}),
        ("query", {"path": "/?title=x"}),
        ("header", {"headers": {"title": "x"}}),
        ("cookie", {"headers": {"cookie": "title=x"}}),
    ],
)
async def test_dataclass_is_complete(target: Any, init: dict[str, Any]) -> None:
    value = await valid(target, Defaults, **init)
    assert vars(value) == {"title": "x", "year": None, "state": "new"}
    assert await Response.json(value).json() == vars(value)


async def test_dataclasses_within_are_complete() -> None:
    kind = dict[str, list[Defaults]]
    value = await valid("json", kind, headers=JSON, body='{"a":[{"title":"x"}]}')
    assert vars(value["a"][0]) == {"title": "x", "year": None, "state": "new"}
    assert await valid("query", Holder, "/?title=x") == Holder("x")


WORD = Annotated[str, msgspec.Meta(pattern="^[a-z]+$")]


@pytest.mark.parametrize("target", ["json", "query"])
@pytest.mark.parametrize(
    "kind",
    [
        list[int] | WORD,
        WORD | dict[str, int] | None,
        set[int] | bool | WORD,
        tuple[int, ...] | WORD,
        list[list[int] | WORD],
        Annotated[list[int], msgspec.Meta(max_length=2)] | WORD,
        list[int] | Annotated[WORD | bool, "note"],
        MutableSet[int] | WORD,
        NewType("Numbers", list[int]) | NewType("Word", WORD),
        NewType("Both", list[int] | WORD),  # type: ignore[valid-newtype]
    ],
)
def test_unions_that_crash_msgspec_are_refused(target: Any, kind: Any) -> None:
    problem = (
        "msgspec doesn't support a union of an array or dict with a str that has a pattern: check "
        "the pattern elsewhere"
    )
    with pytest.raises(TypeError) as caught:
        validator(target, kind)
    assert str(caught.value) == f"validator({target!r}, {kind!r:.100}): {problem}"


def test_unions_that_msgspec_supports_are_not_refused() -> None:
    for kind in (list[WORD], list[int] | str, tuple[int, int] | WORD, WORD | int):
        validator("json", kind)


# In a process that doesn't drop its classes at the end, since msgspec would crash.
HOLDERS = """
import gc, os
from typing import Annotated, NamedTuple
import msgspec
from kit.validator import validator

Union = list[int] | Annotated[str, msgspec.Meta(pattern="^[a-z]+$")]

class Held(msgspec.Struct):
    value: Union

class HeldByPosition(NamedTuple):
    value: Union

for number in range(20):
    validator("json", Held)
    validator("query", HeldByPosition)
    gc.collect()
os._exit(0)
"""


def test_they_may_be_fields() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOLDERS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
