# SPDX-License-Identifier: MIT
"""URLSearchParams: parsed and written as WHATWG says; expected values are those of Node."""

from __future__ import annotations

from typing import Any

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import URL, KitRequest, Request, Response
from kit.web import URLSearchParams

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@pytest.mark.parametrize(
    ("query", "entries", "written"),
    [
        pytest.param("", [], "", id="empty"),
        pytest.param("?", [], "", id="question mark"),
        pytest.param("a=1&b=2&a=3", [("a", "1"), ("b", "2"), ("a", "3")], None, id="repeated"),
        pytest.param("?a", [("a", "")], "a=", id="no value"),
        pytest.param("??a=1", [("?a", "1")], "%3Fa=1", id="two question marks"),
        pytest.param("a=1?b", [("a", "1?b")], "a=1%3Fb", id="question mark in a value"),
        pytest.param(
            "&&=1&==2&a", [("", "1"), ("", "=2"), ("a", "")], "=1&=%3D2&a=", id="empty names"
        ),
        pytest.param(
            "a+b=c%20d&a%2bb=+", [("a b", "c d"), ("a+b", " ")], "a+b=c+d&a%2Bb=+", id="blanks"
        ),
        pytest.param(
            "a=%FF%zz%4&%C3%A9=é",
            [("a", "\ufffd%zz%4"), ("é", "é")],
            "a=%EF%BF%BD%25zz%254&%C3%A9=%C3%A9",
            id="no UTF-8, no escapes",
        ),
        pytest.param("a=\0%00", [("a", "\0\0")], "a=%00%00", id="NUL"),
        pytest.param("a=1;b=2", [("a", "1;b=2")], "a=1%3Bb%3D2", id="semicolon"),
        pytest.param("a=%EF%BB%BF1", [("a", "\ufeff1")], "a=%EF%BB%BF1", id="byte order mark"),
        pytest.param("#a=1", [("#a", "1")], "%23a=1", id="number sign"),
        pytest.param("a&a=&a=1", [("a", ""), ("a", ""), ("a", "1")], "a=&a=&a=1", id="both"),
    ],
)
def test_parsed_and_written(query: str, entries: list[tuple[str, str]], written: str) -> None:
    params = URLSearchParams(query)
    assert list(params) == entries
    assert str(params) == (query if written is None else written)


def test_what_is_escaped() -> None:
    params = URLSearchParams([("~*-._ '()!", "é\n\r\0&=+%")])
    assert str(params) == "%7E*-._+%27%28%29%21=%C3%A9%0A%0D%00%26%3D%2B%25"


@given(st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_what_is_written_is_read(pairs: list[tuple[str, str]]) -> None:
    params = URLSearchParams(pairs)
    assert str(params).isascii()
    assert list(URLSearchParams(str(params))) == pairs
    peer = ada_url.URLSearchParams("")
    for name, value in pairs:
        peer.append(name, value)
    assert str(params) == str(peer)


@given(st.text(st.sampled_from("ab=&+%2fé?#;\0 "), max_size=12))
def test_any_query_is_parsed_as_by_ada(query: str) -> None:
    try:
        expected = list(ada_url.URLSearchParams(query).items())
    except UnicodeDecodeError:  # it doesn't replace what is no UTF-8
        assert any("\ufffd" in name + value for name, value in URLSearchParams(query))
    else:
        assert list(URLSearchParams(query)) == expected


def test_sorted_by_code_units() -> None:
    params = URLSearchParams("\ufffd=1&\U0001f600=2&z=3&é=4&z=1&a=")
    params.sort()
    expected = [("a", ""), ("z", "3"), ("z", "1"), ("é", "4"), ("\U0001f600", "2"), ("\ufffd", "1")]
    assert list(params) == expected


NAMES = st.sampled_from(["a", "b", "c"])
STEPS = st.sampled_from(["append", "set", "delete", "delete value"])


@given(st.lists(st.tuples(STEPS, NAMES, st.sampled_from(["1", "2"]))))
def test_against_a_list_of_pairs(steps: list[tuple[str, str, str]]) -> None:
    params = URLSearchParams()
    model: list[tuple[str, str]] = []
    for step, name, value in steps:
        if step == "append":
            params.append(name, value)
            model.append((name, value))
        elif step == "set":
            params.set(name, value)
            first = next((i for i, pair in enumerate(model) if pair[0] == name), len(model))
            rest = [pair for pair in model[first:] if pair[0] != name]
            model = [*model[:first], (name, value), *rest]
        elif step == "delete":
            params.delete(name)
            model = [pair for pair in model if pair[0] != name]
        else:
            params.delete(name, value)
            model = [pair for pair in model if pair != (name, value)]
        for asked in ("a", "b", "c"):
            values = [v for n, v in model if n == asked]
            assert params.get_all(asked) == values
            assert params.get(asked) == (values[0] if values else None)
            assert params.has(asked) == (asked in params) == bool(values)
            assert params.has(asked, "1") == ("1" in values)
    assert list(params) == list(params.entries()) == list(params.items()) == model
    assert (list(params.keys()), list(params.values())) == (
        [name for name, _ in model],
        [value for _, value in model],
    )
    assert params.size == len(params) == len(model)
    assert params == URLSearchParams(model)


def test_made_of() -> None:
    pairs = [("a", "1"), ("b", "2")]
    for init in (dict(pairs), pairs, iter(pairs), URLSearchParams(pairs), "a=1&b=2"):
        assert list(URLSearchParams(init)) == pairs
    copy = URLSearchParams(URLSearchParams(pairs))
    copy.append("c", "3")
    assert repr(copy) == "URLSearchParams([('a', '1'), ('b', '2'), ('c', '3')])"
    assert copy != pairs
    with pytest.raises(TypeError, match="unhashable"):
        hash(copy)


@pytest.mark.parametrize(("name", "value"), [("a", 1), (1, "a"), ("a", None), ("a", b"x")])
def test_what_is_no_text(name: Any, value: Any) -> None:
    params = URLSearchParams()
    for write in (params.append, params.set):
        with pytest.raises(TypeError) as caught:
            write(name, value)
        assert str(caught.value) == (
            f"Invalid search parameter {name!r}={value!r}: name and value are expected to be str"
        )
    with pytest.raises(TypeError, match="Invalid search parameter"):
        URLSearchParams({name: value})
    assert params.size == 0


@pytest.mark.parametrize(
    ("url", "entries"),
    [
        ("http://x/", []),
        ("http://x/?", []),
        ("http://x/?a=%20b+c#d", [("a", " b c")]),
        ("data:x?y=1", [("y", "1")]),
    ],
)
def test_of_a_url(url: str, entries: list[tuple[str, str]]) -> None:
    parsed = URL(url)
    assert list(parsed.search_params) == entries
    parsed.search_params.append("x", "1")
    assert parsed.href == url


async def test_as_a_body() -> None:
    params = URLSearchParams({"a": "1 é", "b": "&"})
    response = Response(params)
    assert response.headers["content-type"] == "application/x-www-form-urlencoded;charset=UTF-8"
    assert await response.clone().text() == "a=1+%C3%A9&b=%26"
    assert list(await response.form_data()) == list(params)
    own = {"content-type": "application/x-www-form-urlencoded"}
    request = Request("http://x/", method="POST", body=params, headers=own)
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert await KitRequest(request).parse_body() == {"a": "1 é", "b": "&"}
