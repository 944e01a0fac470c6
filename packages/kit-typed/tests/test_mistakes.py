# SPDX-License-Identifier: MIT
"""Mistakes in a signature are errors at decoration or registration."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import annotated_types
import fastapi
import msgspec
import pydantic
import pytest

import kit.typed
from kit import Context, Kit, Next
from kit.typed import Body, Cookie, Depends, Env, File, Form, Header, Path, Query, Var, typed

if TYPE_CHECKING:
    from somewhere import Elsewhere  # type: ignore[import-not-found]


class Book(msgspec.Struct):
    title: str


class Strange:
    pass


class HoldsStrange(msgspec.Struct):
    it: Strange


class Embedded(pydantic.BaseModel):
    title: str


class HoldsMany(msgspec.Struct):
    many: collections.deque[str]


class HoldsModel(msgspec.Struct):
    models: list[Embedded]


class Marked:
    def method(self, x: int) -> None: ...


def path_list(id: list[int]) -> None: ...
def path_object(id: Book) -> None: ...
def path_optional(x: int) -> None: ...
def literal_bool(x: Literal[True] | None = None) -> None: ...
def literal_bools(x: Annotated[list[Literal[1, False]], Header()]) -> None: ...
def get_body(book: Book) -> None: ...
def explicit_body(book: Annotated[Book, Body()]) -> None: ...
def get_form(title: Annotated[str, Form()]) -> None: ...
def two_bodies(book: Book, other: Book) -> None: ...
def half_embedded(book: Annotated[Book, Body(embed=True)], other: Book) -> None: ...
def body_and_form(book: Book, title: Annotated[str, Form()]) -> None: ...
def unknown(thing: Strange) -> None: ...
def unknown_query(thing: Annotated[Strange, Query()]) -> None: ...
def anything(thing: Any) -> None: ...
def undecodable(thing: HoldsStrange) -> None: ...
def undecodable_query(thing: Annotated[HoldsMany, Query()]) -> None: ...
def undecodable_header(thing: Annotated[HoldsMany | None, Header()] = None) -> None: ...
def undecodable_form(thing: Annotated[HoldsStrange, Form()]) -> None: ...
def constraint(thing: Annotated[str, msgspec.Meta(ge=1)]) -> None: ...
def marker_as_type(upload: File) -> None: ...
def other_marker_as_type(q: Query) -> None: ...
def file_in_query(upload: Annotated[kit.File, Query()]) -> None: ...
def named_model(book: Annotated[Book, Query("book")]) -> None: ...
def pydantic_embedded(
    book: Annotated[Embedded, Body(embed=True)], other: Annotated[Book, Body(embed=True)]
) -> None: ...


def depending(book: Annotated[Any, Depends(get_body)]) -> None: ...


def marker_alone(x: Query()) -> None: ...  # type: ignore[valid-type]


def other_request(r: kit.Request) -> None: ...


def cookies(x: Annotated[list[str], Cookie()]) -> None: ...


def managed() -> Iterator[int]:
    yield 1


def outer(x: Annotated[int, Depends(managed, scope="function")]) -> Iterator[int]:
    yield x


def scopes(x: Annotated[int, Depends(outer)]) -> None: ...


AT_REGISTRATION = [
    ("GET", "/:id", path_list, "the parameter 'id' has the type list[int], but the path"),
    ("GET", "/:id", path_object, "the parameter 'id' has the type Book, but the path ('/:id')"),
    ("GET", "/:x?", path_optional, "the parameter 'x' may be absent from the path ('/:x?')"),
    (
        "GET",
        "/",
        literal_bool,
        f"the parameter 'x' has the type {Literal[True] | None}, but text isn't converted to a "
        "bool of a Literal: write bool".replace("typing.", ""),
    ),
    ("GET", "/", literal_bools, "isn't converted to a bool of a Literal: write bool"),
    ("GET", "/", get_body, "the parameter 'book' has the type Book of a JSON body, which a"),
    ("DELETE", "/", get_body, "the parameter 'book' has the type Book of a JSON body, which a"),
    ("GET", "/", explicit_body, "the parameter 'book' is read from the body, which a GET"),
    ("GET", "/", get_form, "the parameter 'title' is read from the body, which a GET request"),
    ("POST", "/", two_bodies, "the parameters 'book' and 'other' are both the JSON body"),
    ("POST", "/", half_embedded, "the parameters 'book' and 'other' are both the JSON body"),
    ("POST", "/", body_and_form, "the parameter 'book' is the JSON body, but 'title' is read"),
    ("GET", "/", unknown, "the parameter 'thing' has the type Strange, which can't be read"),
    ("GET", "/", unknown_query, "the parameter 'thing' has the type Strange, which can't be"),
    ("GET", "/", anything, "the parameter 'thing' has the type Any, which can't be read from"),
    ("POST", "/", undecodable, "the parameter 'thing' can't be read: neither msgspec nor"),
    ("GET", "/", undecodable_query, "the parameter 'thing' can't be read: neither msgspec nor"),
    ("GET", "/", undecodable_header, "the parameter 'thing' can't be read: neither msgspec"),
    ("POST", "/", undecodable_form, "the parameter 'thing' can't be read: neither msgspec nor"),
    ("GET", "/", constraint, "the parameter 'thing' can't be read: Can only set `ge` on a"),
    ("POST", "/", marker_as_type, "the annotation of 'upload' is the marker kit.typed.File"),
    ("GET", "/", other_marker_as_type, "the annotation of 'q' is the marker kit.typed.Query"),
    ("GET", "/", marker_alone, "the annotation of 'x' is Query() without a type: write x"),
    ("GET", "/", other_request, "isn't passed to endpoints: write c: Context, and read c.req"),
    ("GET", "/", cookies, "the parameter 'x' has the type list[str], but a cookie has one"),
    ("POST", "/", file_in_query, "the parameter 'upload' is a file, which only a form has"),
    ("GET", "/", named_model, "the parameter 'book' takes all fields of Book, so"),
]


@pytest.mark.parametrize(
    ("method", "pattern", "function", "problem"),
    AT_REGISTRATION,
    ids=[f"{function.__name__} {method}" for method, _, function, _ in AT_REGISTRATION],
)
def test_at_registration(
    method: str, pattern: str, function: Callable[..., Any], problem: str
) -> None:
    app = Kit()
    with pytest.raises(TypeError) as caught:
        app.on(method, pattern, typed(function))
    assert str(caught.value).startswith(f"@typed {function.__qualname__} ({__file__}:")
    assert problem in str(caught.value)
    assert app.routes == []


def test_errors_name_the_dependency() -> None:
    with pytest.raises(TypeError, match=rf"^@typed get_body \({re.escape(__file__)}:\d+\): the "):
        Kit().get("/", typed(depending))
    with pytest.raises(TypeError) as caught:
        Kit().get("/", typed(scopes))
    assert str(caught.value).startswith("@typed outer (")
    assert str(caught.value).endswith(
        "): the dependency 'x' has the scope 'function', so it ends before this one, which has "
        "the scope 'request': give both the same scope"
    )


@pytest.mark.parametrize("status", [204, 205, 304])
def test_a_status_without_a_body(status: int) -> None:
    def data() -> Book: ...

    def nothing() -> None: ...

    def response() -> kit.Response: ...

    with pytest.raises(TypeError) as caught:
        typed(status=status)(data)
    assert str(caught.value).endswith(
        f"): a response with the status {status} has no body: return None, or leave the status out"
    )
    assert typed(status=status)(nothing)
    assert typed(status=status)(response)


def test_one_body_by_two_names() -> None:
    def other(item: Book) -> str: ...

    def endpoint(book: Book, title: Annotated[str, Depends(other)]) -> None: ...

    with pytest.raises(TypeError) as caught:
        Kit().post("/", typed(endpoint))
    assert str(caught.value).endswith(
        "): the parameters 'book' and 'item' are both the JSON body: give them one name to read it "
        "for both, or Annotated[..., Body(embed=True)] for each, to read them from one object by "
        "their names"
    )


def test_models_of_pydantic_are_not_embedded_beside_structs() -> None:
    with pytest.raises(TypeError) as caught:
        Kit().post("/", typed(pydantic_embedded))
    assert str(caught.value).endswith(
        "): pydantic reads parameters of its JSON body, so it has to know the types of all that "
        f"are read together: Unable to generate pydantic-core schema for {Book!r}"
    )


def test_body_of_a_get_that_is_registered_for_all_methods() -> None:
    app = Kit().all("/", typed(get_body))
    app.on("DELETE", "/", typed(explicit_body))
    assert len(app.routes) == 2


def later(x: NotDefined) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def for_checkers(x: Elsewhere) -> None: ...
def returns_later() -> NotDefined: ...  # type: ignore[name-defined]  # noqa: F821
def broken(x: int) -> None: ...
def no_annotation(x) -> None: ...  # type: ignore[no-untyped-def]
def arguments(*args: int) -> None: ...
def keywords(**more: int) -> None: ...
def default_marker(x: int = Query()) -> None: ...  # type: ignore[assignment]
def two_markers(x: Annotated[int, Query(), Header()]) -> None: ...
def marker_class(x: Annotated[int, Query]) -> None: ...
def empty_depends(x: Annotated[int | None, Depends()]) -> None: ...
def recursive(x: Annotated[int, Depends(lambda: None)]) -> None: ...
def uncalled(x: Annotated[int, Depends]) -> None: ...


def bare(x: Annotated[int, managed]) -> None: ...


def uncalled_default(x: Any = Depends) -> None: ...


def foreign(x: Annotated[int, fastapi.Query()]) -> None: ...


def foreign_default(x: int = fastapi.Query(5)) -> None: ...


def pydantic_default(x: int = pydantic.Field(ge=1)) -> None: ...


def pydantic_alias(x: Annotated[int, pydantic.Field(alias="y")]) -> None: ...


def pydantic_inner_default(x: Annotated[int, pydantic.Field(default=5)]) -> None: ...


def variable_validator(
    x: Annotated[str, Var(), annotated_types.Predicate(str.isdigit)],
) -> None: ...


def strict_int(x: pydantic.StrictInt) -> None: ...


def strict_field(x: Annotated[int | None, pydantic.Field(strict=True)]) -> None: ...


def wrong_rule(x: Annotated[int, annotated_types.Ge("a")]) -> None: ...


def model_in_a_struct(x: HoldsModel) -> None: ...


broken.__annotations__["x"] = "1 + None"
recursive.__annotations__["x"] = Annotated[int, Depends(recursive)]
LATER = (
    ", which is not defined: define it above the function, import it at run time rather than under "
    "TYPE_CHECKING, and define it at the top of the module if the function is nested"
)
FOREIGN = (
    ": write x: Annotated[..., marker] = default, with a marker of kit.typed, such as Query(ge=1), "
    "or Depends(function)"
)
AT_DECORATION = [
    (later, f"the annotation of 'x' names 'NotDefined'{LATER}"),
    (for_checkers, f"the annotation of 'x' names 'Elsewhere'{LATER}"),
    (returns_later, f"the return annotation names 'NotDefined'{LATER}"),
    (no_annotation, "the parameter 'x' has no annotation: write its type, such as x: str, or"),
    (arguments, "it takes *args: 'int', which nothing can provide: name each parameter"),
    (keywords, "it takes **more: 'int', which nothing can provide: name each parameter"),
    (default_marker, "the default of 'x' is Query(): markers belong in the annotation, x"),
    (two_markers, "the parameter 'x' has Query() and Header(): keep one"),
    (marker_class, "the annotation of 'x' has the class Query: call it, Query()"),
    (empty_depends, "Depends() without a function calls the annotation, which has to be a"),
    (recursive, "it depends on itself"),
    (Marked.method, "the parameter 'self' stands for an instance, which @typed in a class"),
    (uncalled, "the annotation of 'x' has the function Depends: write Depends()"),
    (bare, "the annotation of 'x' has the function managed: write Depends(managed)"),
    (uncalled_default, "the default of 'x' is Depends, which has to be called"),
    (foreign, "the annotation of 'x' has FastAPI's Query: import it from kit.typed"),
    (foreign_default, f"the default of 'x' is a Query of fastapi{FOREIGN}"),
    (pydantic_default, f"the default of 'x' is a FieldInfo of pydantic{FOREIGN}"),
    (pydantic_alias, "the annotation of 'x' has Field(alias=...): write the name in a marker"),
    (pydantic_inner_default, "the annotation of 'x' has a Field with a default: write the"),
    (variable_validator, "which pydantic alone applies, and only to what is read from a request"),
    (strict_int, "has Strict(strict=True), with which no text is a value of the type: leave it"),
    (strict_field, "with which no text is a value of the type: leave it out"),
    (wrong_rule, "the parameter 'x' can't be read: `ge` must be an int or float, got str"),
    (model_in_a_struct, "the parameter 'x' can't be read: a pydantic model is in it, so"),
]


@pytest.mark.parametrize(
    ("function", "problem"), AT_DECORATION, ids=[each.__name__ for each, _ in AT_DECORATION]
)
def test_at_decoration(function: Callable[..., Any], problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        typed(function)
    assert str(caught.value).startswith(f"@typed {function.__qualname__} ({__file__}:")
    assert problem in str(caught.value)


def test_annotation_that_is_no_type() -> None:
    with pytest.raises(TypeError, match=r"the annotation of 'x', .*, can't be read: "):
        typed(broken)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: typed(5), TypeError, "typed() takes a function, not 5"),
        (lambda: typed(Book), TypeError, f"typed() takes a function, not {Book!r}"),
        (lambda: typed(status="201"), TypeError, "typed(status=...) takes an int, not '201'"),
        (lambda: typed(status=99), ValueError, "expected at least 200"),
        (lambda: Depends(5), TypeError, "takes a function whose parameters are read like"),
        (lambda: Depends(managed, scope="app"), ValueError, "expected 'request' or 'function'"),
        (lambda: Depends(managed, use_cache=1), TypeError, "takes a bool, not 1"),
        (lambda: Query(5), TypeError, "takes a name, not 5: a default is written after the"),
        (lambda: Header("a", alias="b"), ValueError, "Header() has the name 'a' and the alias"),
        (lambda: Env(""), TypeError, "takes a name, not '': a default is written after the"),
        (lambda: Body("name"), ValueError, "Body('name') names a value in the body: write"),
        (lambda: Query(pattern="("), ValueError, "isn't a regular expression: missing )"),
        (lambda: Header(ge=1, gt=0), ValueError, "Header(): Cannot specify both `gt` and `ge`"),
        (lambda: Query(min_length="3"), TypeError, "Query(): `min_length` must be an int, got"),
        (lambda: Body(embed="yes"), TypeError, "Body(embed=...) takes a bool, not 'yes'"),
    ],
)
def test_wrong_calls(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


def test_markers_show_themselves() -> None:
    assert repr([Query(), Header("a"), Path(), Cookie(), Form(), File("f"), Env("db"), Var()]) == (
        "[Query(), Header('a'), Path(), Cookie(), Form(), File('f'), Env('db'), Var()]"
    )


def test_public_names() -> None:
    assert kit.typed.__all__ == (
        "Body",
        "Cookie",
        "Depends",
        "EndpointOptions",
        "Endpoints",
        "Env",
        "File",
        "Form",
        "Header",
        "Partial",
        "Path",
        "Query",
        "ResponseValidationError",
        "ServerSentEvent",
        "Socket",
        "Typed",
        "Var",
        "override",
        "typed",
    )
    for name in kit.typed.__all__:
        each = getattr(kit.typed, name)
        assert each.__doc__
        if isinstance(each, type):
            assert each.__module__ == "kit.typed"


def test_local_types_are_found() -> None:
    class Local(msgspec.Struct):
        x: int

    def provide() -> Local:
        return Local(1)

    def consume(local: Annotated[Local, Depends(provide)], more: Local) -> Local:
        return local

    app = Kit().post("/", typed(consume))
    assert len(app.routes) == 1


def test_fastapi_styled_handlers_without_typed_name_it() -> None:
    async def read(id: int) -> None: ...

    with pytest.raises(TypeError, match=r"put @typed of kit\.typed above it"):
        Kit().get("/:id", read)  # type: ignore[arg-type]


@pytest.mark.parametrize("marker", [Query(), Body()])
def test_a_union_that_crashes_msgspec_is_refused(marker: Any) -> None:
    word = Annotated[str, msgspec.Meta(pattern="^[a-z]+$")]

    def endpoint(x: Any) -> None: ...

    endpoint.__annotations__["x"] = Annotated[list[int] | word, marker]
    with pytest.raises(TypeError, match="'x' can't be read: msgspec doesn't support a union of an"):
        Kit().post("/", typed(endpoint))
    endpoint.__annotations__ = {"x": str, "return": list[int] | word}
    with pytest.raises(TypeError, match="the type of its result can't be documented: msgspec"):
        typed(endpoint)


async def guards(c: Context, next: Next) -> None:
    await next()


async def guards_unannotated(c: Context, next) -> None:  # type: ignore[no-untyped-def]
    await next()


@pytest.mark.parametrize("function", [guards, guards_unannotated])
def test_middleware_is_not_typed(function: Any) -> None:
    with pytest.raises(TypeError, match=r"takes next, so it is middleware \(c, next\).*without"):
        typed(function)
    with pytest.raises(TypeError, match=r"takes next, so it is middleware \(c, next\).*Depends"):
        Kit().use(Depends(function))


async def test_a_value_may_be_named_next() -> None:
    app = Kit()

    @app.get("/")
    @typed
    def page(next: int = 1) -> int:
        return next

    assert await (await app.request("/?next=3")).text() == "3"
