# SPDX-License-Identifier: MIT
"""Headers, against a model, and what may not be sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kit import Headers

NAMES = st.sampled_from(["x", "X", "content-type", "Content-Type", "set-cookie", "Set-Cookie"])
VALUES = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=8)


class AgainstModel(RuleBasedStateMachine):
    """A list of pairs with lower-case names does the same."""

    def __init__(self) -> None:
        super().__init__()
        self.headers = Headers()
        self.model: list[tuple[str, str]] = []

    @rule(name=NAMES, value=VALUES)
    def append(self, name: str, value: str) -> None:
        self.headers.append(name, value)
        self.model.append((name.lower(), value.strip(" \t\r\n")))

    @rule(name=NAMES, value=VALUES)
    def set(self, name: str, value: str) -> None:
        self.headers.set(name, value)
        pair = (name.lower(), value.strip(" \t\r\n"))
        places = [i for i, (n, _) in enumerate(self.model) if n == pair[0]]
        if places:
            self.model[places[0]] = pair
            self.model = [p for i, p in enumerate(self.model) if i not in places[1:]]
        else:
            self.model.append(pair)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.headers.delete(name)
        self.model = [pair for pair in self.model if pair[0] != name.lower()]

    @invariant()
    def agrees(self) -> None:
        names = sorted({name for name, _ in self.model})
        assert list(self.headers) == names
        assert len(self.headers) == len(names)
        for name in ("x", "CONTENT-TYPE", "set-cookie", "other"):
            values = [value for n, value in self.model if n == name.lower()]
            assert self.headers.get_all(name) == values
            assert self.headers.get(name) == (", ".join(values) if values else None)
            assert self.headers.has(name) == (name in self.headers) == bool(values)
        assert self.headers.get_set_cookie() == self.headers.get_all("set-cookie")
        joined = [(n, v) for n, v in self.headers.items() if n != "set-cookie"]
        assert joined == [(n, self.headers[n]) for n in names if n != "set-cookie"]
        assert Headers(self.headers) == self.headers


TestAgainstModel = AgainstModel.TestCase


def test_get_with_a_default() -> None:
    headers = Headers({"x": ""})
    assert (headers.get("X", "none"), headers.get("y", "none")) == ("", "none")
    assert headers.get("y", default=None) is None


@pytest.mark.parametrize("character", ["\r", "\n", "\0"])
@pytest.mark.parametrize("place", ["a{}b", "a\r\n{}x: y"])
def test_a_value_can_not_end_its_line(character: str, place: str) -> None:
    headers = Headers({"x": "kept"})
    for write in (headers.set, headers.append):
        with pytest.raises(ValueError, match=r"CR, LF and NUL are not allowed"):
            write("x", place.format(character))
    assert list(headers.items()) == [("x", "kept")]


@pytest.mark.parametrize("name", ["", " ", "a b", "a:b", "a\r\nb", "é", "a\0", "(x)", "x\n"])
def test_a_name_is_a_token(name: str) -> None:
    headers = Headers()
    for act in (headers.get, headers.has, headers.delete, lambda n: headers.set(n, "x")):
        with pytest.raises(ValueError, match=r"Invalid header name .*expected a token of RFC 9110"):
            act(name)
    assert name not in headers


@pytest.mark.parametrize("value", ["あ", "\u0100", 5, None, b"x"])
def test_a_value_is_latin_1_text(value: Any) -> None:
    with pytest.raises(ValueError, match=r"Invalid value .* of header 'x'"):
        Headers().set("x", value)


@given(VALUES)
def test_values_come_back_without_the_blanks_around_them(value: str) -> None:
    assert Headers([("x", value)])["X"] == value.strip(" \t\r\n")


@pytest.mark.parametrize(
    "init",
    [
        pytest.param({"A": "1", "b": "2"}, id="mapping"),
        pytest.param([("A", "1"), ("b", "2")], id="pairs"),
        pytest.param((pair for pair in [("A", "1"), ("b", "2")]), id="generator"),
        pytest.param(Headers([("a", "1"), ("B", "2")]), id="headers"),
    ],
)
def test_made_of(init: Any) -> None:
    assert list(Headers(init).items()) == [("a", "1"), ("b", "2")]


def test_made_of_something_else() -> None:
    with pytest.raises(ValueError, match=r"expected a pair of name and value"):
        Headers(["ab"])  # type: ignore[list-item]


def test_like_a_mapping() -> None:
    headers = Headers({"a": "1"})
    headers["B"] = "2"
    del headers["A"]
    assert (headers["b"], list(headers.keys()), list(headers.values())) == ("2", ["b"], ["2"])
    with pytest.raises(KeyError):
        headers["a"]
    with pytest.raises(KeyError):
        del headers["a"]
    assert 5 not in headers
    assert repr(headers) == "Headers([('b', '2')])"
    copy = Headers(headers)
    copy.set("b", "3")
    assert headers["b"] == "2"
