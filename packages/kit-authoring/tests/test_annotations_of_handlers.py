# SPDX-License-Identifier: MIT
"""Handlers whose parameters are plainly not the context and `next` are refused."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, Protocol, TypeVar
from uuid import UUID

import pytest

import kit.interface
from kit.authoring.signatures import is_factory, takes_next
from kit.interface import AsyncMiddleware, Context, Middleware, Next

C = TypeVar("C", bound=Context)


class HasRequest(Protocol):
    @property
    def req(self) -> Any: ...


class HasAttribute(Protocol):
    req: Any


class Model: ...


def context(c: Context) -> None: ...
def parameters(c: Context[Any, Any]) -> None: ...
def dotted(c: kit.interface.Context) -> None: ...
def protocol(c: HasRequest) -> None: ...
def attribute(c: HasAttribute) -> None: ...
def anything(c: Any) -> None: ...
def any_object(c: object) -> None: ...
def variable(c: C) -> None: ...
def union(c: Context | None) -> None: ...
def later(c: NotYet) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def no_annotation(id) -> None: ...  # type: ignore[no-untyped-def]
def by_name(c, call_next) -> None: ...  # type: ignore[no-untyped-def]
def unused(c, _) -> None: ...  # type: ignore[no-untyped-def]
def by_type(c: Context, go: Next) -> None: ...
def by_callable(c: Context, go: Callable[[], Awaitable[None]]) -> None: ...
def evaluated(c, go) -> None: ...  # type: ignore[no-untyped-def]


evaluated.__annotations__ = {"c": Context[Any, Any], "go": Next}


@pytest.mark.parametrize(
    ("handler", "answer"),
    [
        (context, False),
        (parameters, False),
        (dotted, False),
        (protocol, False),
        (attribute, False),
        (anything, False),
        (any_object, False),
        (variable, False),
        (union, False),
        (later, False),
        (no_annotation, False),
        (by_name, True),
        (unused, True),
        (by_type, True),
        (by_callable, True),
        (evaluated, True),
        (lambda c, go: None, True),
    ],
)
def test_what_may_be_a_handler(handler: Any, answer: bool) -> None:
    assert takes_next(handler, "GET '/'") is answer


def scalar(id: int) -> None: ...
def identifier(id: UUID) -> None: ...
def model(book: Model) -> None: ...
def generic(ids: list[int]) -> None: ...
def annotated(id: Annotated[int, "of the path"]) -> None: ...
def evaluated_union(id: Any) -> None: ...
def literal(id: Any) -> None: ...


evaluated_union.__annotations__["id"] = int | None
literal.__annotations__["id"] = Literal["a"]


def second(c: Context, id: int) -> None: ...
def second_model(c: Context, book: Model) -> None: ...
def untyped(c, id) -> None: ...  # type: ignore[no-untyped-def]
def connection(c: Context, ws: Any) -> None: ...


@pytest.mark.parametrize(
    "handler",
    [
        *(scalar, identifier, model, generic, annotated, evaluated_union, literal),
        *(second, second_model, untyped, connection),
    ],
)
def test_other_parameters(handler: Any) -> None:
    with pytest.raises(TypeError, match=r"'/books/:id' is neither a handler \(c\) nor middleware"):
        takes_next(handler, "GET '/books/:id'")


class Configured:
    async def __call__(self, c: Context, next: Next) -> None: ...


class Derived(Configured): ...


def without_options() -> AsyncMiddleware: ...  # type: ignore[empty-body]
def with_option(format: str = "json") -> Middleware: ...  # type: ignore[empty-body]
def with_context_like(c: Any) -> Middleware: ...  # type: ignore[empty-body]
def with_two(target: Any, next: Any) -> AsyncMiddleware: ...  # type: ignore[empty-body]
def with_any(*limits: str) -> kit.interface.AsyncMiddleware: ...  # type: ignore[empty-body]
def with_keyword(*, key: str) -> AsyncMiddleware | None: ...
def of_a_class(directory: Any = None) -> Configured: ...  # type: ignore[empty-body]
def of_a_derived_class(c: Any) -> Derived: ...  # type: ignore[empty-body]
def real(c: Any) -> Any: ...
def real_union(c: Any) -> Any: ...


real.__annotations__["return"] = Middleware
real_union.__annotations__["return"] = AsyncMiddleware | None


class Plugin:
    def middleware(self, name: Any = None) -> Middleware: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    "factory",
    [
        without_options,
        with_option,
        with_context_like,
        with_two,
        with_any,
        with_keyword,
        of_a_class,
        of_a_derived_class,
        real,
        real_union,
        Plugin().middleware,
    ],
)
def test_factory_that_was_not_called(factory: Any) -> None:
    assert is_factory(factory)
    with pytest.raises(TypeError, match="neither a handler"):
        takes_next(factory, "ALL '/*'")


@functools.wraps(with_option)
def wrapper(c: Any, next: Any) -> None: ...


async def asynchronous(c: Context, next: Next) -> AsyncMiddleware: ...  # type: ignore[empty-body]
def of_any_callable(c: Context) -> Callable[[], None]: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("handler", "answer"), [(wrapper, True), (asynchronous, True), (of_any_callable, False)]
)
def test_what_is_no_factory(handler: Any, answer: bool) -> None:
    assert not is_factory(handler)
    assert takes_next(handler, "ALL '/*'") is answer
