# SPDX-License-Identifier: MIT
"""Facts that functions carry: attached, read through wrappers, and kept by an app."""

from __future__ import annotations

import functools
from collections.abc import Awaitable
from typing import Any, Literal
from unittest.mock import Mock

import pytest

import kit.interface.metadata
from kit import Kit
from kit.interface import Context, Next
from kit.interface.metadata import (
    Facts,
    attach,
    combine_security,
    get_facts,
    get_return_type,
    merge_descriptions,
)

BEARER = {"type": "http", "scheme": "bearer"}
BASIC = {"type": "http", "scheme": "basic"}


def handler(c: Any) -> Any:
    return c.text("x")


def new_handler() -> Any:
    def new(c: Any) -> Any:
        return c.text("new")

    return new


def test_public_names() -> None:
    assert kit.interface.metadata.__all__ == (
        "Facts",
        "Scheme",
        "attach",
        "combine_security",
        "get_facts",
        "get_return_type",
        "merge_descriptions",
    )


class Finder:
    async def __call__(self, c: Any) -> int | None:
        return None


def flags(c: Any) -> Literal[True, None]:
    return True


def later(c: Any) -> Awaitable[str | bool]:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (Finder(), int),
        (functools.partial(later), str),
        (flags, None),
        (lambda c: c, Any),
        (len, Any),
    ],
)
def test_returned_type(function: Any, expected: Any) -> None:
    assert get_return_type(function) == expected


def test_function_without_facts() -> None:
    facts = get_facts(handler)
    assert facts == Facts()
    assert facts == ({}, {}, (), {}, {}, False, "", {}, None, ())
    assert get_facts(None) == get_facts(42) == get_facts(Mock()) == Facts()


def test_all_facts() -> None:
    function = new_handler()
    made = attach(
        function,
        provides={"user": int},
        responses={401: "Unauthorized", 404: None},
        security=BEARER,
        validates={"json": dict},
        describes={"summary": "Reads", "tags": ["a"]},
        mounted=True,
        source="def f(): ...",
        body_required=False,
        kit_hello={"x": 1},
    )
    assert made is function
    assert get_facts(function) == Facts(
        provides={"user": int},
        responses={401: "Unauthorized", 404: None},
        security=(BEARER,),
        validates={"json": dict},
        describes={"summary": "Reads", "tags": ["a"]},
        mounted=True,
        source="def f(): ...",
        others={"kit_hello": {"x": 1}},
        body_required=False,
    )


def test_facts_add_up() -> None:
    function = attach(new_handler(), responses={401: "a", 404: "b"}, security=BASIC, one=1)
    attach(function, responses={404: "c"}, security=[BEARER, BASIC], two=2)
    facts = get_facts(function)
    assert facts.responses == {401: "a", 404: "c"}
    assert facts.security == (BEARER, BASIC)
    assert facts.others == {"one": 1, "two": 2}


def test_schemes_that_are_needed_together() -> None:
    function = attach(new_handler(), security=[(BEARER, BASIC), BASIC, ()])
    assert get_facts(function).security == ((BEARER, BASIC), BASIC, ())
    with pytest.raises(TypeError, match="takes Security Scheme Objects"):
        attach(new_handler(), security=[(BEARER, "basic")])  # type: ignore[list-item]


def test_mapping_is_copied() -> None:
    responses = {401: "a"}
    function = attach(new_handler(), responses=responses)
    responses[404] = "b"
    assert get_facts(function).responses == {401: "a"}


def test_wrapper_has_the_facts_of_what_it_wraps() -> None:
    inner = attach(new_handler(), responses={401: "inner", 404: "inner"}, provides={"a": int})

    @functools.wraps(inner)
    def outer(c: Any) -> Any:
        return inner(c)

    attach(outer, responses={401: "outer"})
    assert get_facts(outer).responses == {401: "outer", 404: "inner"}
    assert get_facts(outer).provides == {"a": int}
    assert get_facts(inner).responses == {401: "inner", 404: "inner"}


def test_wrapper_that_was_made_by_hand() -> None:
    inner = attach(new_handler(), provides={"a": int})
    outer = new_handler()
    outer.__wrapped__ = inner
    assert get_facts(outer).provides == {"a": int}
    attach(inner, describes={"summary": "later"})
    assert get_facts(outer).describes == {"summary": "later"}


def test_partial() -> None:
    inner = attach(new_handler(), provides={"a": int})
    twice = functools.partial(functools.partial(inner))
    assert get_facts(twice).provides == {"a": int}
    attach(twice, provides={"b": str})
    assert get_facts(twice).provides == {"a": int, "b": str}
    assert get_facts(inner).provides == {"a": int}


def test_function_that_wraps_itself() -> None:
    function = attach(new_handler(), provides={"a": int})
    function.__wrapped__ = function
    assert get_facts(function).provides == {"a": int}


class Guard:
    def check(self, c: Any, next: Any) -> Any:
        return next()

    def __call__(self, c: Any, next: Any) -> Any:
        return next()


def test_methods_and_objects() -> None:
    class Own(Guard):
        check = attach(Guard.check, provides={"a": int})

    assert get_facts(Own().check).provides == {"a": int}
    guard = attach(Guard(), security=BEARER)
    assert get_facts(guard).security == (BEARER,)
    assert get_facts(Guard()).security == ()


def test_what_takes_no_attributes() -> None:
    for each in (Guard().check, len, int):
        with pytest.raises(TypeError) as caught:
            attach(each, provides={"a": int})
        assert str(caught.value).startswith(f"attach() can't set attributes on {each!r:.100}")


def test_an_empty_tuple_of_schemes_stands_for_no_credentials() -> None:
    function = attach(new_handler(), security=[BEARER, ()])
    assert get_facts(function).security == (BEARER, ())


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"provides": ["user"]}, "attach(provides=...) takes a mapping, not ['user']"),
        ({"responses": 401}, "attach(responses=...) takes a mapping, not 401"),
        ({"validates": ("json", int)}, "attach(validates=...) takes a mapping, not"),
        ({"describes": "x"}, "attach(describes=...) takes a mapping, not 'x'"),
        ({"security": {"scheme": "bearer"}}, "takes Security Scheme Objects such as {'type'"),
        ({"security": ["bearer"]}, "takes Security Scheme Objects such as {'type': 'http'"),
    ],
)
def test_wrong_facts(facts: dict[str, Any], text: str) -> None:
    function = new_handler()
    with pytest.raises(TypeError) as caught:
        attach(function, **facts)
    assert text in str(caught.value)
    assert get_facts(function) == Facts()


def test_descriptions_are_merged() -> None:
    outer = {
        "summary": "Outer",
        "tags": ["a"],
        "responses": {200: int, 404: "Gone"},
        "headers": {"ETag": {"schema": str}, "X-A": "A"},
        "parameters": [
            {"name": "X-Key", "in": "header", "description": "outer", "deprecated": True},
            {"name": "q", "in": "query"},
        ],
        "extensions": {"x-a": 1},
    }
    inner = {
        "summary": "Inner",
        "tags": ["b"],
        "responses": {404: int},
        "headers": {"ETag": {"description": "of the body"}, "X-A": str},
        "parameters": [{"name": "x-key", "in": "header", "description": "inner"}],
        "extensions": {"x-b": 2},
        "hidden": False,
    }
    expected = {
        "summary": "Inner",
        "tags": ["b"],
        "responses": {200: int, 404: int},
        "headers": {"ETag": {"schema": str, "description": "of the body"}, "X-A": str},
        "parameters": [
            {"name": "x-key", "in": "header", "description": "inner", "deprecated": True},
            {"name": "q", "in": "query"},
        ],
        "extensions": {"x-a": 1, "x-b": 2},
        "hidden": False,
    }
    assert merge_descriptions([outer, inner]) == expected
    assert merge_descriptions([]) == {}
    function = attach(attach(new_handler(), describes=outer), describes=inner)
    assert get_facts(function).describes == expected
    wrapper = attach(functools.wraps(function)(new_handler()), describes={"extensions": {"x-c": 3}})
    assert get_facts(wrapper).describes["extensions"] == {"x-a": 1, "x-b": 2, "x-c": 3}


async def test_app_keeps_them() -> None:
    async def guard(c: Context, next: Next) -> None:
        await next()

    attach(guard, security=BEARER)
    function = attach(new_handler(), describes={"summary": "Reads"})
    sub = Kit()
    sub.get("/x", guard, function)
    app = Kit().route("/sub", sub)
    first, second = app.routes
    assert get_facts(first.handler).security == (BEARER,)
    assert get_facts(second.handler).describes == {"summary": "Reads"}
    assert (await app.request("/sub/x")).status == 200


def test_security_of_functions_that_all_run() -> None:
    bearer = {"type": "http", "scheme": "bearer"}
    basic = {"type": "http", "scheme": "basic"}
    key = {"type": "apiKey", "in": "header", "name": "x-key"}

    def guard(*schemes: Any) -> Any:
        return attach(lambda: None, security=schemes) if schemes else lambda: None

    cases: list[tuple[list[Any], tuple[Any, ...]]] = [
        ([], ()),
        ([guard()], ()),
        ([guard(bearer), guard()], (bearer,)),
        ([guard(bearer), guard(bearer)], (bearer,)),
        ([guard(bearer), guard(key)], ((bearer, key),)),
        ([guard(bearer, basic), guard(key)], ((bearer, key), (basic, key))),
        ([guard(bearer, ()), guard(key)], ((bearer, key), key)),
        ([guard((bearer, key)), guard(key, ())], ((bearer, key),)),
        ([guard(bearer, ()), guard(key, ())], ((bearer, key), bearer, key, ())),
    ]
    for guards, expected in cases:
        assert combine_security(guards) == expected


# --- what has no effect ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"validates": {"json"}}, "attach(validates=...) takes a mapping, not {'json'}"),
        ({"describes": {"summary": 5}}, "attach(describes={'summary': ...}) takes a str, not 5"),
        ({"describes": {"tags": "a"}}, "attach(describes={'tags': ...}) takes a Sequence, not 'a'"),
        ({"describes": {"deprecated": 1}}, "attach(describes={'deprecated': ...}) takes a bool, n"),
        ({"describes": {"responses": []}}, "takes a Mapping, not []"),
        ({"describes": {"parameters": {}}}, "{'parameters': ...}) takes a Sequence, not {}"),
        ({"describes": {"parameters": ["q"]}}, "takes Parameter Objects such as {'name': 'q'"),
        ({"describes": {"extensions": "x-a"}}, "{'extensions': ...}) takes a Mapping, not 'x-a'"),
        ({"mounted": 1}, "attach(mounted=...) takes a bool, not 1"),
        ({"source": 1}, "attach(source=...) takes a str, not 1"),
        ({"body_required": "yes"}, "attach(body_required=...) takes a bool, not 'yes'"),
    ],
)
def test_values_without_effect(facts: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        attach(lambda c: None, **facts)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"describes": {"params": []}}, "attach(describes=...) has the field 'params'"),
        ({"validates": {"queries": dict}}, "attach(validates=...) has the part 'queries'"),
    ],
)
def test_names_without_effect(facts: Any, text: str) -> None:
    with pytest.raises(ValueError, match="attach") as caught:
        attach(lambda c: None, **facts)
    assert text in str(caught.value)
