# SPDX-License-Identifier: MIT
"""`param`, `query`, `queries` and `header` with a type: values converted, or a clear refusal."""

from __future__ import annotations

import datetime
import decimal
import enum
import ipaddress
import json
import math
import pathlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NewType
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, KitRequest, Request, Response
from kit.interface import HTTPException, Next, RequestValidationError


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


UserId = NewType("UserId", int)
Page = Annotated[int, msgspec.Meta(ge=1)]
# Not hashable, as what stands in Annotated need not be.
Described = Annotated[int, msgspec.Meta(ge=1, extra_json_schema={"examples": [1]})]


def request_of(url: str = "/", **headers: str) -> KitRequest:
    return KitRequest(Request(f"http://x{url}", headers=headers))


def with_param(text: str, pattern: str = "/users/:id") -> KitRequest:
    """The request of a route that a path has matched."""
    app = Kit().get(pattern, lambda c: c.text(""))
    path = pattern.replace(":id", text)
    return KitRequest(Request(f"http://x{path}"), path, app.router.match("GET", path))


CONVERTED = [
    ("7", int, 7),
    ("-7", int, -7),
    ("9" * 30, int, int("9" * 30)),
    ("1.5", float, 1.5),
    ("2", float, 2.0),
    ("true", bool, True),
    ("False", bool, False),
    ("1", bool, True),
    ("0", bool, False),
    ("a b", str, "a b"),
    ("", str, ""),
    ("a b", Any, "a b"),
    ("7d444840-9dc0-11d1-b245-5ffdce74fad2", uuid.UUID, None),
    ("2026-01-31", datetime.date, datetime.date(2026, 1, 31)),
    ("10:30:00", datetime.time, datetime.time(10, 30)),
    (
        "2026-01-31T10:30:00Z",
        datetime.datetime,
        datetime.datetime(2026, 1, 31, 10, 30, tzinfo=datetime.UTC),
    ),
    ("P1D", datetime.timedelta, datetime.timedelta(1)),
    ("1.50", decimal.Decimal, decimal.Decimal("1.50")),
    ("aGk=", bytes, b"hi"),
    ("red", Colour, Colour.RED),
    ("2", Level, Level.HIGH),
    ("3", Rights, Rights.READ | Rights.WRITE),
    ("b", Literal["a", "b"], "b"),
    ("2", Literal[1, 2], 2),
    ("7", UserId, 7),
    ("7", Page, 7),
    ("7", Described, 7),
    ("7", int | None, 7),
    ("x", int | str, "x"),
]


@pytest.mark.parametrize(("text", "kind", "value"), CONVERTED)
def test_values_are_converted(text: str, kind: Any, value: Any) -> None:
    value = kind(text) if value is None else value
    req = request_of(f"/?a={quote(text)}&a={quote(text)}", a=text)
    found = (req.query("a", kind), *req.queries("a", kind), req.header("a", kind))
    assert found == (value,) * 4
    assert {type(each) for each in found} == {type(value)}
    if text:
        assert with_param(quote(text, safe="")).param("id", kind) == value


# What is sent is what comes back, whichever part of the request it is in.
EXACT = st.one_of(
    st.tuples(st.just(int), st.integers()),
    st.tuples(st.just(float), st.floats(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just(bool), st.booleans()),
    st.tuples(st.just(uuid.UUID), st.uuids()),
    st.tuples(st.just(datetime.date), st.dates()),
    st.tuples(st.just(datetime.datetime), st.datetimes(timezones=st.just(datetime.UTC))),
    st.tuples(st.just(decimal.Decimal), st.decimals(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just(Colour), st.sampled_from(Colour)),
    st.tuples(st.just(Level), st.sampled_from(Level)),
    st.tuples(st.just(str), st.text(st.characters(exclude_categories=["Cs"]), min_size=1)),
)


@given(EXACT)
def test_what_is_written_is_read(case: tuple[Any, Any]) -> None:
    kind, value = case
    text = value
    if not isinstance(value, str):
        text = json.loads(msgspec.json.encode(value), parse_float=str, parse_int=str)
        text = {True: "true", False: "false"}.get(text, text)
    escaped = quote(text, safe="")
    assert request_of(f"/?a={escaped}").query("a", kind) == value
    # The dots would make another path of it.
    if escaped not in (".", ".."):
        assert with_param(escaped).param("id", kind) == value


# What msgspec doesn't convert by itself.
ALSO_CONVERTED = [
    ("10:30", datetime.time, datetime.time(10, 30)),
    ("on", bool, True),
    ("::1", ipaddress.IPv6Address, ipaddress.IPv6Address("::1")),
    ("10.0.0.1", ipaddress.IPv4Address | None, ipaddress.IPv4Address("10.0.0.1")),
    ("a/b", pathlib.PurePosixPath, pathlib.PurePosixPath("a/b")),
    ("2026-01-31", uuid.UUID | datetime.date | str, datetime.date(2026, 1, 31)),
]


@pytest.mark.parametrize(("text", "kind", "value"), ALSO_CONVERTED)
def test_more_values_are_converted(text: str, kind: Any, value: Any) -> None:
    assert request_of(f"/?a={quote(text, safe='')}").query("a", kind) == value


KINDS = [kind for _, kind, _ in CONVERTED]
NUMERAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@given(st.sampled_from(KINDS), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_converted_or_refused(kind: Any, text: str) -> None:
    req = request_of(f"/?a={quote(text, safe='')}")
    try:
        expected = msgspec.convert(text, kind, strict=False)
        if isinstance(expected, float) and not math.isfinite(expected):
            raise msgspec.ValidationError  # not what an endpoint calculates with
        if isinstance(expected, decimal.Decimal) and not NUMERAL.fullmatch(text):
            raise msgspec.ValidationError
    except msgspec.ValidationError:
        with pytest.raises(RequestValidationError) as caught:
            req.query("a", kind)
        (error,) = caught.value.errors
        assert error["path"] == "a"
        with pytest.raises(RequestValidationError):
            req.query("a", kind, default=None)
    else:
        assert repr(req.query("a", kind)) == repr(expected)


# What is refused.

REFUSED = [
    ("x", int, "Expected `int`", "int_type"),
    ("", int, "Expected `int`", "int_type"),
    ("x", UserId, "Expected `int`", "int_type"),
    ("0", Page, "Expected `int` >= 1", "greater_than_equal"),
    ("0", Described, "Expected `int` >= 1", "greater_than_equal"),
    ("9" * 5000, int, "Integer value out of range", "number_out_of_range"),
    ("x", int | None, "Expected `int | null`", "type_error"),
    ("x", float, "Expected `float`", "float_type"),
    ("yes", bool, "Expected `bool`", "bool_type"),
    ("1", uuid.UUID, "Invalid UUID", "uuid_parsing"),
    ("31.1.26", datetime.date, "Invalid RFC3339 encoded date", "date_parsing"),
    ("now", datetime.datetime, "Invalid RFC3339 encoded datetime", "datetime_parsing"),
    ("x", decimal.Decimal, "Invalid decimal string", "decimal_parsing"),
    ("green", Colour, "Invalid enum value 'green'", "enum"),
    ("x", Level, "Expected `int`", "int_type"),
    ("x", Rights, "Expected `int`", "int_type"),
    ("c", Literal["a", "b"], "Invalid enum value 'c'", "enum"),
    ("c\n", Literal["a"], "Invalid enum value 'c\\n'", "enum"),
    ("x" * 5000, Literal["a"], f"Invalid enum value '{'x' * 480}...", "enum"),
]


CONTEXTS: dict[Any, dict[str, Any]] = {
    Page: {"ge": 1},
    Described: {"ge": 1},
    int | None: {"expected": "int | null"},
    Colour: {"expected": "'red' or 'blue'"},
    Literal["a", "b"]: {"expected": "'a' or 'b'"},
    Literal["a"]: {"expected": "'a'"},
}


@pytest.mark.parametrize(("text", "kind", "message", "name"), REFUSED)
async def test_what_does_not_fit_is_a_problem_document(
    text: str, kind: Any, message: str, name: str
) -> None:
    app = Kit()
    app.get("/query", lambda c: c.json(c.req.query("a", kind)))
    app.get("/queries", lambda c: c.json(c.req.queries("a", kind)))
    app.get("/header", lambda c: c.json(c.req.header("x-a", kind)))
    app.get("/param/:a?", lambda c: c.json(c.req.param("a", kind, default=None)))

    async def problem(path: str, headers: Any = None) -> dict[str, Any]:
        response = await app.request(path, headers=headers)
        assert response.headers["content-type"] == "application/problem+json"
        document: dict[str, Any] = await response.json()
        assert document["status"] == response.status
        return document

    def expected(target: str, detail: str, path: str) -> dict[str, Any]:
        return {
            "title": "Bad Request",
            "status": 400,
            "detail": detail,
            "target": target,
            "errors": [{"path": path, "message": message, "type": name, **context}],
        }

    context = {"ctx": CONTEXTS[kind]} if kind in CONTEXTS else {}
    escaped = quote(text, safe="")
    found = await problem(f"/query?a={escaped}")
    assert found == expected("query", "The query is invalid", "a")
    found = await problem(f"/queries?a={escaped}")
    assert found == expected("query", "The query is invalid", "a[0]")
    if text.isprintable():
        found = await problem("/header", {"x-a": text})
        assert found == expected("header", "The headers are invalid", "x-a")
    if text:
        found = await problem(f"/param/{escaped}")
        assert found == expected("param", "The path parameters are invalid", "a")


async def test_errors_reach_on_error_with_their_text() -> None:
    app = Kit()
    seen: list[Exception] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        seen.append(error)
        raise error

    app.get("/users/:id", lambda c: c.json([c.req.param("id", int), c.req.query("page", int)]))
    assert (await app.request("/users/x")).status == 400
    assert (await app.request("/users/7?page=x")).status == 400
    assert await (await app.request("/users/7?page=8")).json() == [7, 8]
    assert [type(each) for each in seen] == [RequestValidationError] * 2
    assert list(map(str, seen)) == [
        "400 The path parameters are invalid: id: Expected `int`",
        "400 The query is invalid: page: Expected `int`",
    ]
    assert [type(each.__cause__) for each in seen] == [msgspec.ValidationError] * 2


def test_every_wrong_value_of_a_name_is_told() -> None:
    req = request_of("/?id=1&id=x&id=3&id=y")
    with pytest.raises(RequestValidationError) as caught:
        req.queries("id", int)
    assert caught.value.errors == [
        {"path": "id[1]", "message": "Expected `int`", "type": "int_type"},
        {"path": "id[3]", "message": "Expected `int`", "type": "int_type"},
    ]
    req = request_of("/?" + "&".join(["id=x"] * 200))
    with pytest.raises(RequestValidationError) as caught:
        req.queries("id", int)
    assert len(caught.value.errors) == 100


# What is absent.


def test_absent_values() -> None:
    req = request_of("/?a=1", b="2")
    assert (req.query("x"), req.query("x", int), req.query("x", int, default=None)) == (None,) * 3
    assert (req.query("x", int, default=5), req.query("x", default="y")) == (5, "y")
    assert (req.query("a", int, default=5), req.query("a", default="y")) == (1, "1")
    assert (req.queries("x", int), req.queries("a", int)) == ([], [1])
    assert (req.header("x"), req.header("x", int), req.header("x", int, default=None)) == (
        (None,) * 3
    )
    assert (req.header("x", int, default=5), req.header("x", default="y")) == (5, "y")
    assert (req.header("b", int, default=5), req.header("b", default="y")) == (2, "2")
    assert (req.param("x"), req.param("x", default="y")) == (None, "y")


async def test_optional_parameters() -> None:
    app = Kit()

    @app.get("/posts/:year?")
    def posts(c: Context) -> Response:
        year = c.req.param("year", int, default=None)
        return c.json([year, c.req.param("year", int, default=1), c.req.param("year", default="y")])

    assert await (await app.request("/posts/2026")).json() == [2026, 2026, "2026"]
    assert await (await app.request("/posts")).json() == [None, 1, "y"]


async def raised(pattern: str, path: str, read: Callable[[Context], Any]) -> str:
    """The text of the error that reading raises in a handler of a route."""
    app = Kit()
    seen: list[Exception] = []

    @app.get(pattern)
    def handler(c: Context) -> Response:
        try:
            return c.json(read(c))
        except (LookupError, TypeError) as error:
            seen.append(error)
            raise

    assert (await app.request(path)).status == 500
    (error,) = seen
    return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("options", [{}, {"default": 1}])
@pytest.mark.parametrize(
    ("pattern", "path", "known"),
    [
        ("/users/:user_id/:post?", "/users/7", "has 'user_id', 'post'"),
        ("/users/:user_id/:post?", "/users/7/8", "has 'user_id', 'post'"),
        ("/:kind{[a-z]+}/*", "/users/7", "has 'kind'"),
        ("/users/*", "/users/7", "has no parameters"),
    ],
)
async def test_a_parameter_that_the_pattern_lacks(
    pattern: str, path: str, known: str, options: Any
) -> None:
    text = await raised(pattern, path, lambda c: c.req.param("id", int, **options))
    assert text == (
        f"LookupError: c.req.param('id', int): the running route {pattern!r} has no parameter "
        f"'id'; it {known}"
    )


async def test_an_optional_parameter_without_default() -> None:
    text = await raised("/posts/:year?", "/posts", lambda c: c.req.param("year", int))
    assert text == (
        "LookupError: c.req.param('year', int): the path has no value for this optional parameter "
        "of '/posts/:year?'; give a default, e.g. default=None"
    )


async def test_the_running_route_is_that_of_the_middleware() -> None:
    app = Kit()
    seen: list[Any] = []

    @app.use("/:kind/*")
    async def outer(c: Context, next: Next) -> None:
        seen.append(c.req.param("kind", Literal["users", "posts"]))
        with pytest.raises(LookupError) as caught:
            c.req.param("id", int)
        seen.append(str(caught.value))
        await next()

    app.get("/users/:id", lambda c: c.json(c.req.param("id", int)))
    assert await (await app.request("/users/7")).json() == 7
    assert seen == [
        "users",
        "c.req.param('id', int): the running route '/:kind/*' has no parameter 'id'; it has 'kind'",
    ]


def test_requests_without_an_app() -> None:
    with pytest.raises(LookupError) as caught:
        request_of().param("id", int)
    assert str(caught.value) == (
        "c.req.param('id', int): the running route has no parameter 'id'; it has no parameters"
    )
    req = KitRequest(Request("http://x/"), match_result=([("handler", {"id": "7"})],))
    assert req.param("id", int) == 7
    with pytest.raises(LookupError) as caught:
        req.param("user", int)
    assert str(caught.value) == (
        "c.req.param('user', int): the running route has no parameter 'user'; it has 'id'"
    )


# What can't be asked for.


@dataclass
class Book:
    title: str


ONE_TEXT = (
    "can't be made of one text: take a type such as int, UUID, date, an Enum or a Literal, "
    "or validate the whole part with kit.validator"
)
DECODER = "; or give the app a decoder, Kit(decoders={complex: ...})"


@pytest.mark.parametrize(
    ("kind", "shown", "problem"),
    [
        (1, "1", "is not a type; a default is given as default=1, after a type"),
        ("", "''", "is not a type; a default is given as default='', after a type"),
        (list, "list", "takes several values: use c.req.queries('a', str)"),
        (list[int], "list[int]", "takes several values: use c.req.queries('a', int)"),
        (tuple[int, str], "tuple[int, str]", "takes several values: use c.req.queries('a', int)"),
        (Book, "Book", ONE_TEXT),
        (dict[str, int], "dict[str, int]", ONE_TEXT),
        (dict[str, int] | list[int], "dict[str, int] | list[int]", ONE_TEXT),
        (
            complex,
            "complex",
            f"{ONE_TEXT}; or give the app a decoder, Kit(decoders={{complex: ...}})",
        ),
    ],
)
def test_types_that_are_none_of_one_text(kind: Any, shown: str, problem: str) -> None:
    for url, headers in (("/", {}), ("/?a=1", {"a": "1"})):
        req = request_of(url, **headers)
        calls: list[tuple[str, partial[Any]]] = [
            ("query", partial(req.query, "a", kind)),
            ("query", partial(req.query, "a", kind, default=1)),
            ("queries", partial(req.queries, "a", kind)),
            ("header", partial(req.header, "a", kind)),
            ("param", partial(req.param, "a", kind)),
            ("param", partial(with_param("1", "/:id").param, "id", kind)),
        ]
        for name, call in calls:
            with pytest.raises(TypeError) as caught:
                call()
            key = call.args[0]
            of_query = name in ("query", "queries") or "several" not in problem
            assert str(caught.value) == (
                f"c.req.{name}({key!r}, {shown}): {shown} {problem if of_query else ONE_TEXT}"
            )


def test_exceptions_are_answers() -> None:
    with pytest.raises(HTTPException) as caught:
        request_of("/?a=x").query("a", int)
    assert caught.value.status == 400
