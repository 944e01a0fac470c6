# SPDX-License-Identifier: MIT
"""Where values come from: path, query, headers, cookies, forms, bodies and the context."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict
from uuid import UUID

import annotated_types
import attrs
import msgspec
import pydantic
import pytest

import kit.interface
from kit import Context, File, FormData, Kit, Response
from kit.interface.metadata import attach, get_facts
from kit.typed import Body, Cookie, Depends, Env, Form, Header, Path, Query, Var, typed
from kit.typed import File as FileMarker

UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Book(msgspec.Struct):
    title: str
    pages: int = 1


@dataclasses.dataclass
class Plain:
    title: str
    tags: list[str] = dataclasses.field(default_factory=list)


@attrs.define
class Attrs:
    title: str


class Typed(TypedDict):
    title: str


class Named(NamedTuple):
    title: str


class Model(pydantic.BaseModel):
    title: str = pydantic.Field(alias="Title")


class Cat(msgspec.Struct, tag="cat"):
    lives: int


class Dog(msgspec.Struct, tag="dog"):
    legs: int


def returning(annotation: Any, default: Any = ..., name: str = "x") -> Callable[..., Any]:
    """Makes an endpoint with one parameter that returns what it got, as its repr."""

    def endpoint(**values: Any) -> dict[str, str]:
        return {"is": repr(values[name])}

    import inspect

    empty = inspect.Parameter.empty
    parameter = inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=annotation,
        default=empty if default is ... else default,
    )
    endpoint.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]
    return typed(endpoint)


async def shown(app: Kit, path: str, **options: Any) -> Any:
    response = await app.request(path, **options)
    document = await response.json()
    if response.status != 200:
        return [(each["path"], each["type"]) for each in document["errors"]]
    return document["is"]


@pytest.mark.parametrize(
    ("annotation", "text", "expected"),
    [
        (int, "12", 12),
        (int, "-3", -3),
        (float, "1.5", 1.5),
        (bool, "true", True),
        (bool, "0", False),
        (str, "a b", "a b"),
        (str, "", ""),
        (UUID, "12345678-1234-5678-1234-567812345678", UUID("12345678123456781234567812345678")),
        (date, "2024-02-29", date(2024, 2, 29)),
        (datetime, "2024-02-29T01:02:03", datetime(2024, 2, 29, 1, 2, 3)),
        (Decimal, "1.10", Decimal("1.10")),
        (Color, "red", Color.RED),
        (Literal["a", "b"], "b", "b"),
        (Literal[1, 2], "2", 2),
        (UserId, "7", 7),
        (int | None, "7", 7),
        (int | bool, "true", True),
        (str | None, "null", "null"),
        (Annotated[int, msgspec.Meta(ge=1)], "1", 1),
    ],
)
async def test_simple_types_are_the_query_and_the_path(
    annotation: Any, text: str, expected: Any
) -> None:
    from urllib.parse import quote

    app = Kit().get("/query", returning(annotation)).get("/path/:x", returning(annotation))
    app.get("/header", returning(Annotated[annotation, Header()]))
    app.get("/cookie", returning(Annotated[annotation, Cookie()]))
    assert await shown(app, f"/query?x={quote(text)}") == repr(expected)
    if text:
        assert await shown(app, f"/path/{quote(text)}") == repr(expected)
        assert await shown(app, "/header", headers={"x": text}) == repr(expected)
    if text and " " not in text:
        assert await shown(app, "/cookie", headers={"cookie": f"x={text}"}) == repr(expected)


@pytest.mark.parametrize(
    ("annotation", "text", "kind"),
    [
        (int, "1.5", "int_type"),
        (int, "1_000", "int_type"),
        (int, " 1", "int_type"),
        (int, "", "int_type"),
        (int, "\u0661", "int_type"),
        (bool, "maybe", "bool_type"),
        (UUID, "no", "uuid_parsing"),
        (date, "2024-02-30", "date_parsing"),
        (Color, "green", "enum"),
        (Literal["a", "b"], "c", "enum"),
        (Annotated[int, msgspec.Meta(ge=1)], "0", "greater_than_equal"),
        (Annotated[int | None, msgspec.Meta(ge=1)], "0", "greater_than_equal"),
        (Annotated[int | None, Query(ge=1)], "0", "greater_than_equal"),
        (Annotated[float, annotated_types.Lt(3)], "3", "less_than"),
        (Annotated[str, annotated_types.Len(2, 3)], "1", "string_too_short"),
        (Annotated[float, pydantic.Field(gt=2, description="many")], "2", "greater_than"),
        (Annotated[str, pydantic.Field(pattern="^a$")], "b", "string_pattern_mismatch"),
        (Annotated[str, Query(max_length=2, pattern="^a")], "abc", "string_too_long"),
    ],
)
async def test_what_does_not_fit(annotation: Any, text: str, kind: str) -> None:
    from urllib.parse import quote

    app = Kit().get("/", returning(annotation))
    assert await shown(app, f"/?x={quote(text)}") == [("x", kind)]


async def test_lists_take_every_value() -> None:
    app = Kit().get("/list", returning(list[int])).get("/tuple", returning(tuple[str, ...], ()))
    app.get("/sequence", returning(Sequence[int], ())).get("/set", returning(set[int], set()))
    app.get("/optional", returning(list[int] | None, None))
    app.get("/header", returning(Annotated[list[str], Header()], name="x_tag"))
    assert await shown(app, "/list?x=1&x=2&y=3") == "[1, 2]"
    assert await shown(app, "/list?x=1&x=b") == [("x[1]", "int_type")]
    assert await shown(app, "/list") == [("x", "missing")]
    assert await shown(app, "/tuple") == "()"
    assert await shown(app, "/tuple?x=") == "('',)"
    assert await shown(app, "/sequence?x=1") == "[1]"
    assert await shown(app, "/set?x=1&x=1") == "{1}"
    assert await shown(app, "/optional") == "None"
    assert await shown(app, "/optional?x=4") == "[4]"
    headers = [("x-tag", "a"), ("x-tag", "b, c")]
    assert await shown(app, "/header", headers=headers) == "['a', 'b, c']"


async def test_a_default_list_of_the_query_is_copied() -> None:
    app = Kit()

    @app.get("/")
    @typed
    def endpoint(tags: list[str] = ["a"]) -> list[str]:  # noqa: B006
        tags.append("b")
        return tags

    for _ in range(2):
        assert await (await app.request("/")).json() == ["a", "b"]


async def test_repeated_empty_and_absent() -> None:
    app = Kit().get("/", returning(str, "default")).get("/required", returning(str))
    app.get("/none", returning(str | None))
    assert await shown(app, "/?x=1&x=2") == "'1'"
    assert await shown(app, "/?x=") == "''"
    assert await shown(app, "/?x") == "''"
    assert await shown(app, "/") == "'default'"
    assert await shown(app, "/required") == [("x", "missing")]
    assert await shown(app, "/none") == [("x", "missing")]


async def test_values_are_decoded_once() -> None:
    app = Kit().get("/query", returning(str)).get("/path/:x", returning(str))
    assert await shown(app, "/query?x=%2541+%2B") == "'%41 +'"
    assert await shown(app, "/path/%2541%2Fb+c") == "'%41/b+c'"


async def test_two_query_parameters_ignore_others() -> None:
    app = Kit()

    @app.get("/")
    @typed
    async def endpoint(a: int, b: str = "b", *, c_: Annotated[int, Query("c")] = 0) -> list[Any]:
        return [a, b, c_]

    assert await (await app.request("/?a=1&z=2&c=3")).json() == [1, "b", 3]


async def test_names_in_the_request() -> None:
    app = Kit()

    @app.get("/:book-id")
    @typed
    def endpoint(
        id: Annotated[int, Path("book-id")],
        q: Annotated[str, Query(alias="item-query")],
        user_agent: Annotated[str, Header()],
        under: Annotated[str, Header("x_under")],
        sid: Annotated[str, Cookie("session-id")],
    ) -> list[Any]:
        return [id, q, user_agent, under, sid]

    headers = {"User-Agent": "a", "X_Under": "b", "x-under": "no", "cookie": "session-id=c"}
    response = await app.request("/5?item-query=q", headers=headers)
    assert await response.json() == [5, "q", "a", "b", "c"]


async def test_several_headers_and_cookies_together() -> None:
    app = Kit()

    @app.get("/")
    @typed
    def endpoint(
        x_a: Annotated[int, Header()],
        x_b: Annotated[list[str], Header()] = [],  # noqa: B006
        a: Annotated[int, Cookie()] = 1,
        b: Annotated[str | None, Cookie()] = None,
    ) -> list[Any]:
        return [x_a, x_b, a, b]

    response = await app.request("/", headers={"x-a": "3", "cookie": "b=x"})
    assert await response.json() == [3, [], 1, "x"]
    response = await app.request("/", headers={"cookie": "a=x"})
    assert [(each["path"], each["target"]) for each in (await response.json())["errors"]] == [
        ("x-a", "header"),
        ("a", "cookie"),
    ]


async def test_optional_parameters_of_the_path() -> None:
    app = Kit().get("/end/:x?", returning(int | None, None))
    app.get("/:x?/middle", returning(str, "none"))
    sub = Kit().route("/v1", Kit().get("/:x?/sub", returning(str, "none")))
    assert await shown(app, "/end") == "None"
    assert await shown(app, "/end/4") == "4"
    assert await shown(app, "/end/x") == [("x", "type_error")]
    assert await shown(app, "/middle?x=query") == "'none'"
    assert await shown(app, "/a/middle") == "'a'"
    assert await shown(sub, "/v1/sub?x=query") == "'none'"
    assert await shown(sub, "/v1/a/sub") == "'a'"


async def test_the_whole_pattern_counts() -> None:
    async def endpoint(author: str, id: int = 0) -> list[Any]:
        return [author, id]

    inner = Kit().get("/", typed(endpoint))
    app = Kit().route("/of/:author", inner)
    app.base_path("/by/:author/:id{[0-9]+}").get("/books", typed(endpoint))
    app.on(["GET", "POST"], ["/query", "/on/:id"], typed(endpoint))
    for path, expected in {
        "/of/ada": ["ada", 0],
        "/of/ada?id=3": ["ada", 3],
        "/by/ada/4/books?id=3": ["ada", 4],
        "/query?author=x": ["x", 0],
        "/on/5?author=x&id=4": ["x", 5],
    }.items():
        assert await (await app.request(path)).json() == expected


@pytest.mark.parametrize("kind", [Book, Plain, Attrs, Typed, Named])
async def test_objects_are_the_body(kind: Any) -> None:
    app = Kit().post("/", returning(kind))
    body = ["Dune"] if kind is Named else {"title": "Dune"}
    assert "'Dune'" in await shown(app, "/", method="POST", json=body)
    document = await shown(app, "/", method="POST", json=[1] if kind is Named else {"title": 1})
    assert document == [("[0]" if kind is Named else "title", "string_type")]


async def test_other_bodies() -> None:
    app = Kit().post("/model", returning(Model)).post("/list", returning(list[Book]))
    app.post("/models", returning(list[Model])).post("/union", returning(Cat | Dog))
    app.post("/dict", returning(dict[str, int])).post("/number", returning(Annotated[int, Body()]))
    app.post("/any", returning(Annotated[Any, Body()]))
    app.post("/some", returning(Annotated[list[int], Body(max_length=2)]))
    post = {"method": "POST"}
    assert await shown(app, "/model", **post, json={"Title": "a"}) == "Model(title='a')"
    assert await shown(app, "/model", **post, json={}) == [("Title", "missing")]
    assert await shown(app, "/list", **post, json=[{"title": "a"}, {}]) == [
        ("[1].title", "missing")
    ]
    assert await shown(app, "/models", **post, json=[{"Title": "a"}]) == "[Model(title='a')]"
    assert await shown(app, "/union", **post, json={"type": "dog", "legs": 4}) == "Dog(legs=4)"
    assert await shown(app, "/dict", **post, json={"a": 1}) == "{'a': 1}"
    assert await shown(app, "/dict", **post, json={"a": "1"}) == [("a", "int_type")]
    assert await shown(app, "/number", **post, json=3) == "3"
    assert await shown(app, "/any", **post, json=None, body="null", headers=JSON) == "None"
    assert await shown(app, "/some", **post, json=[1, 2, 3]) == [("", "too_long")]


JSON = {"content-type": "application/json"}


async def test_embedded_bodies() -> None:
    app = Kit()

    @app.post("/")
    @typed
    def endpoint(
        book: Annotated[Book, Body(embed=True)],
        rank: Annotated[int, Body("importance", embed=True, ge=1)],
        note: Annotated[str, Body(embed=True)] = "none",
    ) -> list[Any]:
        return [book, rank, note]

    async def ask(**options: Any) -> Any:
        return await (await app.request("/", method="POST", **options)).json()

    body: dict[str, Any] = {"book": {"title": "a"}, "importance": 2}
    assert await ask(json=body) == [{"title": "a", "pages": 1}, 2, "none"]
    document = await ask(json={"book": {"pages": "x"}, "importance": 0})
    assert [(each["path"], each["type"]) for each in document["errors"]] == [
        ("book.title", "missing"),
        ("book.pages", "int_type"),
        ("importance", "greater_than_equal"),
    ]
    document = await ask(headers={"content-type": "text/plain"})
    assert [each["path"] for each in document["errors"]] == ["book", "importance"]


async def test_a_body_that_may_be_absent() -> None:
    app = Kit().post("/", returning(Book | None, None))
    assert await shown(app, "/", method="POST") == "None"
    assert await shown(app, "/", method="POST", headers=JSON) == "None"
    assert await shown(app, "/", method="POST", json={"title": "a"}) == "Book(title='a', pages=1)"
    assert await shown(app, "/", method="POST", json={}) == [("title", "missing")]
    plain = {"content-type": "text/plain"}
    assert await shown(app, "/", method="POST", headers=plain) == "None"
    assert (await app.request("/", method="POST", body=b"{}", headers=plain)).status == 415


async def test_json_with_a_mark_and_other_json_types() -> None:
    app = Kit().post("/", returning(Book))
    for kind in ("application/json; charset=utf-8", "application/ld+json", "APPLICATION/JSON"):
        headers = {"content-type": kind}
        body = b'\xef\xbb\xbf{"title":"a"}'
        assert await shown(app, "/", method="POST", body=body, headers=headers) == (
            "Book(title='a', pages=1)"
        )


class Filters(msgspec.Struct, forbid_unknown_fields=True):
    limit: Annotated[int, msgspec.Meta(le=100)] = 10
    tags: list[str] = []


class Common(msgspec.Struct):
    x_token: str
    accept: list[str] = []


class PydanticFilters(pydantic.BaseModel):
    limit: int = 10
    tags: list[str] = []


class Session(msgspec.Struct):
    session_id: str


class Search(msgspec.Struct):
    term: str
    where: list[str] = []


async def test_models_of_parameters() -> None:
    app = Kit().get("/query", returning(Annotated[Filters, Query()]))
    app.get("/pydantic", returning(Annotated[PydanticFilters, Query()]))
    app.get("/header", returning(Annotated[Common, Header()]))
    app.get("/cookie", returning(Annotated[Session, Cookie()]))
    app.get("/every", returning(Annotated[dict[str, list[str]], Query()]))
    app.get("/path/:session_id", returning(Annotated[Session, Path()]))
    app.post("/form", returning(Annotated[Search, Form()]))
    assert await shown(app, "/query?limit=5&tags=a&tags=b") == "Filters(limit=5, tags=['a', 'b'])"
    assert await shown(app, "/query?limit=500&tools=1") == [
        ("limit", "less_than_equal"),
        ("tools", "extra_forbidden"),
    ]
    assert await shown(app, "/pydantic?limit=5&tags=a") == ("PydanticFilters(limit=5, tags=['a'])")
    assert await shown(app, "/every?a=1&a=2&b=3") == "{'a': ['1', '2'], 'b': ['3']}"
    assert await shown(app, "/header", headers={"X-Token": "a", "Accept": "b"}) == (
        "Common(x_token='a', accept=['b'])"
    )
    assert await shown(app, "/header", headers={"x_token": "a"}) == [("x-token", "missing")]
    assert await shown(app, "/cookie", headers={"cookie": "session_id=a"}) == (
        "Session(session_id='a')"
    )
    assert await shown(app, "/path/a") == "Session(session_id='a')"
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert await shown(
        app, "/form", method="POST", body="term=a&where=b&where=c", headers=form
    ) == ("Search(term='a', where=['b', 'c'])")


async def test_models_that_may_be_absent() -> None:
    app = Kit().get("/", returning(Annotated[Search | None, Query()], None))
    app.get("/header", returning(Annotated[Common, Header()], Common("default")))
    assert await shown(app, "/?other=1") == "None"
    assert await shown(app, "/?term=a") == "Search(term='a', where=[])"
    assert await shown(app, "/?where=a") == [("term", "missing")]
    assert await shown(app, "/header") == "Common(x_token='default', accept=[])"
    assert await shown(app, "/header", headers={"x-token": "a"}) == (
        "Common(x_token='a', accept=[])"
    )


async def test_a_model_beside_other_parameters() -> None:
    app = Kit()

    @app.get("/")
    @typed
    def endpoint(page: int, limit: str, search: Annotated[Search, Query()]) -> list[Any]:
        return [page, limit, search]

    response = await app.request("/?page=2&limit=all&term=x&where=y")
    assert await response.json() == [2, "all", {"term": "x", "where": ["y"]}]
    response = await app.request("/?page=x")
    assert [each["path"] for each in (await response.json())["errors"]] == ["page", "limit", "term"]


def form_of(**values: Any) -> FormData:
    form = FormData()
    for name, value in values.items():
        for each in value if isinstance(value, list) else [value]:
            form.append(name, each)
    return form


def file(content: str, name: str = "a.txt") -> File:
    return File([content.encode()], name)


def test_forms(run: Any) -> None:
    app = Kit()

    @app.post("/")
    @typed
    async def endpoint(
        upload: kit.interface.File,
        own: File | None = None,
        content: Annotated[bytes, FileMarker(max_length=5)] = b"none",
        many: list[File] = [],  # noqa: B006
        title: Annotated[str, Form(min_length=2)] = "none",
        tags: Annotated[list[int], Form()] = [],  # noqa: B006
        texts: Annotated[list[bytes], FileMarker()] = [],  # noqa: B006
    ) -> list[Any]:
        files = [(each.name, await each.text()) for each in (upload, *many)]
        return [files, own and own.name, content.decode(), title, tags, [t.decode() for t in texts]]

    async def main() -> None:
        form = form_of(
            upload=file("one"),
            content=file("four"),
            many=[file("two", "b"), file("three", "c")],
            title="title",
            tags=["1", "2"],
            texts=[file("x"), "y"],
        )
        response = await app.request("/", method="POST", body=form)
        assert await response.json() == [
            [["a.txt", "one"], ["b", "two"], ["c", "three"]],
            None,
            "four",
            "title",
            [1, 2],
            ["x", "y"],
        ]
        # What a browser sends for inputs that nothing was chosen for.
        empty = File([], "")
        form = form_of(upload=file("one"), own=empty, content=empty, many=[empty])
        response = await app.request("/", method="POST", body=form)
        assert await response.json() == [[["a.txt", "one"]], None, "none", "none", [], []]
        form = form_of(upload="text", content=file("too long"), title="x", tags=["y"], own="text")
        response = await app.request("/", method="POST", body=form)
        document = await response.json()
        assert response.status == 400
        assert document["target"] == "form"
        assert [(each["path"], each["type"]) for each in document["errors"]] == [
            ("upload", "type_error"),
            ("own", "type_error"),
            ("content", "bytes_too_long"),
            ("title", "string_too_short"),
            ("tags[0]", "int_type"),
        ]
        response = await app.request("/", method="POST", json={})
        document = await response.json()
        assert document["detail"] == (
            "Content-Type is 'application/json', expected multipart/form-data or "
            "application/x-www-form-urlencoded"
        )

    run(main)


async def test_the_context() -> None:
    app: Kit[Any, Any] = Kit()

    async def user(c: Context, next: Any) -> None:
        c.set("user", "ada")
        await next()

    app.use(attach(user, provides={"user": str}))

    @app.get("/")
    @typed
    def endpoint(
        c: Context[Any, Any],
        other: kit.interface.Context,
        db: Annotated[dict[str, int], Env()],
        name: Annotated[str, Var("user")],
        absent: Annotated[str, Var()] = "none",
        nothing: Annotated[str | None, Var("nothing")] = None,
        setting: Annotated[int, Env("limit")] = 3,
    ) -> Response:
        assert c is other
        return c.json([db, name, absent, nothing, setting])

    response = await app.request("/", env={"db": {"a": 1}})
    assert await response.json() == [{"a": 1}, "ada", "none", None, 3]
    response = await app.request("/", env={"db": {"a": 1}, "limit": 4})
    assert (await response.json())[-1] == 4


async def test_what_the_context_lacks(caplog: pytest.LogCaptureFixture) -> None:
    app: Kit[Any, Any] = Kit()

    async def sets_nothing(c: Context, next: Any) -> None:
        await next()

    app.use(attach(sets_nothing, provides={"user": str}))

    @app.get("/env")
    @typed
    def reads_env(db: Annotated[Any, Env()]) -> str:
        raise AssertionError

    @app.get("/var")
    @typed
    def reads_var(name: Annotated[str, Var("user")]) -> str:
        raise AssertionError

    @app.get("/none")
    @typed
    def reads_none(name: Annotated[str | None, Var("user")]) -> str:
        return repr(name)

    assert (await app.request("/env")).status == 500
    assert (await app.request("/var")).status == 500
    assert await (await app.request("/none")).json() == "None"
    texts = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert "reads c.env['db'], which isn't there: run the app with the lifespan" in texts[0]
    assert "reads the variable 'user', which no middleware has set for this request" in texts[1]


async def test_parameters_of_any_name() -> None:
    def other(value: Annotated[int, Query("_1")]) -> int:
        return value

    @typed
    def endpoint(
        c: str, value: Annotated[int, Query("class")], _private: int, *, other: int = Depends(other)
    ) -> list[Any]:
        return [c, value, _private, other]

    response = await Kit().get("/:c", endpoint).request("/a?class=2&_1=3&_private=4")
    assert await response.json() == ["a", 2, 4, 3]


class Labelled(pydantic.BaseModel):
    kind: Literal["labelled"]
    size: int = 1


class Bare(pydantic.BaseModel):
    kind: Literal["bare"]
    weight: int


def _refuse(value: Any) -> Any:
    raise ValueError("refused")


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (pydantic.PositiveInt | None, "1", "0"),
        (list[pydantic.PositiveInt], "1", "0"),
        (list[pydantic.PositiveInt] | None, "1", "0"),
        (tuple[Annotated[int, annotated_types.Gt(0)], ...], "1", "0"),
        (Annotated[dict[str, pydantic.PositiveInt], Query()], "1", "0"),
        (pydantic.constr(min_length=2), "ab", "a"),
        (Annotated[str, pydantic.StringConstraints(max_length=2)], "ab", "abc"),
        (
            Annotated[datetime, annotated_types.Timezone(...)],
            "2024-01-01T00:00:00Z",
            "2024-01-01T00:00:00",
        ),
        (
            Annotated[datetime, annotated_types.Timezone(None)],
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00Z",
        ),
    ],
)
async def test_no_constraint_is_dropped(annotation: Any, good: str, bad: str) -> None:
    app = Kit().get("/", returning(annotation))
    assert (await app.request(f"/?x={good}")).status == 200
    assert (await app.request(f"/?x={bad}")).status == 400


@pytest.mark.parametrize(
    ("annotation", "value", "kinds"),
    [
        (Annotated[list[Bare], Body(min_length=1)], [], ["too_short"]),
        (
            Annotated[Labelled | Bare, pydantic.Field(discriminator="kind")],
            {"kind": "bare"},
            ["missing"],
        ),
        (Annotated[Bare, pydantic.AfterValidator(_refuse)], {"kind": "bare", "weight": 1}, None),
    ],
)
async def test_rules_around_models_of_pydantic_hold(
    annotation: Any, value: Any, kinds: list[str] | None
) -> None:
    app = Kit().post("/", returning(annotation))
    response = await app.request("/", method="POST", json=value)
    assert response.status == 400
    errors = (await response.json())["errors"]
    assert [each["type"] for each in errors] == (kinds or ["value_error"])


@pytest.mark.parametrize("default", [Book("dune"), Plain("dune")])
async def test_no_request_changes_the_default_of_a_body(default: Any) -> None:
    def endpoint(book: Any = default) -> str:
        title: str = book.title
        book.title = "changed"
        return title

    endpoint.__annotations__["book"] = type(default)
    app = Kit().post("/", typed(endpoint))
    for _ in range(2):
        response = await app.request("/", method="POST")
        assert await response.json() == "dune"


class Upload(msgspec.Struct):
    title: str
    cover: File | None = None


async def test_files_that_were_not_chosen_are_absent_from_models() -> None:
    @typed
    def endpoint(upload: Annotated[Upload, Form()]) -> list[Any]:
        return [upload.title, None if upload.cover is None else upload.cover.size]

    app = Kit().post("/", endpoint)
    for file, size in (File([], ""), None), (File([b"abc"], "a.txt"), 3):
        form = FormData()
        form.append("title", "t")
        form.append("cover", file)
        response = await app.request("/", method="POST", body=form)
        assert await response.json() == ["t", size]


class Item(pydantic.BaseModel):
    name: str = pydantic.Field(alias="Name")


async def test_embedded_models_of_pydantic() -> None:
    @typed
    def endpoint(
        item: Annotated[Item, Body(embed=True)],
        copy: Annotated[int, Body("importance", embed=True, ge=1)] = 1,
        tags: Annotated[list[Annotated[str, msgspec.Meta(min_length=2)]], Body(embed=True)] = [],  # noqa: B006
        note: Annotated[str | None, Body(embed=True, max_length=3)] = None,
    ) -> list[Any]:
        tags.append("more")
        return [item.name, copy, tags, note]

    app = Kit().post("/", endpoint)

    async def sent(value: Any) -> Any:
        response = await app.request("/", method="POST", json=value)
        document = await response.json()
        if response.status == 200:
            return document
        return [(each["path"], each["type"]) for each in document["errors"]]

    for _ in range(2):
        assert await sent({"item": {"Name": "a"}}) == ["a", 1, ["more"], None]
    full = {"item": {"Name": "a"}, "importance": 2, "tags": ["ab"], "note": "abc"}
    assert await sent(full) == ["a", 2, ["ab", "more"], "abc"]
    assert await sent({"item": {}, "importance": 0, "tags": ["a"], "note": "abcd"}) == [
        ("item.Name", "missing"),
        ("importance", "greater_than_equal"),
        ("tags[0]", "string_too_short"),
        ("note", "string_too_long"),
    ]
    assert await sent({}) == [("item", "missing")]


async def test_no_request_changes_the_defaults_of_values_of_the_context() -> None:
    @typed
    def endpoint(
        one: Annotated[list[int], Env()] = [],  # noqa: B006
        two: Annotated[dict[str, int], Var()] = {},  # noqa: B006
    ) -> list[Any]:
        one.append(1)
        two["n"] = two.get("n", 0) + 1
        return [one, two]

    app = Kit().get("/", endpoint)
    for _ in range(2):
        assert await (await app.request("/")).json() == [[1], {"n": 1}]


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    q: str = ""


class StrictModel(pydantic.BaseModel, extra="forbid"):
    r: str = ""


async def test_models_are_not_given_what_other_parameters_take() -> None:
    @typed
    def endpoint(
        one: Annotated[Strict, Query()], two: Annotated[StrictModel, Query()], page: int = 1
    ) -> list[Any]:
        return [one.q, two.r, page]

    app = Kit().get("/", endpoint)
    assert await (await app.request("/?q=a&r=b&page=3")).json() == ["a", "b", 3]
    response = await app.request("/?q=a&s=b")
    assert response.status == 400
    errors = (await response.json())["errors"]
    assert [(each["path"], each["type"]) for each in errors] == [("s", "extra_forbidden")] * 2


class Ids(msgspec.Struct, forbid_unknown_fields=True):
    x_ids: list[int] = []


async def test_commas_separate_the_numbers_of_a_header() -> None:
    @typed
    def endpoint(
        ids: Annotated[list[int], Header("x-ids")],
        words: Annotated[list[str], Header()] = (),  # type: ignore[assignment]
    ) -> list[Any]:
        return [ids, words]

    @typed
    def of_model(model: Annotated[Ids, Header()]) -> list[int]:
        return model.x_ids

    app = Kit().get("/", endpoint).get("/model", of_model)
    lines = [("host", "localhost"), ("x-ids", "1, 2"), ("x-ids", "3,"), ("words", "a,b")]
    assert await (await app.request("/", headers=lines)).json() == [[1, 2, 3], ["a,b"]]
    assert await (await app.request("/model", headers=lines)).json() == [1, 2, 3]
    response = await app.request("/", headers={"x-ids": "1,x"})
    assert [each["path"] for each in (await response.json())["errors"]] == ["x-ids[1]"]


class Pages(msgspec.Struct):
    pages: list[int] = []


@pytest.mark.parametrize("kind", [Pages, dict[str, list[int]]])
async def test_lists_in_models_of_cookies_and_paths_hold_the_one_value(kind: Any) -> None:
    app = Kit().get("/", returning(Annotated[kind, Cookie()]))
    app.get("/:pages", returning(Annotated[kind, Path()]))
    expected = "Pages(pages=[3])" if kind is Pages else "{'pages': [3]}"
    assert await shown(app, "/", headers={"cookie": "pages=3"}) == expected
    assert await shown(app, "/3") == expected
    assert await shown(app, "/x") == [("pages[0]", "int_type")]


class Contents(msgspec.Struct):
    cover: bytes | None = None
    pages: list[bytes] = []


class ModelOfContents(pydantic.BaseModel):
    cover: bytes | None = None
    pages: list[bytes] = []


@pytest.mark.parametrize("kind", [Contents, ModelOfContents])
async def test_bytes_in_models_are_the_content_of_files(kind: Any) -> None:
    app = Kit().post("/", returning(Annotated[kind, Form()]))
    form = form_of(cover=File([b"abc"], "a"), pages=[File([b"1"], "1"), File([b"2"], "2")])
    shown_kind = kind(cover=b"abc", pages=[b"1", b"2"])
    assert await shown(app, "/", method="POST", body=form) == repr(shown_kind)
    assert await shown(app, "/", method="POST", body=form_of(cover=File([], ""))) == repr(kind())


@pytest.mark.parametrize("kind", [list[File], list[bytes]])
async def test_a_list_without_a_chosen_file_is_absent(kind: Any) -> None:
    required, optional = Annotated[kind, FileMarker()], Annotated[kind | None, FileMarker()]
    app = Kit().post("/", returning(required)).post("/optional", returning(optional, None))
    form = form_of(x=[File([], ""), File([], "")])
    assert await shown(app, "/", method="POST", body=form) == [("x", "missing")]
    assert await shown(app, "/optional", method="POST", body=form) == "None"


class PydanticTags(pydantic.BaseModel):
    tags: list[str] = ["x"]


@attrs.define
class AttrsTags:
    tags: list[str] = ["x"]  # noqa: RUF008


class NamedTags(NamedTuple):
    tags: list[str] = ["x"]  # noqa: RUF012


@pytest.mark.parametrize("kind", [PydanticTags, AttrsTags, NamedTags])
@pytest.mark.parametrize("marker", [Query(), Header(), Cookie(), Form()])
async def test_models_with_mutable_defaults_beside_other_parameters(kind: Any, marker: Any) -> None:
    @typed
    def endpoint(model: Annotated[kind, marker], page: Annotated[int, marker] = 1) -> list[Any]:
        return [model.tags, page]

    app = Kit().post("/", endpoint)
    assert await (await app.request("/", method="POST")).json() == [["x"], 1]


Renamed = NewType("Renamed", Search)


async def test_unions_and_renamed_models_beside_other_parameters() -> None:
    @typed
    def union(pet: Annotated[Cat | Dog, Query()], page: int = 1) -> list[Any]:
        return [repr(pet), page]

    @typed
    def renamed(search: Annotated[Renamed, Query()], page: int = 1) -> list[Any]:
        return [search, page]

    app = Kit().get("/union", union).get("/renamed", renamed)
    response = await app.request("/union?type=dog&legs=4&page=2")
    assert await response.json() == ["Dog(legs=4)", 2]
    response = await app.request("/renamed?term=a")
    assert await response.json() == [{"term": "a", "where": []}, 1]
    shown = [get_facts(route.handler).validates["query"] for route in app.routes]
    assert [each.__struct_encode_fields__ for each in shown] == [
        ("type", "lives", "legs", "page"),
        ("term", "where", "page"),
    ]
    schema = msgspec.json.schema_components(shown[:1])[1].popitem()[1]
    assert schema["properties"]["type"] == {"enum": ["cat", "dog"]}
    assert schema["required"] == ["type"]
