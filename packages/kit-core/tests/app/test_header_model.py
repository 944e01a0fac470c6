# SPDX-License-Identifier: MIT
"""Random sequences of calls that set headers, against a model of what is sent."""

from __future__ import annotations

import asyncio
from typing import Any

from exchanges import by_asgi, by_request, by_rsgi
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import Context, Kit, Response

SINGLE = ("x-a", "X-B", "content-language", "etag", "cache-control")
SEVERAL = ("link", "set-cookie")
OF_REPRESENTATION = {"content-language", "etag", "cache-control"}
Lines = list[tuple[str, str]]

names = st.sampled_from([*SINGLE, *SEVERAL])
VALUES = ("a=1", "a=2", "b=1", "c=1")
values = st.sampled_from(VALUES)
lines = st.lists(st.tuples(names, values), max_size=4)
calls = st.lists(
    st.one_of(
        st.tuples(st.just("set"), names, values),
        st.tuples(st.just("append"), names, values),
        st.tuples(st.just("remove"), names),
        st.tuples(st.just("status"), st.integers(200, 203)),
        st.tuples(st.just("look")),  # at c.res
        st.tuples(st.just("all"), st.dictionaries(st.sampled_from(SINGLE), values, max_size=3)),
    ),
    max_size=5,
)
answers = st.tuples(st.sampled_from(["raw", "made", "kept", "stream"]), lines)
after = st.lists(
    st.one_of(
        st.tuples(st.just("calls"), calls),
        st.tuples(st.just("res"), answers),
        st.tuples(st.just("none")),
    ),
    max_size=3,
)


class Model:
    """The lines of a response, and those that were set before there was one."""

    def __init__(self) -> None:
        self.lines: Lines = []
        self.there = False

    def call(self, kind: str, *arguments: Any) -> None:
        if kind in ("set", "append", "remove"):
            name = arguments[0].lower()
            if kind != "append":
                self.lines = [line for line in self.lines if line[0] != name]
            if kind != "remove":
                self.lines.append((name, arguments[1]))
        elif kind == "all":
            for name, value in arguments[0].items():
                self.call("set", name, value)

    def answer(self, own: Lines) -> None:
        own = [(name.lower(), value) for name, value in own]
        kept = [each for each in self.lines if not (self.there and each[0] in OF_REPRESENTATION)]
        self.lines = [*own, *(line for line in kept if _is_added(line, own))]
        self.there = True

    def answer_by_c(self, own: Lines) -> None:
        """Answers with a response that `c` has made: it has what was set, and may remove it."""
        removed = _names(own)
        self.lines = [line for line in self.lines if line[0] not in removed]
        self.answer(own)


def _is_added(line: tuple[str, str], own: Lines) -> bool:
    name, value = line
    if name == "link":
        return line not in own
    if name == "set-cookie":
        return all((name, cookie) not in own for cookie in _same_cookies(value))
    return name not in _names(own)


def _same_cookies(cookie: str) -> list[str]:
    return [value for value in VALUES if value[0] == cookie[0]]


def _names(own: Lines) -> set[str]:
    return {name.lower() for name, _ in own}


def apply(c: Context, kind: str, *arguments: Any) -> None:
    if kind == "set":
        c.header(*arguments)
    elif kind == "append":
        c.header(*arguments, append=True)
    elif kind == "remove":
        c.header(arguments[0], None)
    elif kind == "status":
        c.status(arguments[0])
    elif kind == "all":
        c.set_headers(arguments[0])
    else:
        assert c.res is not None


async def _chunks() -> Any:
    yield b"x"


def response_of(c: Context, kind: str, own: Lines, kept: dict[Any, Response]) -> Response:
    if kind == "stream":
        return Response(_chunks(), headers=own)
    if kind == "kept":
        return kept.setdefault(tuple(own), Response(b"x", headers=own))
    if kind == "raw":
        return Response(b"x", headers=own)
    response = c.body(b"x")
    for name in {name for name, _ in own}:
        response.headers.delete(name)
    for name, value in own:
        response.headers.append(name, value)
    return response


def app_of(before: Any, inner: Any, answer: Any, after: Any, kept: dict[Any, Response]) -> Kit:
    app = Kit()

    @app.use()
    async def middleware(c: Context, next: Any) -> None:
        for call in before:
            apply(c, *call)
        await next()
        for kind, *arguments in after:
            if kind == "calls":
                for call in arguments[0]:
                    apply(c, *call)
            elif kind == "res":
                c.res = response_of(c, *arguments[0], kept)
            else:
                c.res = None
                c.res = Response(b"x")

    @app.get("/")
    def handler(c: Context) -> Response:
        for call in inner:
            apply(c, *call)
        return response_of(c, *answer, kept)

    return app


def expected(before: Any, inner: Any, answer: Any, after: Any) -> Lines:
    model = Model()
    steps = [("calls", before), ("calls", inner), ("res", answer), *after]
    for kind, *arguments in steps:
        if kind == "calls":
            for call in arguments[0]:
                model.call(*call)
        elif kind == "res":
            source, own = arguments[0]
            (model.answer_by_c if source == "made" else model.answer)(own)
        else:
            model.lines, model.there = [], True
    return model.lines


async def exchange(app: Kit) -> list[tuple[int, Lines, bytes]]:
    # Twice: the second time with responses that were sent before.
    return [await engine(app, "/") for engine in (by_request, by_asgi, by_rsgi) for _ in range(2)]


@settings(max_examples=150, deadline=None)
@given(before=calls, inner=calls, answer=answers, after=after)
def test_what_was_set_is_sent(before: Any, inner: Any, answer: Any, after: Any) -> None:
    kept: dict[Any, Response] = {}
    model = sorted(expected(before, inner, answer, after))
    for _, sent, content in asyncio.run(exchange(app_of(before, inner, answer, after, kept))):
        assert content == b"x"
        assert sorted(line for line in sent if line[0] != "content-length") == model
    for own, response in kept.items():
        fresh = Response(b"", headers=own)
        assert [*response.headers.items()] == [*fresh.headers.items()]
