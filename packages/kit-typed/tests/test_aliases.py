# SPDX-License-Identifier: MIT
"""Aliases created by `type X = ...`, and markers where they would have no effect."""

from __future__ import annotations

import dataclasses
import re
import sys
import typing
from collections.abc import Callable
from typing import Annotated, Any, Optional, TypedDict, TypeVar

import msgspec
import pydantic
import pytest
import typing_extensions

from kit import Context, File, FormData, Kit, Response
from kit.interface.metadata import get_facts
from kit.typed import Depends, Header, Query, Var, typed
from kit.typed import File as FileMarker

T = TypeVar("T")

# What `type X = ...` creates; msgspec doesn't know that of typing_extensions.
if sys.version_info >= (3, 12):
    TypeAliasType = typing.TypeAliasType
else:
    TypeAliasType = typing_extensions.TypeAliasType
needs_type_statement = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="Python 3.12 is the first with `type`"
)


class Page(msgspec.Struct):
    number: int


class Paging:
    def __init__(self, page: int = 1) -> None:
        self.page = page


UserId = TypeAliasType("UserId", int)
Limited = TypeAliasType("Limited", Annotated[int, Query(ge=1)])
Named = TypeAliasType("Named", Annotated[str, Header("x-name")])
CurrentUser = TypeAliasType("CurrentUser", Annotated[int, Depends(lambda: 7)])
Again = TypeAliasType("Again", CurrentUser)
Many = TypeAliasType("Many", Annotated[list[T], Query("m")], type_params=(T,))
Maybe = TypeAliasType("Maybe", int | None)
MaybePage = TypeAliasType("MaybePage", Page | None)
MaybeResponse = TypeAliasType("MaybeResponse", Page | Response)
PageOfQuery = TypeAliasType("PageOfQuery", Annotated[Page, Query()])
Ctx = TypeAliasType("Ctx", Context)
Content = TypeAliasType("Content", bytes)
PagingAlias = TypeAliasType("PagingAlias", Paging)


def returning(annotation: Any, default: Any = msgspec.NODEFAULT) -> Any:
    """Returns an endpoint whose parameter `x` it returns as text."""

    def required(x: Any) -> str:
        return repr(x)

    def optional(x: Any = default) -> str:
        return repr(x)

    function = required if default is msgspec.NODEFAULT else optional
    function.__annotations__ = {"x": annotation}
    return typed(function)


@pytest.mark.parametrize(
    ("annotation", "query", "expected"),
    [
        pytest.param(UserId, "x=3", (200, "3"), marks=needs_type_statement),
        (Limited, "x=3", (200, "3")),
        (Limited, "x=0", (400, None)),
        (Annotated[Limited, msgspec.Meta(le=5)], "x=6", (400, None)),
        (Annotated[Limited, msgspec.Meta(le=5)], "x=5", (200, "5")),
        (Named, "x=client", (200, "'ada'")),
        (CurrentUser, "x=1", (200, "7")),
        (Again, "x=1", (200, "7")),
        (Many[int], "m=1&m=2", (200, "[1, 2]")),
        (Many[int], "m=a", (400, None)),
        pytest.param(list[UserId], "x=1&x=2", (200, "[1, 2]"), marks=needs_type_statement),
        (PageOfQuery, "number=2", (200, "Page(number=2)")),
        (Annotated[PagingAlias, Depends()], "page=2", (200, None)),
    ],
)
async def test_an_alias_has_the_meaning_of_its_value(
    annotation: Any, query: str, expected: tuple[int, str | None]
) -> None:
    app = Kit().get("/", returning(annotation))
    response = await app.request(f"/?{query}", headers={"x-name": "ada"})
    assert response.status == expected[0]
    if expected[1] is not None:
        assert await response.json() == expected[1]


async def test_an_alias_of_the_context() -> None:
    app = Kit().get("/:id", returning(Ctx))
    assert await (await app.request("/1")).json() == "<Context GET /1>"


@needs_type_statement
async def test_an_alias_of_bytes_is_the_content_of_a_file() -> None:
    app = Kit().post("/", returning(Annotated[Content, FileMarker()]))
    form = FormData()
    form.append("x", File([b"abc"], "a"))
    assert await (await app.request("/", method="POST", body=form)).json() == "b'abc'"


@needs_type_statement
async def test_an_alias_with_none() -> None:
    app = Kit().get("/", returning(Annotated[Maybe, Var()])).post("/", returning(MaybePage, None))
    assert await (await app.request("/")).json() == "None"
    assert await (await app.request("/", method="POST", json={"number": 1})).json() == (
        "Page(number=1)"
    )


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (MaybePage, {200: Page, 204: None}),
        (MaybeResponse, {200: Page}),
        (UserId, {200: UserId}),
    ],
)
def test_facts_of_results_with_aliases(returns: Any, expected: Any) -> None:
    def endpoint() -> Any: ...

    endpoint.__annotations__["return"] = returns
    assert get_facts(Kit().get("/", typed(endpoint)).routes[0].handler).responses == expected


def test_an_alias_of_a_name_that_is_not_defined() -> None:
    def endpoint(x: Late) -> None: ...

    class Late:
        @property
        def __value__(self) -> Any:
            return NotDefined  # type: ignore[name-defined]  # noqa: F821

    endpoint.__annotations__["x"] = Late()
    with pytest.raises(TypeError, match=r"the annotation of 'x' names 'NotDefined', which is not"):
        typed(endpoint)


def refused(function: Callable[..., Any], problem: str) -> str:
    line = function.__code__.co_firstlineno
    return f"@typed {function.__qualname__} ({__file__}:{line}): {problem}"


@pytest.mark.parametrize(
    ("annotation", "marker"),
    [
        (Annotated[int, Query(ge=1)] | None, "Query()"),
        (Optional[Annotated[str, Header("x-name")]], "Header('x-name')"),  # noqa: UP045
        (Annotated[int, Depends(int)] | None, "Depends(int)"),
        (list[Annotated[int, Query(ge=1)]], "Query()"),
        (dict[str, Annotated[int, Var()]], "Var()"),
        (Limited | None, "Query()"),
        (TypeAliasType("Inner", list[Limited]), "Query()"),
    ],
)
def test_a_marker_within_the_type_is_refused(annotation: Any, marker: str) -> None:
    def endpoint(x: Any = None) -> None: ...

    endpoint.__annotations__["x"] = annotation
    problem = (
        f"the annotation of 'x' has {marker} within the type, where it has no effect: write x: "
        f"Annotated[..., {marker}] around the whole type; for the constraints of an item, use "
        "msgspec.Meta(...)"
    )
    with pytest.raises(TypeError, match=f"^{re.escape(refused(endpoint, problem))}$"):
        typed(endpoint)


class MarkedStruct(msgspec.Struct):
    page: Annotated[int, Query(ge=1)] = 1


class MarkedInside(msgspec.Struct):
    page: Annotated[int, Query(ge=1)] | None = None


@dataclasses.dataclass
class MarkedDataclass:
    page: Annotated[int, Query(ge=1)] = 1


class MarkedModel(pydantic.BaseModel):
    page: Annotated[int, Query(ge=1)] = 1


class MarkedDict(TypedDict):
    page: Annotated[int, Query(ge=1)]


@pytest.mark.parametrize(
    "kind", [MarkedStruct, MarkedInside, MarkedDataclass, MarkedModel, MarkedDict]
)
async def test_a_marker_in_a_field_of_a_model_is_refused(kind: Any) -> None:
    def endpoint(x: Any) -> None: ...

    problem = (
        "the parameter 'x' takes all fields of a model, so Query() of its field 'page' has no "
        "effect: write msgspec.Meta(...) or pydantic's Field(...) for constraints and names; or "
        "Annotated[..., Depends()], which reads each field by itself"
    )
    for annotation in (kind, list[kind], Annotated[kind, Query()]):
        endpoint.__annotations__["x"] = annotation
        with pytest.raises(TypeError, match=f"^{re.escape(refused(endpoint, problem))}$"):
            Kit().post("/", typed(endpoint))
    if kind in (MarkedStruct, MarkedDataclass):
        app = Kit().get("/", returning(Annotated[kind, Depends()]))
        assert (await app.request("/?page=0")).status == 400
