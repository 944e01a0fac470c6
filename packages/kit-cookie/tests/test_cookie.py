# SPDX-License-Identifier: MIT
"""Cookies: reading, setting, deleting, signing, and what is refused."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from werkzeug.http import dump_cookie

from kit import Context, Kit, Response
from kit.cookie import (
    CookieOptions,
    delete_cookie,
    format_cookie,
    generate_cookie,
    get_cookie,
    get_cookie_values,
    get_signed_cookie,
    parse_cookies,
    set_cookie,
    set_signed_cookie,
)
from kit.http.paths import decode_component

# A 4-byte character is 12 octets when encoded, so that none of these is too large.
VALUES = st.text(max_size=300)
SECRETS = st.text(min_size=1, max_size=20) | st.binary(min_size=1, max_size=20)
UNENCODED = "-_.!~*'()"
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
ENDS = datetime(2000, 12, 24, 10, 30, 59, 900_000, tzinfo=UTC)


async def run(function: Any, *args: Any, cookie: Any = (), **options: Any) -> Any:
    """Calls a function of kit.cookie in a handler: what it gives, and the Set-Cookie lines."""
    given: list[Any] = []

    def handler(c: Context) -> Response:
        given.append(function(c, *args, **options))
        return c.body(None)

    lines = [cookie] if isinstance(cookie, str) else cookie
    app = Kit().get("/", handler)
    response = await app.request("/", {"headers": [("cookie", line) for line in lines]})
    return given[0], response.headers.get_set_cookie()


async def get(function: Any, *args: Any, cookie: Any = ()) -> Any:
    return (await run(function, *args, cookie=cookie))[0]


async def line_of(function: Any, *args: Any, **options: Any) -> str:
    _, (line,) = await run(function, *args, **options)
    return str(line)


async def error_of(function: Any, *args: Any, **options: Any) -> str:
    """Calls what has to raise; gives the error, having checked that nothing was set."""

    def handler(c: Context) -> Response:
        try:
            function(c, *args, **options)
        except (TypeError, ValueError) as error:
            return c.text(f"{type(error).__name__}: {error}")
        return c.text("nothing was raised")

    response = await Kit().get("/", handler).request("/", {"headers": {"cookie": "a=1"}})
    assert response.headers.get_set_cookie() == []
    return await response.text()


# --- reading -----------------------------------------------------------------------------------


# Expected values are what Hono 4.13 gives, where it reads a cookie at all. Of UTF-8, quotes and
# backslashes in values, and of other names, it reads none.
@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param("", {}, id="empty"),
        pytest.param("a=1; b=2", {"a": "1", "b": "2"}, id="two"),
        pytest.param("a=1;b=2;", {"a": "1", "b": "2"}, id="no blanks, empty pair"),
        pytest.param("\ta = 1 ; b\t=\t2", {"a": "1", "b": "2"}, id="blanks around"),
        pytest.param("a=1; a=2; A=3", {"a": "1", "A": "3"}, id="the first of a name"),
        pytest.param("a=\x01; a=2", {"a": "2"}, id="the first valid one of a name"),
        pytest.param("a=x\x7f; b\x1f=1; c=\x08", {}, id="control characters"),
        pytest.param("a=", {"a": ""}, id="empty value"),
        pytest.param("a=b=c==", {"a": "b=c=="}, id="equals signs in a value"),
        pytest.param("a; =1; b=2", {"b": "2"}, id="no equals sign, no name"),
        pytest.param('a="x y"; b=""; c="', {"a": "x y", "b": "", "c": '"'}, id="quotes"),
        pytest.param(
            'a="1; b=1"; c=1"2', {"a": '"1', "b": '1"', "c": '1"2'}, id="a quote elsewhere"
        ),
        pytest.param('a={"n":1,"t":[]}', {"a": '{"n":1,"t":[]}'}, id="JSON"),
        pytest.param("a=caf\xc3\xa9; \xc3\xa9=\xe3\x81\x82", {"a": "café", "é": "あ"}, id="UTF-8"),
        pytest.param("a=\xc3\xa0; b=\xc2\x85", {"a": "à", "b": "\x85"}, id="octets of blanks"),
        pytest.param("a=caf\xe9; \xe9=1", {"a": "café", "é": "1"}, id="not UTF-8"),
        pytest.param("a=%41\xc3\xa9%C3%A9", {"a": "Aéé"}, id="UTF-8 and escapes of it"),
        pytest.param(r'a="x\"\\\054\303\251-\351"', {"a": 'x"\\,é-é'}, id="escapes in quotes"),
        pytest.param(r'a="\x\400\1"; b=\"', {"a": r"\x\400\1", "b": r"\""}, id="no escapes"),
        pytest.param("a=x,y z", {"a": "x,y z"}, id="comma and blank in a value"),
        pytest.param("a=x\\y; b=x\ty", {"a": "x\\y", "b": "x\ty"}, id="backslash, tab in a value"),
        pytest.param("a=x+y%20z", {"a": "x+y z"}, id="plus stays"),
        pytest.param("a=%E3%81%82%zz%41", {"a": "あ%zzA"}, id="what is no escape stays"),
        pytest.param("a=%41%ff", {"a": "%41%ff"}, id="a run that is no UTF-8 stays"),
        pytest.param("a=%3B%22%5C%00", {"a": ';"\\\0'}, id="decoded after it was checked"),
        pytest.param("%61=1", {"%61": "1"}, id="a name is not decoded"),
        pytest.param("a[0]=1; (b)=2; __proto__=3", {"a[0]": "1", "(b)": "2", "__proto__": "3"}),
        pytest.param(
            'a b=1; a\\b=2; "c"=3', {"a b": "1", "a\\b": "2", '"c"': "3"}, id="other names"
        ),
    ],
)
async def test_reads(header: str, expected: dict[str, str]) -> None:
    assert await get(get_cookie, cookie=header) == expected
    for name in ("a", "A", "b", "c", "none", ""):
        assert await get(get_cookie, name, cookie=header) == expected.get(name)


async def test_several_header_lines_are_one() -> None:
    # As a server over HTTP/2 may hand them on.
    assert await get(get_cookie, cookie=("a=1", "b=2; a=3")) == {"a": "1", "b": "2"}


async def test_reads_by_prefix() -> None:
    header = "__Secure-a=2; __Host-a=3; __host-b=4; a=1"
    assert await get(get_cookie, "a", cookie=header) == "1"
    assert await get(get_cookie, "a", "secure", cookie=header) == "2"
    assert await get(get_cookie, "a", "host", cookie=header) == "3"
    assert await get(get_cookie, "b", "host", cookie=header) is None
    full = {"__Secure-a": "2", "__Host-a": "3", "__host-b": "4", "a": "1"}
    assert await get(get_cookie, cookie=header) == full


@given(st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0")))
async def test_whatever_comes_is_read_or_left_out(header: str) -> None:
    for name, value in (await get(get_cookie, cookie=header)).items():
        assert await get(get_cookie, name, cookie=header) == value
    assert set((await get(get_signed_cookie, "key", cookie=header)).values()) <= {False}


def decoded(octets: bytes) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return octets.decode("latin-1")


def slowly_read(header: str) -> dict[str, str]:
    """Parses a Cookie header pair by pair."""
    cookies: dict[str, str] = {}
    for pair in header.encode("latin-1").split(b";"):
        key, equals, octets = pair.partition(b"=")
        name, value = decoded(key.strip(b" \t")), decoded(octets.strip(b" \t"))
        if len(value) > 1 and value[0] == value[-1] == '"':
            value = re.sub(r'\\(["\\])', r"\1", value[1:-1])
        if equals and name and not re.search(rb"[\0-\x08\x0a-\x1f\x7f]", pair):
            cookies.setdefault(name, decode_component(value))
    return cookies


PIECES = st.sampled_from(
    [*"ab;;;===  ", "\t", '"', "\\", ",", "%41", "%", "é", "Ã", "©", "\x01", "ab", "a=1", "; b=2"]
)


@given(st.lists(PIECES, max_size=25).map("".join), st.lists(PIECES, max_size=3).map("".join))
async def test_one_name_is_found_as_if_all_were_parsed(header: str, name: str) -> None:
    cookies = slowly_read(header)
    assert await get(get_cookie, cookie=header) == cookies
    for each in ("a", "b", "ab", name, *cookies):
        assert await get(get_cookie, each, cookie=header) == cookies.get(each)
        values = [value for key, value in parse_cookies(header) if key == each]
        assert await get(get_cookie_values, each, cookie=header) == values
        assert parse_cookies(header, each) == [(each, value) for value in values]
        assert values[:1] == ([cookies[each]] if each in cookies else [])
    assert dict(reversed(parse_cookies(header))) == cookies


# What a script may set (RFC 6265bis section 5.6): no control characters, and no blanks around it.
SET_BY_SCRIPTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc",), exclude_characters=";%"), max_size=40
).filter(lambda text: text == text.strip(" ") and text[:1] != '"')


@given(SET_BY_SCRIPTS, SET_BY_SCRIPTS.filter(lambda text: text and "=" not in text))
async def test_what_a_browser_stores_is_read(value: str, name: str) -> None:
    line = f"x=1; {name}={value}; y=2".encode().decode("latin-1")
    found = await get(get_cookie, cookie=line)
    assert found == ({"x": "1", "y": "2"} | {name: value} if name not in "xy" else found)
    assert await get(get_cookie, name, cookie=line) == found[name]


@given(st.text(st.characters(codec="ascii") | st.sampled_from("éß€あ😀"), max_size=40))
async def test_what_http_cookies_and_werkzeug_write_is_read(value: str) -> None:
    # Werkzeug writes control characters as they are, so no browser keeps such a cookie.
    kept = re.sub(r"[\0-\x1f\x7f]", "", value)
    assume(not any(re.search("%[0-9A-Fa-f]{2}", each) for each in (value, kept)))
    written = SimpleCookie({"a": value})["a"].coded_value
    header = f"a={written}".encode().decode("latin-1")
    assert await get(get_cookie, "a", cookie=header) == value
    line = dump_cookie("a", kept).partition(";")[0]
    assert await get(get_cookie, "a", cookie=line) == kept


@given(VALUES)
async def test_what_httpx_sends_of_what_was_set_is_read(value: str) -> None:
    request = httpx.Request("GET", "http://x", cookies={"a": generate_cookie("a", value)[2:-8]})
    header = request.headers.raw
    line = next(line for name, line in header if name.lower() == b"cookie").decode("latin-1")
    assert await get(get_cookie, "a", cookie=line) == value


# --- setting -----------------------------------------------------------------------------------


# Expected values are what Hono 4.13 gives, where it reads a cookie at all. Of UTF-8, quotes and
# backslashes in values, and of other names, it reads none.
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, "Path=/", id="default"),
        pytest.param({"path": "/a b"}, "Path=/a b", id="path"),
        pytest.param({"path": None}, "", id="no path"),
        pytest.param({"path": ""}, "", id="empty path"),
        pytest.param({"domain": "ex_a.com"}, "Domain=ex_a.com; Path=/", id="domain"),
        pytest.param({"domain": ".a.com"}, "Domain=.a.com; Path=/", id="domain with a dot"),
        pytest.param({"max_age": 0}, "Max-Age=0; Path=/", id="max_age 0"),
        pytest.param({"max_age": 1.9}, "Max-Age=1; Path=/", id="max_age float"),
        pytest.param({"max_age": -1}, "Path=/", id="max_age negative"),
        pytest.param({"max_age": float("nan")}, "Path=/", id="max_age not a number"),
        pytest.param({"max_age": 34560000}, "Max-Age=34560000; Path=/", id="max_age longest"),
        pytest.param({"expires": ENDS}, "Path=/; Expires=Sun, 24 Dec 2000 10:30:59 GMT"),
        pytest.param(
            {"expires": datetime(2001, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))},
            "Path=/; Expires=Sun, 31 Dec 2000 23:30:00 GMT",
            id="expires in another time zone",
        ),
        pytest.param(
            {"expires": datetime(1601, 1, 1, tzinfo=UTC)},
            "Path=/; Expires=Mon, 01 Jan 1601 00:00:00 GMT",
            id="expires earliest",
        ),
        pytest.param({"secure": True}, "Path=/; Secure", id="secure"),
        pytest.param({"http_only": True}, "Path=/; HttpOnly", id="http_only"),
        pytest.param({"secure": False, "http_only": False, "partitioned": False}, "Path=/"),
        pytest.param({"same_site": "Strict"}, "Path=/; SameSite=Strict", id="Strict"),
        pytest.param({"same_site": "lax"}, "Path=/; SameSite=Lax", id="lax"),
        pytest.param(
            {"same_site": "none", "secure": True}, "Path=/; Secure; SameSite=None", id="none"
        ),
        pytest.param({"same_site": None, "priority": None, "prefix": None}, "Path=/", id="None"),
        pytest.param({"priority": "low"}, "Path=/; Priority=Low", id="priority"),
        pytest.param(
            {"partitioned": True, "secure": True}, "Path=/; Secure; Partitioned", id="partitioned"
        ),
        pytest.param(
            {
                "path": "/p",
                "domain": "example.com",
                "expires": ENDS,
                "max_age": 1000,
                "secure": True,
                "http_only": True,
                "same_site": "Strict",
                "partitioned": True,
                "priority": "High",
            },
            "Max-Age=1000; Domain=example.com; Path=/p; Expires=Sun, 24 Dec 2000 10:30:59 GMT; "
            "HttpOnly; Secure; SameSite=Strict; Priority=High; Partitioned",
            id="all",
        ),
    ],
)
async def test_sets(options: CookieOptions, expected: str) -> None:
    line = "; ".join(filter(None, ("a=b", expected)))
    assert await line_of(set_cookie, "a", "b", **options) == line
    assert generate_cookie("a", "b", **options) == line


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"prefix": "secure"}, "__Secure-a=b; Path=/; Secure", id="secure"),
        pytest.param(
            {"prefix": "secure", "secure": False, "path": "/p", "domain": "x.com"},
            "__Secure-a=b; Domain=x.com; Path=/p; Secure",
            id="secure wins over secure=False",
        ),
        pytest.param({"prefix": "host"}, "__Host-a=b; Path=/; Secure", id="host"),
        pytest.param(
            {"prefix": "host", "secure": False, "path": "/p", "domain": "x.com"},
            "__Host-a=b; Path=/; Secure",
            id="host wins over all others",
        ),
        pytest.param(
            {"prefix": "host", "same_site": "None", "partitioned": True},
            "__Host-a=b; Path=/; Secure; SameSite=None; Partitioned",
            id="host is secure enough",
        ),
    ],
)
async def test_sets_with_a_prefix(options: CookieOptions, expected: str) -> None:
    assert await line_of(set_cookie, "a", "b", **options) == expected


async def test_a_prefix_in_the_name() -> None:
    assert (
        await line_of(set_cookie, "__Secure-a", "b", secure=True) == "__Secure-a=b; Path=/; Secure"
    )
    assert await line_of(set_cookie, "__Host-a", "b", secure=True) == "__Host-a=b; Path=/; Secure"
    assert await line_of(set_cookie, "__Hosts", "b") == "__Hosts=b; Path=/"


async def test_what_a_value_is_encoded_to() -> None:
    line = await line_of(set_cookie, "a", "Az09-_.!~*'() ;,=\"\\%\r\n\0é😀", path=None)
    assert line == "a=Az09-_.!~*'()%20%3B%2C%3D%22%5C%25%0D%0A%00%C3%A9%F0%9F%98%80"


@given(VALUES)
async def test_round_trip(value: str) -> None:
    line = await line_of(set_cookie, "a", value, path=None)
    assert line.isascii()
    assert await get(get_cookie, "a", cookie=line) == value


@given(st.from_regex(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", fullmatch=True))
async def test_every_token_is_a_name(name: str) -> None:
    assume(not name.lower().startswith(("__secure-", "__host-")))
    line = await line_of(set_cookie, name, "x", path=None)
    assert await get(get_cookie, cookie=line) == {name: "x"}


@given(VALUES | st.text("aZ09-_.!~*'() +/=%", max_size=50))
def test_values_are_encoded_as_uri_components(value: str) -> None:
    pair = f"a={quote(value, safe=UNENCODED)}"
    assert generate_cookie("a", value, path=None) == format_cookie("a", value) == pair


def slowly_written(name: str, value: str, options: dict[str, Any]) -> str:
    """Returns a Set-Cookie value for valid options, one attribute after the other."""
    given = {"path": "/"} | options
    name = {"secure": "__Secure-", "host": "__Host-"}.get(options.get("prefix", ""), "") + name
    if options.get("prefix") is not None:
        given["secure"] = True
    if options.get("prefix") == "host":
        given |= {"path": "/", "domain": None}
    line = f"{name}={value}"
    age, expires = given.get("max_age"), given.get("expires")
    if age is not None and age >= 0:
        line += f"; Max-Age={int(age)}"
    for attribute in ("Domain", "Path"):
        if given.get(attribute.lower()):
            line += f"; {attribute}={given[attribute.lower()]}"
    if expires is not None:
        line += f"; Expires={format_datetime(expires.astimezone(UTC), usegmt=True)}"
    for option, attribute in (("http_only", "HttpOnly"), ("secure", "Secure")):
        line += f"; {attribute}" if given.get(option) else ""
    for option, attribute in (("same_site", "SameSite"), ("priority", "Priority")):
        if given.get(option) is not None:
            line += f"; {attribute}={given[option].capitalize()}"
    return line + ("; Partitioned" if given.get("partitioned") else "")


DATES = st.datetimes(datetime(1900, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC))
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "path": st.sampled_from(["/", "/p", "", None]),
        "domain": st.sampled_from(["x.com", None]),
        "expires": st.none() | DATES,
        "max_age": st.sampled_from([None, True, 1, 1.0, 1.9, 0, -0.0, -1, 60]),
        "secure": st.booleans() | st.none(),
        "http_only": st.booleans(),
        "same_site": st.sampled_from(["Strict", "lax", "None", None]),
        "partitioned": st.booleans(),
        "priority": st.sampled_from(["low", "High", None]),
        "prefix": st.sampled_from(["secure", "host", None]),
    },
).filter(
    lambda options: (
        options.get("secure")
        or options.get("prefix")
        or not (options.get("same_site") == "None" or options.get("partitioned"))
    )
)


@given(st.lists(st.tuples(st.sampled_from("ab"), OPTIONS), min_size=1, max_size=8))
def test_a_cookie_has_its_own_options_whatever_was_set_before(cookies: list[Any]) -> None:
    for name, options in cookies:
        for value in ("1", "2"):
            assert generate_cookie(name, value, **options) == slowly_written(name, value, options)


def test_an_equal_option_of_another_type_is_checked() -> None:
    assert generate_cookie("a", "b", max_age=1) == "a=b; Max-Age=1; Path=/"
    bad: Any = Decimal(1)
    for _ in range(2):
        with pytest.raises(ValueError, match="Invalid max_age Decimal"):
            generate_cookie("a", "b", max_age=bad)


@pytest.mark.parametrize("name", ["secure", "http_only", "partitioned"])
@pytest.mark.parametrize("value", ["no", 0, 1, []])
def test_flags_are_bools(name: str, value: Any) -> None:
    options: Any = {name: value}
    for _ in range(2):
        with pytest.raises(ValueError, match="expected True or False") as caught:
            generate_cookie("a", "b", **options)
        assert str(caught.value) == (
            f"Invalid {name} {value!r} of cookie 'a': expected True or False"
        )


def test_more_cookies_than_are_remembered() -> None:
    for _ in range(2):
        for i in range(600):
            assert generate_cookie(f"a{i}", "b", path=f"/{i}") == f"a{i}=b; Path=/{i}"


async def test_cookies_are_appended() -> None:
    def act(c: Context) -> None:
        set_cookie(c, "a", "1")
        set_cookie(c, "a", "2")
        set_signed_cookie(c, "b", "3", "key")

    _, lines = await run(act)
    assert lines[:2] == ["a=1; Path=/", "a=2; Path=/"]
    assert lines[2].startswith("b=3.")


async def test_set_by_middleware_after_the_handler() -> None:
    kept = Response("x", headers={"set-cookie": "first=1"})
    app = Kit()

    @app.use()
    async def middleware(c: Context, next: Any) -> None:
        await next()
        set_cookie(c, "second", "2")

    app.get("/", lambda c: kept)
    for _ in range(2):
        response = await app.request("/")
        assert response.headers.get_set_cookie() == ["first=1", "second=2; Path=/"]


async def test_the_longest_life() -> None:
    end = datetime.now(UTC) + timedelta(days=400)
    assert await line_of(set_cookie, "a", "b", expires=end)
    error = await error_of(set_cookie, "a", "b", expires=end + timedelta(minutes=1))
    assert error.endswith(f": {TIME}")


async def test_the_largest() -> None:
    assert await line_of(set_cookie, "name", "x" * 4092, path=None) == "name=" + "x" * 4092
    assert await line_of(set_cookie, "a", "é" * 682, path=None) == "a=" + "%C3%A9" * 682
    path = "/" + "p" * 1023
    assert await line_of(set_cookie, "a", "b", path=path) == f"a=b; Path={path}"


# --- deleting ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "value", "line"),
    [
        pytest.param({}, "1 2", "a=; Max-Age=0; Path=/", id="plain"),
        pytest.param(
            {"path": "/p", "domain": "x.com", "secure": True},
            "1 2",
            "a=; Max-Age=0; Domain=x.com; Path=/p; Secure",
            id="options",
        ),
        pytest.param({"max_age": 1000}, "1 2", "a=; Max-Age=0; Path=/", id="max_age"),
        pytest.param(
            {"prefix": "secure"}, "3", "__Secure-a=; Max-Age=0; Path=/; Secure", id="prefix"
        ),
        pytest.param(
            {"prefix": "host"}, None, "__Host-a=; Max-Age=0; Path=/; Secure", id="not there"
        ),
    ],
)
async def test_deletes(options: CookieOptions, value: str | None, line: str) -> None:
    answer = await run(delete_cookie, "a", **options, cookie="a=1%202; __Secure-a=3")
    assert answer == (value, [line])


async def test_options_can_be_shared() -> None:
    options: CookieOptions = {"path": "/p", "http_only": True, "max_age": 9}

    def act(c: Context) -> None:
        set_cookie(c, "a", "1", **options)
        delete_cookie(c, "a", **options)

    _, lines = await run(act)
    assert lines == ["a=1; Max-Age=9; Path=/p; HttpOnly", "a=; Max-Age=0; Path=/p; HttpOnly"]
    assert options == {"path": "/p", "http_only": True, "max_age": 9}


# --- signing -----------------------------------------------------------------------------------


# Made by Hono 4.13.
@pytest.mark.parametrize(
    ("value", "secret", "cookie"),
    [
        (
            "macha",
            "secret chocolate chips",
            "a=macha.diubJPY8O7hI1pLa42QSfkPiyDWQ0I4DnlACH%2FN2HaA%3D",
        ),
        ("", "k", "a=.i7mQxAp9YcuXWXqUISUCW%2BUKyL63RDbjc1uYiTp%2FZiA%3D"),
        (
            "é😀 ; a.b%41",
            "ключ",
            "a=%C3%A9%F0%9F%98%80%20%3B%20a.b%2541."
            "TN%2F%2BkeW%2BMhtXMUbJNNkJCrjfkFL49e7Eb17UjvsN2C8%3D",
        ),
    ],
)
async def test_signed_as_hono_does_it(value: str, secret: str, cookie: str) -> None:
    for key in (secret, secret.encode()):
        assert await line_of(set_signed_cookie, "a", value, key, path=None) == cookie
        assert await get(get_signed_cookie, key, "a", cookie=cookie) == value


SECRET = "secret ingredient"
SIGNED = "choco.UdFR2rBpS1GsHfGlUiYyMIdqxqwuEgplyQIgTJgpGWY="


@pytest.mark.parametrize(
    ("cookie", "expected"),
    [
        pytest.param(SIGNED, "choco", id="right"),
        pytest.param(f'"{SIGNED}"', "choco", id="quoted"),
        pytest.param(SIGNED.replace("=", "%3D"), "choco", id="encoded"),
        pytest.param(SIGNED.replace("choco", "chocO"), False, id="other value"),
        pytest.param(SIGNED.replace("choco", ""), False, id="no value"),
        pytest.param(SIGNED.replace("Y=", "Z="), False, id="same octets, spelt differently"),
        pytest.param(SIGNED.replace("U", "V"), False, id="other signature"),
        pytest.param("choco." + "A" * 43 + "=", False, id="made up"),
        pytest.param("choco." + "%C3%A9" * 43 + "=", False, id="not ASCII"),
        pytest.param("choco", None, id="not signed"),
        pytest.param("", None, id="empty"),
        pytest.param("rating3.5", None, id="a dot"),
        pytest.param(SIGNED[:-1], None, id="cut"),
        pytest.param(SIGNED + "=", None, id="longer"),
        pytest.param("choco." + "A" * 44, None, id="no filler"),
        pytest.param(SIGNED.partition(".")[2], None, id="signature alone"),
    ],
)
async def test_verifies(cookie: str, expected: str | bool | None) -> None:
    assert await get(get_signed_cookie, SECRET, "a", cookie=f"a={cookie}") == expected
    signed = {} if expected is None else {"a": expected}
    assert await get(get_signed_cookie, SECRET, cookie=f"a={cookie}; b=1") == signed


@pytest.mark.parametrize(("cookie", "expected"), [((), {}), ("b=1", {"b": "1"})])
async def test_not_there(cookie: Any, expected: dict[str, str]) -> None:
    assert await get(get_cookie, cookie=cookie) == expected
    assert await get(get_cookie, "a", cookie=cookie) is None
    assert await get(get_signed_cookie, "key", "a", cookie=cookie) is None
    assert await get(get_signed_cookie, "key", cookie=cookie) == {}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f"a={SIGNED}; a=1", "choco"),
        (f"a=1; a={SIGNED}", None),
        (f"a=x{SIGNED}; a={SIGNED}", False),
    ],
)
async def test_the_first_of_a_name_counts_signed_or_not(
    header: str, expected: str | bool | None
) -> None:
    assert await get(get_signed_cookie, SECRET, "a", cookie=header) == expected


async def test_the_name_is_not_signed() -> None:
    # As in Hono; the docstring says so.
    assert await get(get_signed_cookie, SECRET, "b", cookie=f"b={SIGNED}") == "choco"


async def test_signed_with_a_prefix() -> None:
    line = await line_of(set_signed_cookie, "a", "b", "key", prefix="host")
    assert line.startswith("__Host-a=b.")
    assert line.endswith("%3D; Path=/; Secure")
    cookie = line.partition(";")[0]
    assert await get(get_signed_cookie, "key", "a", "host", cookie=cookie) == "b"
    assert await get(get_signed_cookie, "key", "a", "secure", cookie=cookie) is None
    assert await get(get_signed_cookie, "key", "a", cookie=cookie) is None
    assert await get(get_signed_cookie, "key", cookie=cookie) == {"__Host-a": "b"}


@given(VALUES, SECRETS)
async def test_signed_round_trip(value: str, secret: str | bytes) -> None:
    line = await line_of(set_signed_cookie, "a", value, secret, path=None)
    assert await get(get_signed_cookie, secret, "a", cookie=line) == value


@given(VALUES, SECRETS, st.data())
async def test_what_was_tampered_with_is_never_verified(
    value: str, secret: str | bytes, data: st.DataObject
) -> None:
    line = await line_of(set_signed_cookie, "a", value, secret, path=None)
    signed = await get(get_cookie, "a", cookie=line)
    start = data.draw(st.integers(0, len(signed)))
    end = data.draw(st.integers(start, len(signed)))
    piece = data.draw(st.text(max_size=20) | st.text(BASE64, max_size=20))
    tampered = signed[:start] + piece + signed[end:]
    assume(tampered != signed)
    line = await line_of(set_cookie, "a", tampered, path=None)
    assert await get(get_signed_cookie, secret, "a", cookie=line) in (None, False)


@given(VALUES, SECRETS)
async def test_no_changed_character_of_a_signature_is_verified(value: str, secret: Any) -> None:
    line = await line_of(set_signed_cookie, "a", value, secret, path=None)
    signed = await get(get_cookie, "a", cookie=line)
    # The last before the filler, of which base64 uses only four bits.
    for character in BASE64.replace(signed[-2], ""):
        changed = signed[:-2] + character + "="
        line = await line_of(set_cookie, "a", changed, path=None)
        assert await get(get_signed_cookie, secret, "a", cookie=line) is False


@given(VALUES, SECRETS, SECRETS)
async def test_another_secret_does_not_verify(value: str, secret: Any, other: Any) -> None:
    # HMAC fills a key up with zero octets.
    octets = [s.encode() if isinstance(s, str) else s for s in (secret, other)]
    assume(octets[0].rstrip(b"\0") != octets[1].rstrip(b"\0"))
    line = await line_of(set_signed_cookie, "a", value, secret, path=None)
    assert await get(get_signed_cookie, other, "a", cookie=line) is False


# --- what is refused ---------------------------------------------------------------------------

PATH = "expected printable ASCII without ';', at most 1024 characters"
DOMAIN = "expected a host name in ASCII, at most 1024 characters"
SECONDS = "expected seconds, at most 34560000 (400 days)"
AWARE = "expected a datetime with a time zone, such as datetime.now(UTC)"
TIME = "expected a time after the year 1600 and at most 400 days ahead"
SAME_SITE = "expected one of 'Strict', 'Lax', 'None'"
PRIORITY = "expected one of 'Low', 'Medium', 'High'"
BEGINS = "since its name begins with"
FIRST = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))
LAST = datetime.max.replace(tzinfo=timezone(timedelta(hours=-14)))
REFUSED: dict[tuple[str, str], tuple[Any, ...]] = {
    ("path", PATH): (["/"], "/;x", "/\r\nx", "/\0", "/\x7f", "/é", "/\t", "/" * 1025, b"/", 5),
    ("domain", DOMAIN): ("a;b", "a b", "a,b", "a\nb", "é.com", "a/b", "[::1]", "a:80", "d" * 1025),
    ("max_age", SECONDS): (34560001, float("inf"), "1", timedelta(days=1)),
    ("expires", AWARE): (datetime(2000, 1, 1), date(2000, 1, 1), 0, "Sun, 24 Dec 2000"),
    ("expires", TIME): (FIRST, LAST, datetime(1600, 12, 31, 23, 59, tzinfo=UTC)),
    ("same_site", SAME_SITE): ("Loose", "Lax; Secure", "", True),
    ("priority", PRIORITY): ("Highest", "Low\r\n", 5),
}


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [(option, value, rule) for (option, rule), values in REFUSED.items() for value in values],
)
async def test_options_that_are_refused(option: str, value: Any, rule: str) -> None:
    expected = f"ValueError: Invalid {option} {value!r} of cookie 'a': {rule}"
    for _ in range(2):  # An error isn't remembered as something valid.
        assert await error_of(set_cookie, "a", "b", **{option: value}) == expected
    assert await error_of(set_signed_cookie, "a", "b", "key", **{option: value}) == expected
    if option != "max_age":
        assert await error_of(delete_cookie, "a", **{option: value}) == expected


@pytest.mark.parametrize(
    "name",
    [
        "",
        " a",
        "a b",
        "a;b",
        "a=b",
        ["a"],
        " " * 5000,
        "a\r\nb",
        "a\0",
        "é",
        "a,b",
        "a[0]",
        "a\n",
        5,
        None,
        b"a",
    ],
)
async def test_a_name_is_a_token(name: Any) -> None:
    expected = f"ValueError: Invalid cookie name {name!r}: expected a token of RFC 9110"
    assert await error_of(set_cookie, name, "b") == expected
    assert await error_of(set_signed_cookie, name, "b", "key") == expected
    assert await error_of(delete_cookie, name) == expected


@pytest.mark.parametrize(
    ("name", "options", "needed"),
    [
        ("a", {"same_site": "None"}, "secure=True, since it has same_site='None'"),
        ("a", {"same_site": "none"}, "secure=True, since it has same_site='None'"),
        ("a", {"partitioned": True}, "secure=True, since it is partitioned"),
        *(
            (name, {}, f"secure=True, {BEGINS} __Secure- or __Host-")
            for name in ("__Secure-a", "__secure-a", "__SECURE-", "__Host-a", "__HOST-a")
        ),
        *(
            ("__host-a", {"secure": True, "path": path}, f"path='/', {BEGINS} __Host-")
            for path in ("/p", None, "")
        ),
        ("__Host-a", {"secure": True, "domain": "x.com"}, f"no domain, {BEGINS} __Host-"),
    ],
)
async def test_combinations_that_clients_drop(
    name: str, options: dict[str, Any], needed: str
) -> None:
    expected = f"ValueError: Cookie {name!r} needs {needed}"
    assert await error_of(set_cookie, name, "b", **options) == expected
    assert await error_of(delete_cookie, name, **options) == expected


@pytest.mark.parametrize(
    ("act", "size"),
    [
        ((set_cookie, "a", "x" * 4096), 4097),
        ((set_cookie, "name", "x" * 4093), 4097),
        ((set_cookie, "n" * 4097, ""), 4097),
        ((set_cookie, "a", "é" * 683), 4099),
        ((set_signed_cookie, "a", "x" * 4090, "key"), 4140),
    ],
)
async def test_too_large(act: tuple[Any, ...], size: int) -> None:
    assert await error_of(*act) == (
        f"ValueError: Cookie {act[1]!r} is too large: name and encoded value have {size} octets, "
        "browsers accept at most 4096"
    )


@pytest.mark.parametrize("prefix", ["hots", "Host", "", "__Host-"])
async def test_unknown_prefix(prefix: str) -> None:
    expected = f"ValueError: Invalid cookie prefix {prefix!r}: expected 'secure' or 'host'"
    assert await error_of(get_cookie, "a", prefix) == expected
    assert await error_of(get_signed_cookie, "key", "a", prefix) == expected
    assert await error_of(set_cookie, "a", "b", prefix=prefix) == expected
    assert await error_of(delete_cookie, "a", prefix=prefix) == expected


@pytest.mark.parametrize("option", ["samesite", "httponly", "maxAge", "Path"])
async def test_unknown_option(option: str) -> None:
    expected = (
        f"TypeError: Unknown cookie option {option!r}: expected path, domain, expires, max_age, "
        "secure, http_only, same_site, partitioned, priority, prefix"
    )
    assert await error_of(set_cookie, "a", "b", **{option: "x"}) == expected
    assert await error_of(set_signed_cookie, "a", "b", "key", **{option: "x"}) == expected
    assert await error_of(delete_cookie, "a", **{option: "x"}) == expected


@pytest.mark.parametrize(("value", "name"), [(5, "int"), (None, "NoneType"), (b"b", "bytes")])
async def test_a_value_is_text(value: Any, name: str) -> None:
    expected = f"TypeError: The value of cookie 'a' must be a str, not {name}"
    assert await error_of(set_cookie, "a", value) == expected
    assert await error_of(set_signed_cookie, "a", value, "key") == expected


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        ("", "ValueError: The secret of a cookie is empty: anyone could sign with it"),
        (b"", "ValueError: The secret of a cookie is empty: anyone could sign with it"),
        (None, "TypeError: The secret of a cookie must be str or bytes, not NoneType"),
        (5, "TypeError: The secret of a cookie must be str or bytes, not int"),
    ],
)
async def test_no_secret(secret: Any, expected: str) -> None:
    assert await error_of(set_signed_cookie, "a", "b", secret) == expected
    assert await error_of(get_signed_cookie, secret, "none") == expected
    assert await error_of(get_signed_cookie, secret) == expected


async def test_a_lone_surrogate_has_no_encoding() -> None:
    bad = "b\ud800"
    expected = (
        "UnicodeEncodeError: 'utf-8' codec can't encode character '\\ud800' in position 1: "
        "surrogates not allowed"
    )
    assert await error_of(set_cookie, "a", bad) == expected
    assert await error_of(set_signed_cookie, "a", bad, "key") == expected
    assert await error_of(set_signed_cookie, "a", "b", bad) == expected
    assert await error_of(get_signed_cookie, bad) == expected
