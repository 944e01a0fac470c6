# SPDX-License-Identifier: MIT
"""Entity tags, dates and preconditions."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import formatdate, parsedate_to_datetime
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Headers
from kit.http.conditional import evaluate, range_applies
from kit.http.dates import format_http_date, parse_http_date
from kit.http.entity_tags import EntityTag, parse_entity_tag, parse_entity_tags, weaken

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


@pytest.mark.parametrize("opaque", ['a"b', 'a"b\r\nX: y', "a b", "a\n", "\x7f", "☃"])
def test_a_tag_that_cannot_be_sent_is_an_error(opaque: str) -> None:
    text = (
        f"EntityTag(opaque={opaque!r}) can't be used: expected the text between the quotes, "
        "of visible latin-1 characters without quotes and blanks"
    )
    for make in (EntityTag, lambda opaque: EntityTag("a")._replace(opaque=opaque)):
        with pytest.raises(ValueError, match="EntityTag") as raised:
            make(opaque)
        assert str(raised.value) == text


def test_a_tag_of_another_type_is_an_error() -> None:
    with pytest.raises(TypeError) as raised:
        EntityTag(b"a")  # type: ignore[arg-type]
    assert str(raised.value) == "EntityTag(opaque=...) takes a str, not b'a'"


def test_a_tag_is_a_named_tuple() -> None:
    tag = EntityTag("a")._replace(weak=True)
    assert (type(tag), str(tag)) == (EntityTag, 'W/"a"')
    assert tag == EntityTag(opaque="a", weak=True)
    opaque, weak = tag
    assert (opaque, weak) == ("a", True)


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
        # Only spaces and tabs are blanks.
        ('"a"\xa0, "b"\t', ['"b"']),
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
    ("etag", "expected"),
    [
        ('"a"', 'W/"a"'),
        ('""', 'W/""'),
        ('W/"a"', 'W/"a"'),
        *((text, text) for text in ("a", "", '"', '"a', '"a b"', '"a"b', '"a", "b"', 'w/"a"')),
    ],
)
def test_weakened(etag: str, expected: str) -> None:
    assert weaken(etag) == expected


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
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253402300799),
        # It belongs to the year 10000.
        ("Fri, 31 Dec 9999 23:59:60 GMT", None),
        # The longest name of a day.
        ("Wednesday, 09-Nov-94 08:49:37 GMT", AT + 3 * 86400),
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


@pytest.mark.parametrize(
    ("now", "date", "year"),
    [
        # Exactly 50 years ahead, one second more, one second less.
        ("2026-11-22 12:00:00", "Sunday, 22-Nov-76 12:00:00 GMT", 2076),
        ("2026-11-22 12:00:00", "Sunday, 22-Nov-76 12:00:01 GMT", 1976),
        ("2026-11-22 12:00:00", "Sunday, 22-Nov-76 11:59:59 GMT", 2076),
        ("2026-11-22 12:00:00", "Thursday, 31-Dec-76 00:00:00 GMT", 1976),
        ("2026-11-22 12:00:00", "Wednesday, 01-Jan-76 00:00:00 GMT", 2076),
        ("2026-11-22 12:00:00", "Wednesday, 01-Jan-75 23:59:59 GMT", 2075),
        ("2026-11-22 12:00:00", "Friday, 01-Jan-77 00:00:00 GMT", 1977),
        ("2026-11-22 12:00:00", "Monday, 23-Nov-26 00:00:00 GMT", 2026),
        ("2026-11-22 12:00:00", "Sunday, 06-Nov-94 08:49:37 GMT", 1994),
        # The year 2074 has no 29 February.
        ("2024-02-29 12:00:00", "Thursday, 01-Mar-74 00:00:00 GMT", 1974),
        ("2024-02-29 12:00:00", "Wednesday, 28-Feb-74 00:00:00 GMT", 2074),
        # Beyond the turn of the century.
        ("2060-01-01 00:00:00", "Friday, 01-Jan-10 00:00:00 GMT", 2110),
        ("2060-01-01 00:00:00", "Friday, 01-Jan-10 00:00:01 GMT", 2010),
        ("1999-12-31 23:59:59", "Saturday, 01-Jan-00 00:00:00 GMT", 2000),
    ],
)
def test_a_year_of_two_digits_is_at_most_fifty_years_ahead(now: str, date: str, year: int) -> None:
    at = datetime.fromisoformat(now).replace(tzinfo=UTC).timestamp()
    found = parse_http_date(date, now=at)
    assert found is not None
    assert datetime.fromtimestamp(found, UTC).year == year


def test_a_year_of_two_digits_depends_on_the_clock_each_time() -> None:
    date = "Monday, 01-Mar-99 12:00:00 GMT"
    # 1970 and 2070: the same text means 1999 and 2099.
    assert parse_http_date(date, now=0) == 920289600
    assert parse_http_date(date, now=3155760000) == 4076049600


@given(st.integers(min_value=-62_135_596_800, max_value=253_402_300_799))
def test_dates_are_parsed_again(timestamp: int) -> None:
    text = format_http_date(timestamp)
    assert parse_http_date(text) == timestamp
    if timestamp >= 0:
        assert text == formatdate(timestamp, usegmt=True)


@given(st.floats(min_value=0, max_value=4e9))
def test_fractions_of_a_second_are_rounded_down(timestamp: float) -> None:
    assert parsedate_to_datetime(format_http_date(timestamp)).timestamp() == timestamp // 1


@pytest.mark.parametrize(
    ("timestamp", "date"),
    [
        (-0.5, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (0.999, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (253_402_300_799.5, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
    ],
)
def test_dates_at_the_edges(timestamp: float, date: str) -> None:
    assert format_http_date(timestamp) == date


dates = st.tuples(
    st.sampled_from(["Sun, ", "Sunday, ", "Sun ", ""]),
    st.sampled_from(["06 Nov 1994 ", "06-Nov-94 ", "Nov  6 ", "31 Feb 2000 ", "00-Jan-00 "]),
    st.sampled_from(["08:49:37", "24:00:00", "23:59:60", "23:59:61", "8:49:37"]),
    st.sampled_from([" GMT", " 1994", ""]),
).map("".join)


@given(dates | st.text(max_size=40))
def test_what_is_parsed_as_a_date_is_one(value: str) -> None:
    found = parse_http_date(value, now=AT)
    if found is None:
        assert value not in (DATE, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994")
    else:
        # The standard library reads all three formats, but no leap second.
        expected = parsedate_to_datetime(value.replace(":60", ":59")).replace(tzinfo=UTC)
        assert found == expected.timestamp() + (":60" in value)


@pytest.mark.parametrize("timestamp", [nan, inf, 253_402_300_800, -62_135_596_800.5, -1e20])
def test_dates_beyond_the_years_of_four_digits(timestamp: float) -> None:
    with pytest.raises(ValueError, match="HTTP date") as raised:
        format_http_date(timestamp)
    assert str(raised.value).startswith(f"{timestamp!r} can't be formatted as an HTTP date")


@pytest.mark.parametrize(
    ("headers", "read", "write"),
    [
        ({}, None, None),
        ({"If-Match": '"a"'}, None, None),
        ({"If-Match": '"x,y", "a"'}, None, None),
        ({"If-Match": "*\xa0"}, 412, 412),
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
        # Two lines, or what proxies make of one: a write must not overwrite.
        *(({"If-None-Match": value}, 304, 412) for value in ("*", "*, *", "*,", ", *", '*, "b"')),
        ({"If-None-Match": '"b", *'}, 304, 412),
        ({"If-None-Match": '"b", "a,b"'}, None, None),
        # What can't be read may name the representation, so no write may pass.
        *(
            ({"If-None-Match": value}, None, 412)
            for value in ("a", "", ",", '"', '"b', 'w/"a"', '"b", a', "**", "*x", '"a"\xa0')
        ),
        ({"If-None-Match": '"*"'}, None, None),
        ({"If-None-Match": '"b", , "c",'}, None, None),
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
        ({"If-None-Match": "*, *"}, None),
        ({"If-None-Match": "a"}, None),
        ({"If-Match": '"a"', "If-None-Match": '"a"'}, 412),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "GET"])
def test_preconditions_of_what_does_not_exist(
    method: str, headers: dict[str, str], status: int | None
) -> None:
    get = Headers(headers).get
    assert evaluate(method, get, exists=False) == status
    # What its validators were before it was deleted doesn't matter.
    assert evaluate(method, get, etag='"a"', last_modified=AT, exists=False) == status


def test_representations_without_validators() -> None:
    assert evaluate("GET", Headers({"If-Match": "*"}).get) is None
    assert evaluate("GET", Headers({"If-Match": '"a"'}).get) == 412
    assert evaluate("GET", Headers({"If-None-Match": '"a"'}).get) is None
    assert evaluate("PUT", Headers({"If-None-Match": '"a"'}).get) is None
    assert evaluate("PUT", Headers({"If-None-Match": "a"}).get) == 412
    assert evaluate("GET", Headers({"If-Modified-Since": AFTER}).get, etag='"a"') is None


def test_a_weak_tag_is_never_matched_strongly() -> None:
    assert evaluate("PUT", Headers({"If-Match": 'W/"a"'}).get, etag='W/"a"') == 412
    assert evaluate("GET", Headers({"If-None-Match": '"a"'}).get, etag='W/"a"') == 304


def test_lists_on_several_lines_are_one() -> None:
    headers = Headers([("If-None-Match", '"b"'), ("If-None-Match", '"a"')])
    assert evaluate("GET", headers.get, etag='"a"') == 304


def test_blanks_around_a_value_are_ignored() -> None:
    # Headers strip them, other ways to get a value may not.
    for value in (" *\t", ' "a"\t'):
        assert evaluate("PUT", {"If-Match": value}.get, etag='"a"') is None
        assert evaluate("PUT", {"If-None-Match": value}.get, etag='"a"') == 412


def test_a_create_only_write_never_overwrites() -> None:
    headers = Headers([("If-None-Match", "*"), ("If-None-Match", "*")])
    assert evaluate("PUT", headers.get, etag='"a"') == 412
    assert evaluate("PUT", headers.get) == 412
    assert evaluate("PUT", headers.get, exists=False) is None


def test_the_current_tag_can_be_an_entity_tag() -> None:
    for weak in (False, True):
        tag = EntityTag("a", weak)
        assert evaluate("GET", Headers({"If-None-Match": '"a"'}).get, etag=tag) == 304
        status = evaluate("PUT", Headers({"If-Match": '"a"'}).get, etag=tag)
        assert status == (412 if weak else None)
        get = Headers({"If-Range": '"a"'}).get
        assert range_applies(get, etag=tag) is not weak


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        *(
            (
                {"etag": etag},
                ValueError,
                f"(etag={etag!r}) can't be used: "
                "expected an entity tag with its quotes, such as '\"v2\"'",
            )
            for etag in ("v2", "", "*", '"a b"', ' "v2"', '"a", "b"')
        ),
        ({"etag": b"v2"}, TypeError, "(etag=...) takes a str or an EntityTag, not b'v2'"),
        (
            {"last_modified": datetime(2026, 1, 1, tzinfo=UTC)},
            TypeError,
            "(last_modified=...) takes seconds since 1970, such as modified_at.timestamp(), "
            "not datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)",
        ),
        (
            {"last_modified": nan},
            ValueError,
            "(last_modified=nan) can't be used: expected a finite number",
        ),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_wrong_validator_is_an_error_whatever_the_client_sends(
    options: Any, error: type[Exception], text: str, exists: bool
) -> None:
    for method in ("GET", "PUT", "OPTIONS"):
        with pytest.raises(error) as raised:
            evaluate(method, Headers().get, exists=exists, **options)
        assert str(raised.value) == f"evaluate{text}"
    with pytest.raises(error) as raised:
        range_applies(Headers().get, **options)
    assert str(raised.value) == f"range_applies{text}"


@given(tags, st.lists(tags))
def test_a_listed_tag_is_found(tag: EntityTag, others: list[EntityTag]) -> None:
    headers = Headers({"If-None-Match": ", ".join(map(str, [*others, tag]))})
    assert evaluate("GET", headers.get, etag=str(tag)) == 304


@pytest.mark.parametrize(
    ("if_range", "etag", "applies"),
    [
        (None, None, True),
        ('"a"', '"a"', True),
        ('"b"', '"a"', False),
        ('"a"', None, False),
        ('W/"a"', 'W/"a"', False),
        ('W/"a"', '"a"', False),
        ('"a"', 'W/"a"', False),
        # Not a list.
        ('"a", "b"', '"a"', False),
        ("*", '"a"', False),
        ("a", '"a"', False),
        ("", '"a"', False),
    ],
)
def test_if_range(if_range: str | None, etag: str | None, applies: bool) -> None:
    get = Headers({} if if_range is None else {"If-Range": if_range}).get
    for date_is_strong in (False, True):
        found = range_applies(get, etag=etag, last_modified=AT, date_is_strong=date_is_strong)
        assert found is applies


@pytest.mark.parametrize(
    ("if_range", "last_modified", "applies"),
    [
        (DATE, AT, True),
        (DATE, AT + 0.9, True),
        ("Sunday, 06-Nov-94 08:49:37 GMT", AT, True),
        (DATE, None, False),
        # Exactly this date, not a later one.
        (AFTER, AT, False),
        (BEFORE, AT, False),
        ("yesterday", AT, False),
        ("yesterday", None, False),
    ],
)
def test_if_range_with_a_date(if_range: str, last_modified: float | None, applies: bool) -> None:
    get = Headers({"If-Range": if_range}).get
    assert not range_applies(get, etag='"a"', last_modified=last_modified)
    found = range_applies(get, etag='"a"', last_modified=last_modified, date_is_strong=True)
    assert found is applies


def test_a_date_does_not_mix_two_files_of_the_same_second() -> None:
    # Written at .1, read by the client at .2, written again at .9.
    get = Headers({"If-Range": DATE}).get
    assert not range_applies(get, last_modified=AT + 0.9, now=AT + 10)


def test_the_year_of_a_date_in_if_range_depends_on_the_clock() -> None:
    get = Headers({"If-Range": "Sunday, 06-Nov-94 08:49:37 GMT"}).get
    assert range_applies(get, last_modified=AT, date_is_strong=True, now=AT)
    assert not range_applies(get, last_modified=AT, date_is_strong=True, now=AT + 3155760000)
