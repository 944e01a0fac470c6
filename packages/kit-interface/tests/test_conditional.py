# SPDX-License-Identifier: MIT
"""Entity tags, dates and preconditions."""

from __future__ import annotations

import time
from email.utils import formatdate, parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Headers
from kit.interface.conditional import (
    EntityTag,
    evaluate,
    format_http_date,
    parse_entity_tag,
    parse_entity_tags,
    parse_http_date,
    range_applies,
    weakened,
)

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
AT = 784111777
BEFORE = "Sun, 06 Nov 1994 08:49:36 GMT"
AFTER = "Sun, 06 Nov 1994 08:49:38 GMT"

opaque = st.text(st.characters(codec="latin-1", exclude_categories=["Cc", "Zs"])).filter(
    lambda text: '"' not in text and "\xad" not in text
)
tags = st.builds(EntityTag, opaque, st.booleans())


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        # RFC 9110, section 8.8.3.
        ('"xyzzy"', EntityTag("xyzzy")),
        ('W/"xyzzy"', EntityTag("xyzzy", weak=True)),
        ('""', EntityTag("")),
        # A backslash escapes nothing.
        (r'"a\"', EntityTag("a\\")),
        ('"a,b"', EntityTag("a,b")),
        ('"\xe9"', EntityTag("\xe9")),
        ("", None),
        ("xyzzy", None),
        ('"xyzzy', None),
        ('xyzzy"', None),
        ('w/"xyzzy"', None),
        ('W/ "xyzzy"', None),
        ('"a b"', None),
        ('"a"b"', None),
        ('"☃"', None),
        (' "a"', None),
        ('"a"\n', None),
        ("*", None),
    ],
)
def test_entity_tags(value: str, tag: EntityTag | None) -> None:
    assert parse_entity_tag(value) == tag
    assert tag is None or str(tag) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, []),
        ("", []),
        (" , ,", []),
        # RFC 9110, section 13.1.2.
        ('"xyzzy"', ['"xyzzy"']),
        ('W/"xyzzy", W/"r2d2xxxx", W/"c3piozzzz"', ['W/"xyzzy"', 'W/"r2d2xxxx"', 'W/"c3piozzzz"']),
        ('"a,b" ,\t"c"', ['"a,b"', '"c"']),
        (r'"a\","b"', [r'"a\"', '"b"']),
        # Malformed members are left out, the others count.
        ('a, "b", W/c, *, "d"e, "f"', ['"b"', '"f"']),
        ('"a", "b', ['"a"']),
    ],
)
def test_lists_of_entity_tags(value: str | None, expected: list[str]) -> None:
    assert [str(tag) for tag in parse_entity_tags(value)] == expected


@given(st.lists(tags))
def test_lists_of_entity_tags_are_parsed_again(expected: list[EntityTag]) -> None:
    assert parse_entity_tags(", ".join(map(str, expected))) == expected


@given(st.text(alphabet='aW/",\\* \t'))
def test_lists_of_entity_tags_may_be_anything(value: str) -> None:
    for tag in parse_entity_tags(value):
        assert str(tag) in value


@pytest.mark.parametrize("value", ['"' * 2**20, ',"' * 2**19, "a" * 2**20, '"a",' * 2**17])
def test_long_lists_take_time_in_proportion(value: str) -> None:
    # A megabyte: whatever looked back as it goes on would not end within the test's time.
    parse_entity_tags(value)


@pytest.mark.parametrize(
    ("one", "other", "strong", "weak"),
    [
        # RFC 9110, section 8.8.3.2.
        ('W/"1"', 'W/"1"', False, True),
        ('W/"1"', 'W/"2"', False, False),
        ('W/"1"', '"1"', False, True),
        ('"1"', '"1"', True, True),
    ],
)
def test_comparison(one: str, other: str, strong: bool, weak: bool) -> None:
    first, second = parse_entity_tag(one), parse_entity_tag(other)
    assert first is not None
    assert second is not None
    for a, b in ((first, second), (second, first)):
        assert (a.matches(b, strong=True), a.matches(b)) == (strong, weak)


@pytest.mark.parametrize(
    ("etag", "expected"), [('"a"', 'W/"a"'), ('W/"a"', 'W/"a"'), ("a", "a"), ("", "")]
)
def test_weakened(etag: str, expected: str) -> None:
    assert weakened(etag) == expected


@pytest.mark.parametrize(
    ("value", "timestamp"),
    [
        # RFC 9110, section 5.6.7.
        (DATE, AT),
        ("Sunday, 06-Nov-94 08:49:37 GMT", AT),
        ("Sun Nov  6 08:49:37 1994", AT),
        ("Sun Nov 06 08:49:37 1994", AT),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 00:00:00 GMT", 1709164800),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1483228800),
        # The name of the day isn't compared.
        ("Mon, 06 Nov 1994 08:49:37 GMT", AT),
        (None, None),
        ("", None),
        ("0", None),
        ("Sun, 6 Nov 1994 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49:37 UTC", None),
        ("Sun, 06 Nov 1994 08:49:37 +0000", None),
        ("Sun, 06 Nov 1994 08:49:37", None),
        ("sun, 06 nov 1994 08:49:37 gmt", None),
        ("Wed, 29 Feb 2023 00:00:00 GMT", None),
        ("Sun, 06 Nov 1994 24:00:00 GMT", None),
        ("Sun, 06 Nov 1994 08:60:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49:61 GMT", None),
        ("Sun, 06 Nov 0000 08:49:37 GMT", None),
        ("Sun, ٠٦ Nov 1994 08:49:37 GMT", None),
        (f"{DATE}, {DATE}", None),
        (f"{DATE}\n", None),
    ],
)
def test_dates(value: str | None, timestamp: int | None) -> None:
    assert parse_http_date(value) == timestamp


def test_years_of_two_digits_are_at_most_fifty_years_ahead() -> None:
    this_year = time.gmtime().tm_year
    for ahead in (-40, -1, 0, 1, 49):
        year = this_year + ahead
        if year // 100 == this_year // 100:
            found = parse_http_date(f"Monday, 01-Mar-{year % 100:02} 12:00:00 GMT")
            assert found is not None
            assert time.gmtime(found).tm_year == year
    past = this_year + 51
    found = parse_http_date(f"Monday, 01-Mar-{past % 100:02} 12:00:00 GMT")
    assert found is not None
    assert time.gmtime(found).tm_year == past - 100


@given(st.integers(min_value=-62_135_596_800, max_value=253_402_300_799))
def test_dates_are_parsed_again(timestamp: int) -> None:
    text = format_http_date(timestamp)
    assert parse_http_date(text) == timestamp
    if timestamp >= 0:
        assert text == formatdate(timestamp, usegmt=True)


@given(st.floats(min_value=0, max_value=4e9))
def test_fractions_of_a_second_are_cut_off(timestamp: float) -> None:
    assert parsedate_to_datetime(format_http_date(timestamp)).timestamp() == timestamp // 1


@given(st.from_regex(r"[SM][a-z]{2,6},? [0-9A-Za-z :-]{0,30}", fullmatch=True))
def test_dates_may_be_anything(value: str) -> None:
    found = parse_http_date(value)
    assert found is None or isinstance(found, int)


@pytest.mark.parametrize("timestamp", [float("nan"), float("inf"), 253_402_300_800, -1e20])
def test_dates_beyond_the_years_of_four_digits(timestamp: float) -> None:
    with pytest.raises(ValueError, match="HTTP date") as raised:
        format_http_date(timestamp)
    assert str(raised.value) == (
        f"{timestamp!r} can't be formatted as an HTTP date: "
        "expected seconds since 1970 within the years 1 to 9999"
    )


@pytest.mark.parametrize(
    ("headers", "read", "write"),
    [
        ({}, None, None),
        ({"If-Match": '"a"'}, None, None),
        ({"If-Match": '"x,y", "a"'}, None, None),
        ({"If-Match": "*"}, None, None),
        ({"If-Match": ' "b" '}, 412, 412),
        ({"If-Match": 'W/"a"'}, 412, 412),
        ({"If-Match": "a"}, 412, 412),
        ({"If-Match": ""}, 412, 412),
        # Not a list with a `*`.
        ({"If-Match": '*, "b"'}, 412, 412),
        ({"If-None-Match": '"a"'}, 304, 412),
        ({"If-None-Match": 'W/"a"'}, 304, 412),
        ({"If-None-Match": '"x", "a"'}, 304, 412),
        ({"If-None-Match": "*"}, 304, 412),
        ({"If-None-Match": '"b", "a,b"'}, None, None),
        ({"If-None-Match": "a"}, None, None),
        ({"If-None-Match": ""}, None, None),
        ({"If-Unmodified-Since": DATE}, None, None),
        ({"If-Unmodified-Since": AFTER}, None, None),
        ({"If-Unmodified-Since": BEFORE}, 412, 412),
        ({"If-Unmodified-Since": "yesterday"}, None, None),
        ({"If-Modified-Since": DATE}, 304, None),
        ({"If-Modified-Since": "Sunday, 06-Nov-94 08:49:37 GMT"}, 304, None),
        ({"If-Modified-Since": AFTER}, 304, None),
        ({"If-Modified-Since": BEFORE}, None, None),
        ({"If-Modified-Since": f"{DATE}, {DATE}"}, None, None),
        # The order: tags before dates, If-Match before If-None-Match.
        ({"If-Match": '"a"', "If-Unmodified-Since": BEFORE}, None, None),
        ({"If-Match": '"b"', "If-None-Match": '"a"'}, 412, 412),
        ({"If-Match": '"a"', "If-None-Match": '"a"'}, 304, 412),
        ({"If-None-Match": '"b"', "If-Modified-Since": DATE}, None, None),
        ({"If-None-Match": '"a"', "If-Modified-Since": BEFORE}, 304, 412),
        ({"If-Unmodified-Since": BEFORE, "If-None-Match": '"a"'}, 412, 412),
        ({"If-Unmodified-Since": DATE, "If-Modified-Since": DATE}, 304, None),
    ],
)
def test_preconditions(headers: dict[str, str], read: int | None, write: int | None) -> None:
    get = Headers(headers).get
    for method in ("GET", "HEAD", "QUERY"):
        assert evaluate(method, get, etag='"a"', last_modified=AT + 0.5) == read
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert evaluate(method, get, etag='"a"', last_modified=AT + 0.5) == write
    for method in ("OPTIONS", "TRACE", "CONNECT"):
        assert evaluate(method, get, etag='"a"', last_modified=AT) is None


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-Match": "*"}, 412),
        ({"If-Match": '"a"'}, 412),
        ({"If-None-Match": "*"}, None),
        ({"If-None-Match": '"a"'}, None),
        ({"If-Unmodified-Since": BEFORE}, None),
        ({"If-Modified-Since": AFTER}, None),
    ],
)
def test_preconditions_of_what_does_not_exist(headers: dict[str, str], status: int | None) -> None:
    assert evaluate("PUT", Headers(headers).get, exists=False) == status


def test_representations_without_validators() -> None:
    assert evaluate("GET", Headers({"If-Match": "*"}).get) is None
    assert evaluate("GET", Headers({"If-Match": '"a"'}).get) == 412
    assert evaluate("GET", Headers({"If-None-Match": '"a"'}).get) is None
    assert evaluate("GET", Headers({"If-None-Match": '"a"'}).get, etag="a") is None
    assert evaluate("GET", Headers({"If-Modified-Since": AFTER}).get, etag='"a"') is None


def test_a_weak_tag_is_never_matched_strongly() -> None:
    assert evaluate("PUT", Headers({"If-Match": 'W/"a"'}).get, etag='W/"a"') == 412
    assert evaluate("GET", Headers({"If-None-Match": '"a"'}).get, etag='W/"a"') == 304


def test_lists_on_several_lines_are_one() -> None:
    headers = Headers([("If-None-Match", '"b"'), ("If-None-Match", '"a"')])
    assert evaluate("GET", headers.get, etag='"a"') == 304


@given(tags, st.lists(tags))
def test_a_listed_tag_is_found(tag: EntityTag, others: list[EntityTag]) -> None:
    headers = Headers({"If-None-Match": ", ".join(map(str, [*others, tag]))})
    assert evaluate("GET", headers.get, etag=str(tag)) == 304


@pytest.mark.parametrize(
    ("if_range", "etag", "last_modified", "applies"),
    [
        (None, None, None, True),
        ('"a"', '"a"', AT, True),
        ('"b"', '"a"', AT, False),
        ('"a"', None, AT, False),
        ('"a"', "a", AT, False),
        ('W/"a"', 'W/"a"', AT, False),
        ('W/"a"', '"a"', AT, False),
        ('"a"', 'W/"a"', AT, False),
        # No list.
        ('"a", "b"', '"a"', AT, False),
        ("*", '"a"', AT, False),
        (DATE, '"a"', AT, True),
        (DATE, None, AT + 0.9, True),
        ("Sunday, 06-Nov-94 08:49:37 GMT", None, AT, True),
        (DATE, '"a"', None, False),
        # The very date, not a later one.
        (AFTER, None, AT, False),
        (BEFORE, None, AT, False),
        ("yesterday", '"a"', AT, False),
        ("", '"a"', AT, False),
    ],
)
def test_if_range(
    if_range: str | None, etag: str | None, last_modified: float | None, applies: bool
) -> None:
    get = Headers({} if if_range is None else {"If-Range": if_range}).get
    assert range_applies(get, etag=etag, last_modified=last_modified) is applies


@pytest.mark.parametrize(("now", "applies"), [(AT + 0.99, False), (AT + 1, True)])
def test_a_date_of_this_second_is_a_weak_validator(now: float, applies: bool) -> None:
    get = Headers({"If-Range": DATE}).get
    assert range_applies(get, last_modified=AT, now=now) is applies
