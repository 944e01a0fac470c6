# SPDX-License-Identifier: MIT
"""What endpoints return, what they tell of themselves, and the problem documents of requests."""

from __future__ import annotations

import dataclasses
import enum
import traceback
from collections.abc import Awaitable
from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, TypedDict, TypeVar, get_type_hints

import msgspec
import pydantic
import pytest

from kit import Context, File, FormData, Kit, Next, Response
from kit.authoring.signatures import describe
from kit.authoring.text_values import describe_scalar
from kit.interface import Problem, RequestValidationError, ValidationProblem
from kit.interface.metadata import attach, get_facts
from kit.typed import Body, Cookie, Form, Header, Path, Query, typed
from kit.validator import validator


class Book(msgspec.Struct):
    title: str
    pages: int = 1


class Model(pydantic.BaseModel):
    title: str


def give(value: Any, **options: Any) -> Kit:
    """Makes an app whose endpoint returns a value."""

    def endpoint(c: Context) -> Any:
        return value(c) if callable(value) else value

    return Kit().get("/", typed(**options)(endpoint))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1}, '{"a":1}'),
        ([1, 2], "[1,2]"),
        ("text", '"text"'),
        (3, "3"),
        (False, "false"),
        (Book("a"), '{"title":"a","pages":1}'),
        (Model(title="a"), '{"title":"a"}'),
        ([Model(title="a")], '[{"title":"a"}]'),
    ],
)
async def test_data_is_json(value: Any, text: str) -> None:
    app = give(value)
    for _ in range(2):
        response = await app.request("/")
        assert (response.status, await response.text()) == (200, text)
        assert response.headers.get("content-type") == "application/json"
    response = await give(value, status=201).request("/")
    assert (response.status, await response.text()) == (201, text)


async def test_none_is_empty() -> None:
    response = await give(None).request("/")
    assert (response.status, await response.text()) == (204, "")
    assert (await give(None, status=202).request("/")).status == 202


async def test_responses_are_sent_as_they_are() -> None:
    response = await give(lambda c: c.text("x", 418), status=201).request("/")
    assert (response.status, await response.text()) == (418, "x")


async def test_what_was_set_on_the_context() -> None:
    def answer(c: Context) -> Any:
        c.header("x-a", "1")
        c.status(202)
        return {}

    response = await give(answer).request("/")
    assert (response.status, response.headers.get("x-a")) == (202, "1")


async def test_awaitables_are_awaited() -> None:
    async def data() -> Any:
        return {"a": 1}

    assert (await give(lambda c: c.not_found()).request("/")).status == 404
    assert await (await give(lambda c: data()).request("/")).json() == {"a": 1}

    async def nested() -> Any:
        return data()

    assert await (await give(lambda c: nested()).request("/")).json() == {"a": 1}


async def test_what_can_not_be_encoded(caplog: pytest.LogCaptureFixture) -> None:
    assert (await give(lambda c: object()).request("/")).status == 500
    assert "Can't encode object as JSON" in caplog.text


@typed
async def everything(
    c: Context,
    id: int,
    limit: Annotated[int, Query(le=10)],
    x_token: Annotated[int, Header()],
    book: Book,
) -> Book:
    return book


async def test_everything_wrong_is_one_document() -> None:
    app = Kit().post("/:id", everything)
    response = await app.request(
        "/a?limit=11", method="POST", json={"pages": "x"}, headers={"x-token": "y"}
    )
    assert response.status == 400
    assert response.headers.get("content-type") == "application/problem+json"
    document: ValidationProblem = await response.json()
    assert document == {
        "title": "Bad Request",
        "status": 400,
        "detail": "The path parameters are invalid; The query is invalid; The headers are invalid; "
        "The JSON body is invalid",
        "errors": [
            {"path": "id", "message": "Expected `int`", "type": "int_type", "target": "param"},
            {
                "path": "limit",
                "message": "Expected `int` <= 10",
                "type": "less_than_equal",
                "ctx": {"le": 10},
                "target": "query",
            },
            {
                "path": "x-token",
                "message": "Expected `int`",
                "type": "int_type",
                "target": "header",
            },
            {
                "path": "title",
                "message": "Missing required field",
                "type": "missing",
                "target": "json",
            },
            {
                "path": "pages",
                "message": "Expected `int`, got `str`",
                "type": "int_type",
                "target": "json",
            },
        ],
    }


class Page(msgspec.Struct):
    page: Annotated[int, msgspec.Meta(ge=1)]


MISTAKES: list[tuple[Any, Any, str, dict[str, Any]]] = [
    ("param", Path(), "/x", {}),
    ("param", Path(), "/0", {}),
    ("query", Query(), "/1?page=x", {}),
    ("query", Query(), "/1?page=0", {}),
    ("query", Query(), "/1", {}),
    ("header", Header(), "/1", {"headers": {"page": "x"}}),
    ("header", Header(), "/1", {}),
    ("cookie", Cookie(), "/1", {"headers": {"cookie": "page=x"}}),
    ("form", Form(), "/1", {"body": FormData({"page": "x"})}),
    ("json", Body(embed=True), "/1", {"json": {"page": "x"}}),
    ("json", Body(embed=True), "/1", {"json": {}}),
    ("json", Body(embed=True), "/1", {"body": "x"}),
]


@pytest.mark.parametrize(("target", "marker", "path", "options"), MISTAKES)
async def test_a_mistake_has_the_answer_of_a_validator(
    target: Any, marker: Any, path: str, options: dict[str, Any]
) -> None:
    @typed
    def endpoint(page: Annotated[int, msgspec.Meta(ge=1), marker]) -> None:
        raise AssertionError

    name = "page" if target == "param" else "other"
    validating = validator(target, Page)
    app: Kit[Any, Any] = Kit()
    app.post(f"/validator/:{name}", validating, lambda c: c.text(""))
    app.post("/typed/:page" if target == "param" else "/typed/*", endpoint)
    expected = await app.request(f"/validator{path}", method="POST", **options)
    response = await app.request(f"/typed{path}", method="POST", **options)
    assert response.status == expected.status == (415 if options.get("body") == "x" else 400)
    assert await response.json() == await expected.json()


async def test_on_error_gets_the_errors() -> None:
    seen: list[RequestValidationError] = []
    app = Kit().post("/:id", everything)

    @app.on_error(RequestValidationError)
    def on_error(error: RequestValidationError, c: Context) -> Response:
        seen.append(error)
        return c.text(error.message or "", 422)

    response = await app.request("/1?limit=x", method="POST", json=Book("a"))
    assert response.status == 422
    assert seen[0].target is None
    assert await response.text() == (
        "The query is invalid; The headers are invalid: query limit: Expected `int`; "
        "header x-token: Missing required field"
    )
    response = await app.request(
        "/1?limit=x", method="POST", json=Book("a"), headers={"x-token": "1"}
    )
    assert seen[1].target == "query"


async def test_errors_are_bounded() -> None:
    def endpoint(ids: list[int]) -> None: ...

    app = Kit().get("/", typed(endpoint))
    response = await app.request("/?" + "&".join(["ids=x"] * 500))
    document = await response.json()
    assert len(document["errors"]) == 100
    assert document["detail"] == "The query is invalid; these are the first 100 errors"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"title": "a",}', "JSON is malformed: trailing comma in object (byte 14)"),
        (b"", "Input data was truncated (byte 0)"),
        (b'{"title": "\xff"}', "JSON is malformed: invalid UTF-8 (byte 11)"),
        (b"[" * 100_000, "it is nested too deeply"),
    ],
)
async def test_malformed_json_has_its_position(body: bytes, message: str) -> None:
    def endpoint(book: Book, limit: int = 1) -> None: ...

    app = Kit().post("/", typed(endpoint))
    json = {"content-type": "application/json"}
    response = await app.request("/?limit=x", method="POST", body=body, headers=json)
    assert response.status == 400
    assert (await response.json())["errors"] == [
        {"path": "limit", "message": "Expected `int`", "type": "int_type", "target": "query"},
        {"path": "", "message": message, "type": "json_invalid", "target": "json"},
    ]


@pytest.mark.parametrize("is_first", [True, False])
async def test_malformed_forms_are_listed_with_the_other_errors(is_first: bool) -> None:
    def first(
        title: Annotated[str, Form()], search: Annotated[Model, Form()], limit: int = 1
    ) -> None: ...
    def last(
        limit: Annotated[int, Query()],
        title: Annotated[str, Form()],
        search: Annotated[Model, Form()],
    ) -> None: ...

    app = Kit().post("/", typed(first if is_first else last))
    multipart = {"content-type": "multipart/form-data; boundary=b"}
    body = b'--b\r\nContent-Disposition: form-data; name="title"\r\n\r\na'
    response = await app.request("/?limit=x", method="POST", body=body, headers=multipart)
    assert response.status == 400
    document = await response.json()
    assert document["detail"] == "The query is invalid; The form is invalid"
    assert document["errors"] == [
        {"path": "limit", "message": "Expected `int`", "type": "int_type", "target": "query"},
        {
            "path": "",
            "message": "Unexpected end: the final boundary --b-- is missing",
            "type": "form_invalid",
            "target": "form",
        },
    ]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
async def test_cve_2021_32677_json_is_not_parsed_from_other_types(kind: str | None) -> None:
    app = Kit().post("/", typed(lambda: None))

    @app.post("/book")
    @typed
    def endpoint(book: Book) -> None:
        raise AssertionError

    @app.post("/number")
    @typed
    def number(value: Annotated[int, Body()]) -> None:
        raise AssertionError

    headers = {} if kind is None else {"content-type": kind}
    shown = "There is no Content-Type" if kind is None else f"Content-Type is {kind!r}"
    for path, body in (("/book", b'{"title":"a"}'), ("/number", b"1")):
        response = await app.request(path, method="POST", body=body, headers=headers)
        assert (response.status, response.headers["accept"]) == (415, "application/json")
        document = await response.json()
        assert document == {
            "title": "Unsupported Media Type",
            "status": 415,
            "detail": f"{shown}, expected application/json",
        }


@pytest.mark.parametrize("query", ["", "?limit=x"])
async def test_a_body_of_another_type_is_a_415_even_if_it_may_be_absent(query: str) -> None:
    """A body is never ignored, whatever else is wrong."""
    app = Kit()

    @app.patch("/json")
    @typed
    def json_body(book: Book | None = None, limit: int = 1) -> None: ...

    @app.patch("/form")
    @typed
    def form(title: Annotated[str, Form()] = "", limit: int = 1) -> None: ...

    expected = {
        "/json": "application/json",
        "/form": "multipart/form-data, application/x-www-form-urlencoded",
    }
    for path, accepted in expected.items():
        for length in ({}, {"content-length": "2"}, {"transfer-encoding": "chunked"}):
            headers = {"content-type": "text/csv", **length}
            response = await app.request(path + query, method="PATCH", body="ab", headers=headers)
            assert response.status == 415
            assert response.headers["accept"] == response.headers["accept-patch"] == accepted
        headers = {"content-type": "text/csv", "content-length": "0"}
        response = await app.request(path + query, method="PATCH", headers=headers)
        assert response.status == (400 if query else 204)


async def test_a_missing_body_is_a_400_whatever_its_type() -> None:
    app = Kit()

    @app.post("/")
    @typed
    def endpoint(book: Book) -> None: ...

    for kind in (None, "text/plain", "application/json"):
        headers = {} if kind is None else {"content-type": kind}
        response = await app.request("/", method="POST", headers=headers)
        assert response.status == 400


async def test_a_body_whose_fields_are_all_optional_has_to_be_sent() -> None:
    class Options(msgspec.Struct):
        limit: int = 1

    def endpoint(options: Options) -> None: ...

    app = Kit().post("/", typed(endpoint))
    response = await app.request("/", method="POST", headers={"content-type": "text/plain"})
    assert (await response.json())["errors"] == [
        {"path": "", "message": "Missing required body", "type": "missing"}
    ]


@pytest.mark.parametrize("null", ["null", " null\n", "\ufeffnull"])
async def test_null_is_an_absent_body_if_a_body_may_be_absent(null: str) -> None:
    """As its schema says, and as FastAPI has it."""

    def own(book: Book = Book("own"), page: int = 1) -> Book:  # noqa: B008
        return book

    def none(book: Book | None = Book("own")) -> str:  # noqa: B008
        return repr(book)

    def needed(book: Book) -> Book:
        return book

    app = Kit().post("/own", typed(own)).post("/none", typed(none)).post("/needed", typed(needed))
    headers = {"content-type": "application/json"}

    async def answered(path: str) -> Any:
        response = await app.request(path, method="POST", body=null, headers=headers)
        return response.status, await response.json()

    assert await answered("/own") == (200, {"title": "own", "pages": 1})
    assert await answered("/none") == (200, "None")
    status, problem = await answered("/own?page=x")
    assert (status, [each["path"] for each in problem["errors"]]) == (400, ["page"])
    assert (await answered("/needed"))[0] == 400


async def test_limits_are_answered_as_ever() -> None:
    from kit import Limits

    def endpoint(book: Book) -> None: ...

    app = Kit(limits=Limits(max_body_size_bytes=5)).post("/", typed(endpoint))
    assert (await app.request("/", method="POST", json={"title": "long"})).status == 413


async def test_limits_of_forms_are_answered_as_ever() -> None:
    from kit import Limits

    def endpoint(title: Annotated[str, Form()], limit: int) -> None: ...

    app = Kit(limits=Limits(max_body_size_bytes=5)).post("/", typed(endpoint))
    form = FormData()
    form.append("title", "long")
    assert (await app.request("/?limit=x", method="POST", body=form)).status == 413


async def test_beside_a_validator() -> None:
    app = Kit()

    @app.post("/", use=validator("json", Book))
    @typed
    def endpoint(c: Context, book: Book) -> bool:
        return c.req.valid("json", Book) == book

    assert await (await app.request("/", method="POST", json={"title": "a"})).json() is True


def test_facts() -> None:
    class Filters(msgspec.Struct):
        term: str

    @typed(status=201)
    async def endpoint(
        id: int,
        upload: File,
        title: Annotated[str, Form(description="Its title", max_length=5)] = "none",
        user_agent: Annotated[str, Header(deprecated=True)] = "",
        page: Annotated[int, Query("p", ge=1, examples=[2])] = 1,
        filters: Annotated[Filters, Query()] = Filters("x"),  # noqa: B008
    ) -> Book | None: ...

    attach(endpoint, describes={"summary": "Creates"})
    app = Kit().post("/books/:id", endpoint)
    facts = get_facts(app.routes[0].handler)
    schemas = {
        target: msgspec.json.schema(kind)["$defs"][kind.__name__]
        for target, kind in facts.validates.items()
        if target != "form"
    }
    assert schemas["param"]["properties"] == {"id": {"type": "integer"}}
    assert schemas["param"]["required"] == ["id"]
    assert schemas["query"]["properties"]["p"] == {
        "type": "integer",
        "minimum": 1,
        "examples": [2],
        "default": 1,
    }
    assert schemas["header"]["properties"]["user-agent"]["deprecated"] is True
    form = facts.validates["form"]
    assert form.__struct_encode_fields__ == ("upload", "title")
    assert form.__annotations__[form.__struct_fields__[0]] is File
    assert facts.responses == {400: ValidationProblem, 415: Problem, 201: Book}
    assert facts.describes == {"summary": "Creates"}
    assert facts.source.splitlines() == [
        "id: int = path['id']",
        "upload: File = form['upload']",
        "title: str = form['title']",
        "user_agent: str = header['user-agent']",
        "page: int = query['p']",
        "filters: Filters = query",
        "endpoint(id, upload, title, user_agent, page, filters)",
    ]


def test_facts_of_bodies_and_results() -> None:
    def optional(book: Book | None = None) -> Response: ...  # type: ignore[empty-body]
    def default(book: Book = Book("a")) -> None: ...  # noqa: B008
    def union(c: Context) -> Book | Response | None: ...
    def unknown(c: Context): ...  # type: ignore[no-untyped-def]

    app = Kit().post("/a", typed(optional)).post("/b", typed(default))
    app.post("/c", typed(union)).post("/d", typed(unknown))
    first, second, third, fourth = [get_facts(route.handler) for route in app.routes]
    assert first.validates == {"json": Book | None}
    assert first.responses == {400: ValidationProblem, 415: Problem}
    assert second.validates == {"json": Book | None}
    assert second.responses == {400: ValidationProblem, 415: Problem, 204: None}
    assert third.responses == {200: Book, 204: None}
    assert (fourth.responses, fourth.validates) == ({}, {})


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (Annotated[Book | None, "..."], {200: Annotated[Book, "..."], 204: None}),
        (
            Annotated[Book | Response | None, "..."] | int,
            {200: Annotated[Book, "..."] | int, 204: None},
        ),
        (Literal["x", None], {200: Literal["x"], 204: None}),
        (Annotated[Literal["x", None], "..."], {200: Annotated[Literal["x"], "..."], 204: None}),
        (Literal["x", None] | int, {200: Literal["x"] | int, 204: None}),
        (Literal[None], {204: None}),
        (Annotated[None, "..."], {204: None}),
        (Annotated[Any, "..."], {}),
        (Annotated[Response, "..."], {}),
    ],
)
def test_facts_of_results_that_may_be_none(returns: Any, expected: Any) -> None:
    def endpoint() -> Any: ...

    endpoint.__annotations__["return"] = returns
    app = Kit().get("/", typed(endpoint))
    assert get_facts(app.routes[0].handler).responses == expected


def test_facts_of_a_model_are_the_model() -> None:
    class Filters(msgspec.Struct):
        term: str
        limit_to: int = 3

    def alone(filters: Annotated[Filters, Query()]) -> None: ...
    def beside(filters: Annotated[Filters, Header()], page: Annotated[int, Header()]) -> None: ...
    def pydantic_beside(model: Annotated[Model, Query()], page: int = 1) -> None: ...

    app = Kit().get("/a", typed(alone)).get("/b", typed(beside)).get("/c", typed(pydantic_beside))
    alone_, beside_, pydantic_ = [get_facts(route.handler).validates for route in app.routes]
    assert alone_ == {"query": Filters}
    assert beside_["header"].__struct_encode_fields__ == ("term", "limit-to", "page")
    assert pydantic_["query"].__struct_encode_fields__ == ("title", "page")


class Partial(TypedDict, total=False):
    term: str


class Rules(pydantic.BaseModel):
    size: int = pydantic.Field(1, ge=1, validation_alias=pydantic.AliasChoices("Size", "s"))
    tags: list[str] = pydantic.Field(default_factory=list)
    name: Annotated[str, pydantic.AfterValidator(str.strip)] = ""


def test_facts_of_models_beside_others_tell_defaults_and_names() -> None:
    def partial(term: Annotated[Partial, Query()], page: int) -> None: ...
    def rules(rules: Annotated[Rules, Query()], page: int) -> None: ...

    app = Kit().get("/a", typed(partial)).get("/b", typed(rules))
    schemas = [
        msgspec.json.schema_components([get_facts(route.handler).validates["query"]])[1]
        for route in app.routes
    ]
    (of_partial,), (of_rules,) = (each.values() for each in schemas)
    assert of_partial["required"] == of_rules["required"] == ["page"]
    assert of_rules["properties"] == {
        "Size": {"type": "integer", "minimum": 1, "default": 1},
        "tags": {"type": "array", "items": {"type": "string"}, "default": []},
        "name": {"type": "string", "default": ""},
        "page": {"type": "integer"},
    }


class Stranger:
    pass


class Dates(pydantic.BaseModel, arbitrary_types_allowed=True):
    since: date | datetime
    stranger: Stranger | None = None
    upload: File


def test_facts_of_models_beside_others_whose_types_msgspec_can_not_describe() -> None:
    def endpoint(dates: Annotated[Dates, Form()], page: Annotated[int, Form()] = 1) -> None: ...

    app = Kit().post("/", typed(endpoint))
    kind = get_facts(app.routes[0].handler).validates["form"]
    hints = dict(zip(kind.__struct_encode_fields__, get_type_hints(kind).values(), strict=True))
    assert msgspec.json.schema(hints.pop("since"), schema_hook=describe_scalar) == {
        "anyOf": [
            {"type": "string", "format": "date"},
            {"type": "string", "format": "date-time"},
        ]
    }
    assert hints == {
        "stranger": Any,
        "upload": File,
        "page": int,
    }


T = TypeVar("T")
U = TypeVar("U")


class Range(msgspec.Struct, Generic[T]):
    low: T
    among: list[T | None] = []


class Ranges(Range[list[T]], Generic[T, U]):
    low: list[T]
    more: dict[str, U] | None = None


class Dated(Range[date]):
    other: int = 1


@dataclasses.dataclass
class Generated(Generic[T]):
    low: T


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Range[int], [int, list[int | None]]),
        (Ranges[int, str], [list[int], list[list[int] | None], dict[str, str] | None]),
        (Dated, [date, list[date | None], int]),
        (Generated[int], [int]),
        (Partial, [str]),
    ],
)
def test_facts_of_generic_models_beside_others(kind: Any, expected: list[Any]) -> None:
    def endpoint(model: Annotated[kind, Query()], page: int = 1) -> None: ...

    app = Kit().get("/", typed(endpoint))
    shown = get_facts(app.routes[0].handler).validates["query"]
    assert [*get_type_hints(shown).values()] == [*expected, int]


@pytest.mark.parametrize("matches", [True, False])
async def test_answers_where_no_route_does(matches: bool) -> None:
    async def around(c: Context, next: Next) -> None:
        await next()

    @typed(status=404)
    def lost(c: Context, q: int = 1) -> dict[str, Any]:
        return {"path": c.req.path, "q": q}

    app = Kit().not_found(lost)
    if matches:
        app.use(around)
    response = await app.request("/nowhere?q=2")
    assert response.status == 404
    assert await response.json() == {"path": "/nowhere", "q": 2}


def failing(number: int) -> int:
    return 1 // number


def test_handlers_have_the_names_of_the_function() -> None:
    handler = Kit().get("/:number", typed(failing)).routes[0].handler
    assert describe(handler) == describe(failing)
    assert (handler.__name__, handler.__qualname__, handler.__module__) == (
        "failing",
        "failing",
        __name__,
    )


async def test_exceptions_have_the_traceback_of_the_function() -> None:
    caught: list[Exception] = []

    def on_error(error: Exception, c: Context) -> Response:
        caught.append(error)
        return c.text("")

    app = Kit().on_error(on_error).get("/:number", typed(failing))
    await app.request("/0")
    last = traceback.extract_tb(caught[0].__traceback__)[-1]
    assert (last.name, last.line) == ("failing", "return 1 // number")


async def test_errors_quote_little_of_what_was_sent() -> None:
    class Color(enum.Enum):
        RED = "red"

    @typed
    def endpoint(colors: Annotated[dict[str, Color], Body()]) -> None: ...

    app = Kit().post("/", endpoint)
    response = await app.request("/", method="POST", json={"k" * 9999: "v" * 9999})
    assert response.status == 400
    (error,) = (await response.json())["errors"]
    assert error["path"] == "k" * 500 + "..."
    assert error["message"].startswith("Invalid enum value 'vvv")
    assert len(error["message"]) == 503


async def test_the_function_stays_callable() -> None:
    @typed
    async def endpoint(id: int, q: str = "q") -> list[Any]:
        """Answers."""
        return [id, q]

    @typed
    def plain(c: Context | None = None) -> str:
        return "plain"

    assert await endpoint(id=1) == await endpoint(1) == [1, "q"]
    waiting: Awaitable[Any] = endpoint(2, q="z")
    assert await waiting == [2, "z"]
    assert plain() == plain(c=None) == "plain"
    assert endpoint.__doc__ == "Answers."
    assert endpoint.__name__ == "endpoint"
    assert repr(endpoint).startswith("typed(<function test_the_function_stays_callable.")
