# SPDX-License-Identifier: MIT
"""No text of a user becomes a header of its own: it is refused before anything is sent.

SPEC: RFC 9110 section 5.5: CR, LF and NUL are invalid and dangerous in a field value.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Blob, Context, FormData, Headers, HTTPException, Kit, Request, Response
from kit.cookie import delete_cookie, set_cookie, set_signed_cookie

Make = Callable[[Context, str], Any]

LINE_BREAKING = st.sampled_from(["\r\n", "\r", "\n", "\0", "\r\nset-cookie: hack=1\r\n\r\n<html>"])
PLAIN = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=4)
# Around it stands something, since blanks at the ends of a value are dropped.
BREAKING = st.builds(lambda a, bad, b: f"a{a}{bad}{b}b", PLAIN, LINE_BREAKING, PLAIN)
NOT_LATIN = st.builds(
    lambda a, bad, b: f"a{a}{bad}{b}b",
    PLAIN,
    st.characters(min_codepoint=256, exclude_categories=["Cs"]),
    PLAIN,
)
NOT_SENDABLE = st.one_of(BREAKING, NOT_LATIN, st.just("a\ud800b"))


def headers_set(c: Context, bad: str) -> Response:
    response = Response("x")
    response.headers.set("x", bad)
    return response


def line(c: Context, bad: str, **how: Any) -> Response:
    c.header("x", bad, **how)
    return c.text("x")


def later(c: Context, bad: str) -> Response:
    c.res.headers.append("x", bad)
    return c.text("x")


def raising(c: Context, bad: str) -> Response:
    raise HTTPException(401, headers={"www-authenticate": bad})


def cookie(c: Context, bad: str, **options: Any) -> Response:
    set_cookie(c, **{"name": "n", "value": "v", **options})
    return c.text("x")


VALUES: dict[str, Make] = {
    "c.header": line,
    "c.header, append": lambda c, bad: line(c, bad, append=True),
    "c.text, headers": lambda c, bad: c.text("x", 200, {"x": bad}),
    "c.json, headers": lambda c, bad: c.json({}, 200, {"x": ["fine", bad]}),
    "c.html, content type": lambda c, bad: c.html("x", 200, {"content-type": bad}),
    "c.body, headers": lambda c, bad: c.body(None, 204, {"x": bad}),
    "c.res.headers": later,
    "Response, mapping": lambda c, bad: Response("x", headers={"x": bad}),
    "Response, pairs": lambda c, bad: Response("x", headers=[("set-cookie", bad)]),
    "Response, Headers": lambda c, bad: Response("x", headers=Headers({"x": bad})),
    "response.headers": headers_set,
    "Response.json": lambda c, bad: Response.json({}, headers={"x": bad}),
    "HTTPException": raising,
    "cookie path": lambda c, bad: cookie(c, bad, path=bad),
    "cookie domain": lambda c, bad: cookie(c, bad, domain=bad),
}
NAMES: dict[str, Make] = {
    "c.header": lambda c, bad: c.header(bad, "x"),
    "c.text, headers": lambda c, bad: c.text("x", 200, {bad: "x"}),
    "Response": lambda c, bad: Response("x", headers={bad: "x"}),
    "response.headers": lambda c, bad: Response("x").headers.append(bad, "x"),
    "HTTPException": lambda c, bad: _raise(HTTPException(400, headers={bad: "x"})),
    "cookie": lambda c, bad: cookie(c, bad, name=bad),
    "cookie to delete": lambda c, bad: delete_cookie(c, bad),
    "status text": lambda c, bad: Response("x", status_text=bad),
}
# What takes any text and makes something harmless of it, or refuses it.
ENCODING: dict[str, Make] = {
    "c.redirect": lambda c, bad: c.redirect(bad),
    "Response.redirect": lambda c, bad: Response.redirect(bad),
    "cookie value": lambda c, bad: cookie(c, bad, value=bad),
    "signed cookie": lambda c, bad: _signed(c, bad),
    "type of a blob": lambda c, bad: c.body(Blob(["x"], type=bad)),
    "form": lambda c, bad: c.body(FormData([(bad.replace("\ud800", ""), "x")])),
    "body": lambda c, bad: c.text(bad.replace("\ud800", "")),
}


def _raise(error: Exception) -> Any:
    raise error


async def _signed(c: Context, bad: str) -> Response:
    set_signed_cookie(c, "n", bad, "secret")
    return c.text("x")


class Errors(logging.Handler):
    """Keeps the exceptions that are logged, and prints nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.errors.append(record.exc_info and record.exc_info[1])


@contextmanager
def errors_logged() -> Iterator[list[Any]]:
    logger, handler = logging.getLogger("kit"), Errors()
    logger.addHandler(handler)
    propagate, logger.propagate = logger.propagate, False
    try:
        yield handler.errors
    finally:
        logger.propagate = propagate
        logger.removeHandler(handler)


@pytest.fixture(scope="module")
def answer(client: Any) -> Any:
    """Status and headers as a server gets them, and the errors that were logged."""

    async def answer(make: Make, bad: str) -> tuple[int, list[tuple[bytes, bytes]], list[Any]]:
        app = Kit()

        @app.get("/")
        async def handler(c: Context) -> Response:
            response = make(c, bad)
            if hasattr(response, "__await__"):
                response = await response
            return response if isinstance(response, Response) else c.text("x")

        with errors_logged() as errors:
            answer = (await client().ask(app)).check()
        for name, value in answer.lines:
            assert re.fullmatch(rb"[!#$%&'*+\-.^_`|~0-9a-z]+", name)
            assert not re.search(rb"[\r\n\0]", value)
        return answer.status, answer.lines, errors

    return answer


@pytest.mark.parametrize("way", VALUES)
@given(bad=NOT_SENDABLE)
async def test_a_value_that_can_not_be_sent(answer: Any, way: str, bad: str) -> None:
    status, lines, errors = await answer(VALUES[way], bad)
    assert status == 500
    assert [type(error) for error in errors] == [ValueError]
    assert {name for name, _ in lines} == {b"content-type", b"content-length"}


@pytest.mark.parametrize("way", NAMES)
@given(bad=NOT_SENDABLE)
async def test_a_name_that_can_not_be_sent(answer: Any, way: str, bad: str) -> None:
    status, lines, errors = await answer(NAMES[way], bad)
    assert status == 500
    assert [type(error) for error in errors] == [ValueError]
    assert {name for name, _ in lines} == {b"content-type", b"content-length"}


@pytest.mark.parametrize("way", ENCODING)
@given(bad=NOT_SENDABLE)
async def test_what_is_encoded_or_refused(answer: Any, way: str, bad: str) -> None:
    status, lines, errors = await answer(ENCODING[way], bad)
    if status == 500:
        assert [isinstance(error, ValueError) for error in errors] == [True]
    else:
        assert not errors
        names = [name for name, _ in lines]
        assert len(names) == len(set(names)) <= 3


@given(BREAKING)
async def test_a_redirect_to_a_latin_1_text_with_a_line_break(answer: Any, bad: str) -> None:
    status, _, errors = await answer(lambda c, text: c.redirect(text), bad)
    assert status == 500
    assert re.search(r"CR, LF and NUL are not allowed$", str(errors[0]))


@given(NOT_SENDABLE)
def test_a_request_to_another_server(bad: str) -> None:
    for given_headers in ({"x": bad}, {bad: "x"}):
        with pytest.raises(ValueError, match=r"^Invalid (value|header name) "):
            Request("http://x/", headers=given_headers)
    with pytest.raises(ValueError, match=r"^Invalid method "):
        Request("http://x/", method=bad)


@given(st.lists(PLAIN, min_size=1, max_size=4))
async def test_cookies_are_lines_of_their_own(answer: Any, values: list[str]) -> None:
    def make(c: Context, bad: str) -> Response:
        for value in values:
            c.header("set-cookie", value, append=True)
        return c.text("x")

    _, lines, _ = await answer(make, "")
    got = [value.decode("latin-1") for name, value in lines if name == b"set-cookie"]
    assert got == [value.strip(" \t") for value in values]
    response = Response("x", headers=[("set-cookie", value) for value in values])
    for copy in (response.clone(), Response("y", headers=response.headers)):
        assert copy.headers.get_set_cookie() == got
        assert [pair for pair in copy.headers.items() if pair[0] == "set-cookie"] == [
            ("set-cookie", value) for value in got
        ]
