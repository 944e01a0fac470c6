# SPDX-License-Identifier: MIT
"""The syntax of HTTP fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Headers
from kit.interface.fields import (
    add_vary,
    is_field_value,
    is_token,
    list_members,
    quoted_string,
)


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
