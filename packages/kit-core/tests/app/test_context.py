# SPDX-License-Identifier: MIT
"""`c`: making responses, headers and status, variables, what setting `c.res` merges."""

from __future__ import annotations

import asyncio
import http
import pydoc
from collections import UserString
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import Context, Headers, Kit, Response
from kit.interface import Next

TEXT = "text/plain; charset=UTF-8"
HTML = "text/html; charset=UTF-8"
# Of a body that is a str, as WHATWG Fetch has it.
STR = "text/plain;charset=UTF-8"


async def run(handler: Callable[[Context], Any], *middleware: Any, **init: Any) -> Response:
    app = Kit()
    if middleware:
        app.use(*middleware)
    app.get("/", handler)
    app.on_error(lambda error, c: Response(f"{type(error).__name__}: {error}", status=500))
    return await app.request("/", **init)


async def summary(response: Response) -> tuple[int, str | None, bytes]:
    return response.status, response.headers.get("content-type"), await response.bytes()


# --- making responses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        pytest.param(lambda c: c.text("é"), (200, TEXT, "é".encode()), id="text"),
        pytest.param(lambda c: c.text(""), (200, TEXT, b""), id="empty text"),
        pytest.param(lambda c: c.text("x", 201), (201, TEXT, b"x"), id="text with status"),
        pytest.param(lambda c: c.html("<p>"), (200, "text/html; charset=UTF-8", b"<p>"), id="html"),
        pytest.param(
            lambda c: c.json({"ä": [1, None, True]}),
            (200, "application/json", '{"ä":[1,null,true]}'.encode()),
            id="json compact, not ASCII",
        ),
        pytest.param(lambda c: c.json(float("nan")), (200, "application/json", b"null"), id="NaN"),
        pytest.param(lambda c: c.json(None), (200, "application/json", b"null"), id="json None"),
        pytest.param(lambda c: c.body("x"), (200, STR, b"x"), id="body str"),
        pytest.param(lambda c: c.body(b"x"), (200, None, b"x"), id="body bytes"),
        pytest.param(lambda c: c.body(None), (200, None, b""), id="body None"),
        pytest.param(lambda c: c.body(None, 204), (204, None, b""), id="204"),
        pytest.param(lambda c: c.body(["a", b"b"]), (200, None, b"ab"), id="body list"),
        pytest.param(lambda c: c.new_response(b"x", 202), (202, None, b"x"), id="new_response"),
        pytest.param(lambda c: c.redirect("/x"), (302, None, b""), id="redirect"),
        pytest.param(lambda c: c.redirect("/x", 308), (308, None, b""), id="redirect with status"),
        pytest.param(lambda c: c.not_found(), (404, TEXT, b"404 Not Found"), id="not found"),
        pytest.param(
            lambda c: c.text("x", http.HTTPStatus.CREATED), (201, TEXT, b"x"), id="HTTPStatus"
        ),
    ],
)
@pytest.mark.parametrize("prepared", [False, True], ids=["fast path", "with headers set before"])
async def test_response(handler: Any, expected: Any, prepared: bool) -> None:
    def prepare(c: Context) -> Any:
        if prepared:
            c.header("x-prepared", "1")
        return handler(c)

    response = await run(prepare)
    assert await summary(response) == expected
    assert response.headers.get("x-prepared") == ("1" if prepared else None)


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        pytest.param(
            lambda c: c.text(5), "TypeError: c.text() takes a str, not int", id="text of int"
        ),
        pytest.param(
            lambda c: c.text(b"x"),
            "TypeError: c.text() takes a str, not bytes",
            id="text of bytes",
        ),
        pytest.param(
            lambda c: c.html(None), "TypeError: c.html() takes a str, not NoneType", id="html"
        ),
        pytest.param(
            lambda c: c.body({"a": 1}),
            "TypeError: Can't send dict as a body: expected str, bytes, Blob, FormData, "
            "URLSearchParams, an (async) iterable of str or bytes, or None",
            id="body of dict",
        ),
        pytest.param(
            lambda c: c.text("x", 204),
            "TypeError: A response with status 204 has no body: give None",
            id="text with 204",
        ),
        pytest.param(
            lambda c: c.json(None, 304),
            "TypeError: A response with status 304 has no body: give None",
            id="json with 304",
        ),
        pytest.param(
            lambda c: c.text("x", 99),
            "ValueError: Invalid response status 99: expected an int from 200 to 599",
            id="status 99",
        ),
        pytest.param(
            lambda c: c.text("x", 600),
            "ValueError: Invalid response status 600: expected an int from 200 to 599",
            id="status 600",
        ),
        pytest.param(
            lambda c: c.status("201"),
            "ValueError: Invalid response status '201': expected an int from 200 to 599",
            id="status as text",
        ),
        pytest.param(
            lambda c: c.header("x-a", "a\r\nset-cookie: b"),
            "ValueError: Invalid value 'a\\r\\nset-cookie: b' of header 'x-a': "
            "CR, LF and NUL are not allowed",
            id="header with a newline",
        ),
        pytest.param(
            lambda c: c.text("x", headers={"x a": "1"}),
            "ValueError: Invalid header name 'x a': expected a token of RFC 9110",
            id="header name",
        ),
        pytest.param(
            lambda c: c.text("x", headers={"x-a": ["1", "2\n3"]}),
            "ValueError: Invalid value '2\\n3' of header 'x-a': CR, LF and NUL are not allowed",
            id="header in a list",
        ),
        pytest.param(
            lambda c: c.header("x-a", "€"),
            "ValueError: Invalid value '€' of header 'x-a': "
            "only latin-1 characters can be sent; percent-encode others",
            id="header beyond latin-1",
        ),
        pytest.param(
            lambda c: c.redirect("/a\r\nx: y"),
            "ValueError: Invalid value '/a\\r\\nx: y' of header 'location': "
            "CR, LF and NUL are not allowed",
            id="redirect with a newline",
        ),
        pytest.param(
            lambda c: c.json({"a": [1, object]}),
            "TypeError: Can't encode type as JSON, at $['a'][1]: <class 'object'>",
            id="json of a class",
        ),
        pytest.param(
            lambda c: setattr(c, "res", "text"),
            "TypeError: c.res can be set to a Response or None, not str",
            id="res of str",
        ),
    ],
)
async def test_refused(handler: Any, text: str) -> None:
    response = await run(handler)
    assert response.status == 500
    assert (await response.text()).startswith(text)


@pytest.mark.parametrize("value", [b"1", 1, UserString("1"), ["1"]])
@pytest.mark.parametrize("append", [False, True])
async def test_header_values_that_are_no_str_are_refused(value: Any, append: bool) -> None:
    def handler(c: Context) -> Any:
        # The name and the text of each value are known from then on.
        c.header("x-a", "1")
        c.header("x-a", value, append=append)

    response = await run(handler)
    text = f"ValueError: Invalid value {value!r} of header 'x-a': expected a str"
    assert (response.status, await response.text()) == (500, text)


CONSTANTS = ("no-store", " padded ", "caf\xe9", "")
SET_HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["x-seldom", "X-Seldom", "x-often", "content-language", "Vary"]),
        st.sampled_from(CONSTANTS) | st.text("ab \xe9", max_size=3) | st.none(),
        st.booleans(),
    ),
    max_size=6,
)


@given(st.lists(SET_HEADERS, min_size=1, max_size=8))
def test_headers_are_those_of_their_own_request(requests: Any) -> None:
    """Whatever earlier requests set: the lines of constant values are kept between them."""
    for calls in requests:
        expected = Headers()
        for name, value, append in calls:
            if value is None:
                expected.delete(name)
            elif append:
                expected.append(name, value)
            else:
                expected.set(name, value)

        def handler(c: Context, calls: Any = calls) -> Response:
            for name, value, append in calls:
                c.header(name, value, append=append)
            return c.text("x")

        response = asyncio.run(run(handler))
        response.headers.delete("content-type")
        assert response.headers.raw == expected.raw


@pytest.mark.parametrize("times", [1, 2, 9])
@pytest.mark.parametrize("bad", ["a\nb", "\u20ac", b"x", 1])
async def test_a_bad_value_is_refused_after_good_ones(bad: Any, times: int) -> None:
    values = [*(f"v{number}" for number in range(times)), bad]
    for value in values[:-1]:
        response = await run(lambda c, v=value: c.header("x-good", v) or c.text("x"))
        assert response.headers.get("x-good") == value
    response = await run(lambda c: c.header("x-good", bad) or c.text("x"))
    assert response.status == 500
    assert "x-good" not in response.headers


async def test_header_values_of_a_subclass_of_str_are_sent() -> None:
    class Text(str):
        __slots__ = ()

    response = await run(lambda c: c.header("x-a", Text(" 1 ")) or c.text("x"))
    assert response.headers.get("x-a") == "1"


@pytest.mark.parametrize(
    ("location", "sent"),
    [
        pytest.param("/a b/é", "/a%20b/%C3%A9", id="a blank and latin-1"),
        pytest.param("/%20%e9%zz%", "/%20%e9%zz%", id="escapes stay"),
        pytest.param("/%20 €", "/%20%20%E2%82%AC", id="escapes beside others"),
        pytest.param(
            "/;,/?:@&=+$-_.!~*'()#[]\"€", "/;,/?:@&=+$-_.!~*'()#[]%22%E2%82%AC", id="delimiters"
        ),
        pytest.param("/\\x.example/", "/%5Cx.example/", id="a backslash is no slash"),
        pytest.param("/\t/x.example/\x7f\x85", "/%09/x.example/%7F%C2%85", id="controls"),
        pytest.param(" /a\t", "/a", id="blanks around it"),
        pytest.param("/\ud800\U0001f600", "/%EF%BF%BD%F0%9F%98%80", id="half of a pair"),
        pytest.param(
            "https://bücher.example/é?é#é",
            "https://xn--bcher-kva.example/%C3%A9?%C3%A9#%C3%A9",
            id="a host",
        ),
        pytest.param(
            "//u:p@bücher.example:81/é", "//u:p@xn--bcher-kva.example:81/%C3%A9", id="its port"
        ),
        pytest.param("/a//bücher.example", "/a//b%C3%BCcher.example", id="no host"),
    ],
)
async def test_redirect_location(location: str, sent: str) -> None:
    response = await run(lambda c: c.redirect(location))
    assert response.headers.get_all("location") == [sent]
    assert Response.redirect(location).headers.get_all("location") == [sent]


async def test_redirect_that_is_not_returned_leaves_no_location() -> None:
    def handler(c: Context) -> Response:
        c.redirect("/elsewhere")
        return Response("here")

    assert "location" not in (await run(handler)).headers


async def test_redirect_ignores_status_and_takes_headers() -> None:
    def handler(c: Context) -> Response:
        c.status(418)
        c.header("x-a", "1")
        return c.redirect("/there")

    response = await run(handler)
    assert (response.status, response.headers["x-a"]) == (302, "1")


# --- status ------------------------------------------------------------------------------------


async def test_status_order() -> None:
    def handler(c: Context) -> Response:
        c.status(202)
        made = [c.text("a"), c.text("b", 203), c.body("c"), c.html("d", 200), c.redirect("/")]
        return c.json([response.status for response in made])

    response = await run(handler)
    assert (response.status, await response.json()) == (202, [202, 203, 202, 200, 302])


async def test_status_has_no_effect_on_a_response_that_is_there() -> None:
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.status(418)

    assert (await run(lambda c: c.text("ok"), middleware)).status == 200


async def test_status_has_no_effect_on_a_raw_response() -> None:
    def handler(c: Context) -> Response:
        c.status(418)
        return Response("raw")

    assert (await run(handler)).status == 200


async def test_status_before_not_found_gives_way_to_404() -> None:
    def handler(c: Context) -> Any:
        c.status(202)
        return c.not_found()

    assert (await run(handler)).status == 404


# --- headers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        pytest.param([("x", "1")], ["1"], id="set"),
        pytest.param([("x", "1"), ("X", "2")], ["2"], id="set again, other case"),
        pytest.param([("x", "1"), ("x", "2", True)], ["1", "2"], id="append"),
        pytest.param([("x", "1", True)], ["1"], id="append alone"),
        pytest.param([("x", "1"), ("x", None)], [], id="delete"),
        pytest.param([("x", "1"), ("x", "2", True), ("x", "3")], ["3"], id="set over two"),
    ],
)
@pytest.mark.parametrize("when", ["before", "touched", "after"])
async def test_header(calls: Any, expected: list[str], when: str) -> None:
    def apply(c: Context) -> None:
        for name, value, *append in calls:
            c.header(name, value, append=bool(append))

    async def middleware(c: Context, next: Any) -> None:
        if when == "touched":
            assert c.res.status == 200
        if when != "after":
            apply(c)
        await next()
        if when == "after":
            apply(c)

    response = await run(lambda c: c.text("ok"), middleware)
    assert response.headers.get_all("x") == expected


@pytest.mark.parametrize(
    "set_before",
    [
        lambda c: c.header("Content-Type", "set/before"),
        lambda c: c.set_headers({"Content-Type": "set/before"}),
    ],
    ids=["header", "set_headers"],
)
@pytest.mark.parametrize(
    ("make", "content_type"),
    [
        pytest.param(lambda c: c.text("x"), TEXT, id="text beats c.header"),
        pytest.param(lambda c: c.json(1), "application/json", id="json beats c.header"),
        pytest.param(lambda c: c.html("x"), "text/html; charset=UTF-8", id="html beats c.header"),
        pytest.param(
            lambda c: c.text("x", headers={"CONTENT-type": "a/b"}), "a/b", id="argument beats text"
        ),
        pytest.param(lambda c: c.body("x"), "set/before", id="body keeps it"),
        pytest.param(lambda c: c.body("x", headers={"content-type": "a/b"}), "a/b", id="body"),
    ],
)
async def test_content_type_order(make: Any, content_type: str, set_before: Any) -> None:
    def handler(c: Context) -> Response:
        set_before(c)
        response: Response = make(c)
        return response

    response = await run(handler)
    assert response.headers.get_all("content-type") == [content_type]


async def test_headers_argument() -> None:
    def handler(c: Context) -> Response:
        c.header("x-set", "old")
        c.header("x-list", "old")
        c.header("x-gone", "old")
        return c.text("x", headers={"X-Set": "new", "x-list": ("1", "2"), "x-gone": []})

    headers = (await run(handler)).headers
    assert headers.get_all("x-set") == ["new"]
    assert headers.get_all("x-list") == ["1", "2"]
    assert headers.get_all("x-gone") == []


NAMES = st.sampled_from(["x-a", "X-A", "x-b", "Content-Type", "content-type", "CONTENT-LENGTH"])
VALUES = st.sampled_from(["1", " 2\t", "", "\u00e9", "4, 5"])


@settings(deadline=None)
@given(
    st.lists(st.tuples(NAMES, VALUES), max_size=2),
    st.dictionaries(NAMES, st.one_of(VALUES, st.lists(VALUES, max_size=2))),
    st.sampled_from([None, 200, 201]),
    st.sampled_from(["text", "json", "html", "body"]),
)
async def test_headers_argument_is_as_setting_each(
    before: list[tuple[str, str]], headers: dict[str, Any], status: int | None, method: str
) -> None:
    def handler(c: Context) -> Response:
        for name, value in before:
            c.header(name, value)
        return getattr(c, method)(b"ok" if method == "body" else "ok", status, headers)  # type: ignore[no-any-return]

    response = await run(handler)
    expected = Headers()
    for name, value in before:
        expected.set(name, value)
    content_type = {"text": TEXT, "json": "application/json", "html": HTML}.get(method)
    if content_type is not None:
        expected.set("content-type", content_type)
    for name, value in headers.items():
        values = [value] if isinstance(value, str) else value
        expected.delete(name) if len(values) != 1 else expected.set(name, values[0])
        if len(values) > 1:
            for each in values:
                expected.append(name, each)
    assert response.status == (status or 200)
    assert sorted(response.headers.raw) == sorted(expected.raw)


async def test_headers_set_between_two_responses_are_on_the_second_alone() -> None:
    def handler(c: Context) -> Response:
        first = c.text("first")
        c.header("x-a", "1")
        second = c.text("second")
        assert "x-a" not in first.headers
        second.headers.set("x-b", "2")
        assert "x-b" not in c.text("third").headers
        return second

    headers = (await run(handler)).headers
    assert (headers["x-a"], headers["x-b"]) == ("1", "2")


async def test_changing_a_response_does_not_change_the_next_of_the_same_kind() -> None:
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.res.headers.set("x-once", "1")

    assert (await run(lambda c: c.text("ok"), middleware)).headers["x-once"] == "1"
    assert (await run(lambda c: c.text("ok"))).headers.get("x-once") is None


SHARED = Response("shared", headers={"x-own": "own"})


async def test_header_after_finalization_leaves_a_shared_response_alone() -> None:
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.header("x-request", "1")
        c.header("x-own", None)

    response = await run(lambda c: SHARED, middleware)
    assert response.headers["x-request"] == "1"
    assert "x-own" not in response.headers
    assert dict(SHARED.headers.items()) == {
        "content-type": STR,
        "x-own": "own",
    }


async def test_header_after_finalization_is_that_of_one_request() -> None:
    made: list[Response] = []

    def keep(c: Context) -> Response:
        made.append(made[0] if made else c.text("kept"))
        return made[0]

    def stream(c: Context) -> Response:
        return c.body(iter([b"a", b"b"]))

    async def mark(c: Context, next: Next) -> None:
        await next()
        c.header("X-Mark", c.req.query("mark"))
        c.header("X-Mark", "again", append=True)
        c.header("X-Mark-Too", "1")
        c.header("X-Mark-Too", "2")
        c.header("X-Absent")
        c.header("X-Absent", append=True)
        c.header("X-Gone", "1")
        c.header("X-Gone")
        c.header("X-Gone-Too", "1")
        c.header("X-Gone-Too", append=True)

    app = Kit().use(mark).get("/", keep).get("/stream", stream)
    for mark_sent in ("1", "2"):
        response = await app.request(f"/?mark={mark_sent}")
        assert response.headers.get_all("x-mark") == [mark_sent, "again"]
        assert [*response.headers] == ["content-type", "x-mark", "x-mark-too"]
        assert response.headers.get_all("x-mark-too") == ["2"]
        assert await response.text() == "kept"
    assert [*made[0].headers] == ["content-type"]
    response = await app.request("/stream?mark=1")
    assert response.headers.get_all("x-mark") == ["1", "again"]
    assert response.headers.get_all("x-mark-too") == ["2"]
    assert await response.text() == "ab"


async def test_setting_res_leaves_a_shared_response_alone() -> None:
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.res = SHARED

    response = await run(lambda c: c.text("x", headers={"x-inner": "1"}), middleware)
    assert response.headers["x-inner"] == "1"
    assert "x-inner" not in SHARED.headers


# --- setting c.res -----------------------------------------------------------------------------


async def replaced(old: dict[str, Any], new: Response | None, again: Any = None) -> Response:
    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.res = new
        if again is not None:
            c.res = again

    return await run(lambda c: c.body(b"old", headers=old), middleware)


async def test_old_headers_are_added_to_the_new_response() -> None:
    response = await replaced(
        {"x-both": "old", "x-old": "old", "content-type": "old/type"},
        Response(b"new", status=201, headers={"x-both": "new", "x-new": "new"}),
    )
    assert (response.status, await response.bytes()) == (201, b"new")
    assert dict(response.headers.items()) == {"x-both": "new", "x-old": "old", "x-new": "new"}


async def test_content_type_is_that_of_the_new_response() -> None:
    response = await replaced({"content-type": "old/type"}, Response("new"))
    assert response.headers.get_all("content-type") == [STR]


async def test_cookies_of_both_responses_are_sent() -> None:
    new = Response(b"new", headers=[("set-cookie", "n=1")])
    response = await replaced({"set-cookie": ["a=1", "b=2"]}, new)
    assert response.headers.get_set_cookie() == ["a=1", "b=2", "n=1"]
    response = await replaced({}, new)
    assert response.headers.get_set_cookie() == ["n=1"]


async def test_setting_none_first_drops_the_old_headers() -> None:
    response = await replaced({"x-old": "old"}, None, Response(b"new"))
    assert "x-old" not in response.headers
    assert await response.bytes() == b"new"


async def test_setting_none_alone_answers_with_an_empty_response() -> None:
    response = await replaced({"x-old": "old"}, None)
    assert (response.status, await response.bytes()) == (200, b"")


@pytest.mark.parametrize(
    "answer", [lambda c, h: c.text("ok", headers=h), lambda c, h: Response("ok", headers=h)]
)
async def test_header_on_res_before_next_gives_way_to_the_handler(answer: Any) -> None:
    async def middleware(c: Context, next: Any) -> None:
        c.res.headers.set("x-both", "middleware")
        c.res.headers.set("x-mine", "middleware")
        await next()

    response = await run(lambda c: answer(c, {"x-both": "handler"}), middleware)
    assert response.headers.get_all("x-both") == ["handler"]
    assert response.headers.get_all("x-mine") == ["middleware"]


async def test_prepared_header_gives_way_to_the_handler() -> None:
    async def middleware(c: Context, next: Any) -> None:
        c.header("x-both", "middleware")
        c.header("x-mine", "middleware")
        await next()

    response = await run(lambda c: c.text("ok", headers={"x-both": "handler"}), middleware)
    assert response.headers.get_all("x-both") == ["handler"]
    assert response.headers.get_all("x-mine") == ["middleware"]


# --- variables ---------------------------------------------------------------------------------


async def test_variables() -> None:
    seen: list[Any] = []

    async def middleware(c: Context, next: Any) -> None:
        seen.append((c.get("a"), c.get("a", 0), dict(c.var)))
        c.set("a", 1)
        await next()
        seen.append((c.get("a", 0), c.get("b"), c.get("c", 0), c.var["b"]))

    def handler(c: Context) -> Response:
        seen.append(c.var["a"])
        c.set("a", None)
        c.set("b", "2")
        return c.text("ok")

    await run(handler, middleware)
    assert seen == [(None, 0, {}), 1, (None, "2", 0, "2")]


async def test_var_is_a_view_for_reading() -> None:
    seen: list[Any] = []

    def handler(c: Context) -> Response:
        view = c.var
        c.set("late", 1)
        seen.append(dict(view))
        with pytest.raises(TypeError):
            c.var["direct"] = 1
        return c.text("ok")

    response = await run(handler)
    assert (response.status, seen) == (200, [{"late": 1}])


def test_context_takes_no_attributes_of_its_own() -> None:
    c: Any = Context(Kit(), None, None, "/", ([],), [], {})
    with pytest.raises(AttributeError):
        c.user = 1


async def test_render_is_html_by_default() -> None:
    app = Kit().get("/", lambda c: c.render("<b>x</b>", 201))
    response = await app.request("/")
    assert (response.status, await response.text()) == (201, "<b>x</b>")
    assert response.headers.get("content-type") == "text/html; charset=UTF-8"


async def test_renderers_by_path_plain_and_async() -> None:
    app = Kit()

    @app.use("/pages/*")
    async def layout(c: Context, next: Next) -> None:
        c.set_renderer(lambda content, title="": c.html(f"<title>{title}</title>{content}"))
        await next()

    @app.use("/later/*")
    async def later(c: Context, next: Next) -> None:
        async def render(content: str) -> Response:
            return c.html(f"later {content}")

        c.set_renderer(render)
        await next()

    app.get("/pages/a", lambda c: c.render("A", title="t"))
    app.get("/later/a", lambda c: c.render("A"))
    app.get("/a", lambda c: c.render("A"))
    assert await (await app.request("/pages/a")).text() == "<title>t</title>A"
    assert await (await app.request("/later/a")).text() == "later A"
    assert await (await app.request("/a")).text() == "A"


async def test_renderer_has_to_be_a_function() -> None:
    app = Kit().get("/", lambda c: c.set_renderer("page"))
    app.on_error(lambda e, c: c.text(f"{type(e).__name__}: {e}", 500))
    expected = "TypeError: c.set_renderer() takes a function, not 'page'"
    assert await (await app.request("/")).text() == expected


async def test_a_missing_renderer() -> None:
    app = Kit().get("/", lambda c: c.render("page.html", title="A"))
    app.on_error(lambda e, c: c.text(f"{type(e).__name__}: {e}", 500))
    text = await (await app.request("/")).text()
    assert text.startswith("TypeError: c.render(title=...) needs a renderer")


async def test_headers_of_several_lines_as_an_argument() -> None:
    headers = Headers([("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-n", "1"), ("x-n", "2")])
    response = await run(lambda c: c.text("x", 200, headers))  # type: ignore[arg-type]
    assert response.headers.get_set_cookie() == ["b=2"]
    assert response.headers.get("x-n") == "1, 2"


async def test_a_renderer_that_is_falsy() -> None:
    class Renderer:
        def __len__(self) -> int:
            return 0

        def __call__(self, content: str) -> Response:
            return Response(f"rendered {content}")

    def handler(c: Context) -> Any:
        c.set_renderer(Renderer())
        return c.render("x")

    assert await (await run(handler)).text() == "rendered x"


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize(
    ("overwrite", "expected"),
    [
        (True, [("content-type", TEXT), ("x-a", "new"), ("x-b", "new")]),
        (False, [("content-type", TEXT), ("x-a", "old, old"), ("x-b", "new")]),
    ],
)
async def test_set_headers_sets_several(
    after: bool, overwrite: bool, expected: list[tuple[str, str]]
) -> None:
    async def middleware(c: Context, next: Next) -> None:
        if after:
            await next()
        else:
            c.header("x-a", "old")
            c.header("x-a", "old", append=True)
        c.set_headers({"X-A": "new", "X-B": " new "}, overwrite=overwrite)
        if not after:
            await next()

    def handler(c: Context) -> Response:
        if after:
            c.header("x-a", "old")
            c.header("x-a", "old", append=True)
        return c.text("hello")

    response = await run(handler, middleware)
    assert [*response.headers.items()] == expected


@pytest.mark.parametrize("length", [None, "5"])
@pytest.mark.parametrize("make", [Response, lambda text: Response(text, status_text="Fine")])
async def test_set_headers_leaves_the_response_of_the_handler_alone(
    make: Callable[[str], Response], length: str | None
) -> None:
    kept = make("hello")
    if length is not None:
        kept.headers.set("content-length", length)
    before = [*kept.headers.items()]

    async def middleware(c: Context, next: Next) -> None:
        await next()
        c.set_headers({"x-a": "1"})
        c.header("x-b", "2")

    response = await run(lambda c: kept, middleware)
    assert [*response.headers.items()] == [*before, ("x-a", "1"), ("x-b", "2")]
    assert response.status_text == kept.status_text
    assert [*kept.headers.items()] == before


async def test_set_headers_before_there_is_a_response_changes_that_of_c() -> None:
    async def middleware(c: Context, next: Next) -> None:
        c.res.headers.set("x-a", "1")
        c.set_headers({"x-b": "2", "content-length": "9"})
        await next()

    response = await run(lambda c: c.text("hello"), middleware)
    assert response.headers["x-a"] == "1"
    assert response.headers["x-b"] == "2"
    assert "content-length" not in response.headers


@pytest.mark.parametrize("header", [("x a", "1"), ("x-a", "1\r\nx-b: 2"), ("x-a", "\u20ac")])
async def test_set_headers_checks_names_and_values(header: tuple[str, str]) -> None:
    def handler(c: Context) -> Response:
        with pytest.raises(ValueError, match="Invalid"):
            c.set_headers({"x-fine": "1", header[0]: header[1]})
        return c.text("")

    response = await run(handler)
    assert [*response.headers] == ["content-type"]


async def test_a_request_is_shown_by_its_repr() -> None:
    """Rich would show the fields of other Structs, and with them the headers of the request."""

    def show(c: Context) -> Response:
        for each in (c, c.req):
            assert not hasattr(each, "__rich_repr__")
            assert not hasattr(each, "__struct_fields__")
            assert "secret" not in repr(each)
        assert "parse_body(self" in pydoc.plain(pydoc.render_doc(c.req))
        return c.text(pydoc.plain(pydoc.render_doc(c)))

    response = await run(show, headers={"authorization": "Bearer secret"})
    assert response.status == 200
    assert "execution_ctx" in await response.text()
