# SPDX-License-Identifier: MIT
"""The syntax of HTTP fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Headers
from kit.http.fields import is_field_value, is_token, list_members, parse_accept, quoted_string
from kit.http.vary import add_vary


@pytest.mark.parametrize(
    ("text", "token", "value"),
    [
        ("X-Request-Id", True, True),
        ("", False, True),
        ("a b", False, True),
        ("a\tb", False, True),
        (" a", False, False),
        ("a ", False, False),
        ("a\r\nb: c", False, False),
        ("a\n", False, False),
        ("a\x00", False, False),
        ("a\x7f", False, False),
        ("é", False, True),
        ("☃", False, False),
    ],
)
def test_tokens_and_values(text: str, token: bool, value: bool) -> None:
    assert (is_token(text), is_field_value(text)) == (token, value)


def test_quotes_and_backslashes_are_escaped() -> None:
    assert quoted_string(r'a "b" \c') == r'"a \"b\" \\c"'


def test_what_no_header_can_hold_is_not_quoted() -> None:
    with pytest.raises(ValueError, match="can't be sent in a header") as raised:
        quoted_string("a\r\nb: c")
    assert str(raised.value) == (
        r"'a\r\nb: c' can't be sent in a header: expected latin-1 text without control characters"
    )


@pytest.mark.parametrize(
    ("value", "members"),
    [
        (None, []),
        ("", []),
        (" , ,", []),
        ("a", ["a"]),
        ("a,b ,\tc", ["a", "b", "c"]),
        ('"a,b", W/"c"', ['"a,b"', 'W/"c"']),
        (r'"a\",b", c', [r'"a\",b"', "c"]),
        ('a="x,y";q=1, b', ['a="x,y";q=1', "b"]),
        ('a, "b, c', ["a", '"b, c']),
        ('"a\\', ['"a\\']),
    ],
)
def test_list_members(value: str | None, members: list[str]) -> None:
    assert list_members(value) == members


@given(st.lists(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]))))
def test_quoted_strings_are_members_of_their_own(texts: list[str]) -> None:
    members = [quoted_string(text) for text in texts]
    assert list_members(", ".join(members)) == members


@pytest.mark.parametrize(
    ("before", "names", "after"),
    [
        (None, ["Origin"], "Origin"),
        ("", ["Origin"], "Origin"),
        ("Accept", ["Origin", "Cookie"], "Accept, Origin, Cookie"),
        ("accept, ORIGIN", ["Origin", "Accept"], "accept, ORIGIN"),
        ("*", ["Origin"], "*"),
        ("Accept", ["Origin", "Origin"], "Accept, Origin"),
        ("Accept", [], "Accept"),
    ],
)
def test_add_vary(before: str | None, names: list[str], after: str) -> None:
    headers = Headers() if before is None else Headers({"vary": before})
    add_vary(headers, *names)
    assert headers.get_all("vary") == [after]


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        (None, []),
        ("", []),
        (" , ;q=1, ", []),
        ("gzip", [("gzip", 1, {})]),
        ("gzip, br", [("gzip", 1, {}), ("br", 1, {})]),
        ("a;q=0.2, b;q=0.8, c", [("c", 1, {}), ("b", 0.8, {"q": "0.8"}), ("a", 0.2, {"q": "0.2"})]),
        # Equal ones stay in order.
        (
            "a;q=.5,b ; q = 0.50,c;Q=0.5",
            [("a", 0.5, {"q": ".5"}), ("b", 0.5, {"q": "0.50"}), ("c", 0.5, {"Q": "0.5"})],
        ),
        # A refusal is kept, at the end.
        ("a;q=0, b;q=0.001", [("b", 0.001, {"q": "0.001"}), ("a", 0, {"q": "0"})]),
        # Beyond 0 and 1, and what is no number.
        ("a;q=-1, b;q=2", [("b", 1, {"q": "2"}), ("a", 0, {"q": "-1"})]),
        (
            "a;q=x, b;q=1_0, c;q=nan, d;q=",
            [("a", 1, {"q": "x"}), ("b", 1, {"q": "1_0"}), ("c", 1, {"q": "nan"}), ("d", 1, {})],
        ),
        ("a;q=NaN", [("a", 0, {"q": "NaN"})]),
        # Parameters: without a value, without a name, twice.
        ("a;x;=1;y=;z==2;v=1;v=2", [("a", 1, {"v": "2"})]),
        # RFC 9110, section 12.5.1.
        (
            "text/*;q=0.3, text/plain;format=flowed, */*;q=0.5",
            [
                ("text/plain", 1, {"format": "flowed"}),
                ("*/*", 0.5, {"q": "0.5"}),
                ("text/*", 0.3, {"q": "0.3"}),
            ],
        ),
        # Quoted: commas, semicolons, escapes; unclosed; something behind the quotation.
        ('a;x="1,2;3";q=0.5, b', [("b", 1, {}), ("a", 0.5, {"x": "1,2;3", "q": "0.5"})]),
        (r'a;x="\"\\" ;q="0.5"', [("a", 0.5, {"x": '"\\', "q": "0.5"})]),
        ('a;x="b,c;q=0.1', [("a", 1, {"x": '"b,c;q=0.1'})]),
        ('a;x="b"c;y=1, d', [("a", 1, {"y": "1"}), ("d", 1, {})]),
        (';x=",";q=1, b', [("b", 1, {})]),
    ],
)
def test_parse_accept(value: str | None, accepted: list[tuple[str, float, dict[str, str]]]) -> None:
    assert parse_accept(value) == accepted


def test_parts_of_what_is_accepted_have_names() -> None:
    (html,) = parse_accept("text/html;level=1;q=0.5")
    assert (html.type, html.q, html.params) == ("text/html", 0.5, {"level": "1", "q": "0.5"})


@given(st.text(alphabet='ab*/;,= \t"\\q.015é-'))
def test_parse_accept_takes_anything(value: str) -> None:
    accepted = parse_accept(value)
    qualities = [each.q for each in accepted]
    assert qualities == sorted(qualities, reverse=True)
    assert all(0 <= q <= 1 for q in qualities)
    assert all(each.type == each.type.strip() != "" for each in accepted)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["text/html", "a", "*"]),
            st.integers(min_value=0, max_value=1000),
            st.text(alphabet='ab,;="\\ ', min_size=1).filter(str.strip),
        )
    )
)
def test_what_is_quoted_is_parsed_again(members: list[tuple[str, int, str]]) -> None:
    value = ", ".join(f"{name};x={quoted_string(x)};q={q / 1000}" for name, q, x in members)
    found = [(each.type, each.q, each.params["x"]) for each in parse_accept(value)]
    expected = sorted(members, key=lambda member: -member[1])
    assert found == [(name, q / 1000, x) for name, q, x in expected]


@pytest.mark.parametrize(
    "value",
    [
        # A megabyte or so: whatever looks back as it goes on would not end within the test's time.
        "," * 2**20,
        ";" * 2**20,
        "a;" + ";" * 2**20,
        "a;" + "=" * 2**20,
        "a;q=" + "=;" * 2**19,
        "a" + " " * 2**20 + "b",
        "a;q=1" + " " * 2**20 + "x",
        "a;q=" + "1" * 2**20 + "x",
        "a;q=0." + "1" * 2**20,
        'a;x="' + " " * 2**20,
        'a;x="' + "\\" * 2**20,
        'a;x="' + '\\"' * 2**19,
        'a;x="' + '\\"' * 2**19 + '"' + " " * 2**20 + "y",
        'a;x="";' * 2**17,
        'a;x=",' * 2**17,
        ";" + '"' * 2**20,
        ';"' + "\\\n" * 2**19,
        '"' + "a;q=0.1,a;q=0.2," * 2**15,
    ],
    ids=lambda value: value[:8],
)
def test_ghsa_54fx_42gc_7vw4_complexity_of_accept(value: str) -> None:
    parse_accept(value)
