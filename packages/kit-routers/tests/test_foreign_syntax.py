# SPDX-License-Identifier: MIT
"""Parameters of other frameworks are refused, and Kit's own are never taken for such."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.interface import UnsupportedPathError
from kit.router.patterns import check_syntax

FOREIGN = [
    # Starlette, FastAPI, Litestar, Falcon, aiohttp, BlackSheep
    *("/users/{id}", "/users/{user-id}/", "/users/{id:int}", "/users/{id:int(min=1)}"),
    *("{rest:path}", r"/users/{id:\d+}", "/users/{id:[0-9]{3}}", "/files/{tail:.*}"),
    # Flask, Quart, Django, Sanic, Bottle
    *("/users/<id>", "/users/<int:id>", "/users/<int(min=1):id>", "<path:rest>"),
    *("/pages/<any(about, help):page>", '/codes/<regex("[a-z]{2,3}"):code>'),
    *("/codes/<code:[a-z]{3}>", "/codes/<code:re:[a-z]+>"),
    # A converter after Kit's own colon, and Express
    *("/users/:id:int", "/users/:id:int?", "/users/:id:int{[0-9]{3}}", "/:name.:type.gz"),
    # Beside Kit's own, and a part of a segment
    *("/:org{[a-z]+}/{id}/:tab?", "/files/{name}.json", "/{a}x{b}", "/<any(a,b):kind>.txt"),
]
OWN = [
    *("/", "*", "/users/:id", "/users/:id?", "/users/:id{[0-9]+}", "/users/:id{[0-9]{2}}?"),
    *("/users/:id{a:b}", "/users:batch", "/::1", "/:a:", "/users/:id{id}", "/:file{[a-z]+}.json"),
    *("/users/:name{(?P<x>a)}", "/users/:name{<b>}", "/a{2}", "/a{b,c}", "/a{", "/a}", "/{}"),
    *("/<>", "/a<b", "/a>b", "/(?P<id>[0-9]+)", "/%7Bid%7D"),
]


@pytest.mark.parametrize("path", FOREIGN)
def test_foreign(path: str) -> None:
    with pytest.raises(UnsupportedPathError, match="is no parameter of Kit"):
        check_syntax(path, "GET")


@pytest.mark.parametrize("path", OWN)
def test_own(path: str) -> None:
    check_syntax(path)


NAMES = st.from_regex(r"[a-z_][a-z0-9_-]{0,5}", fullmatch=True)
EXPRESSIONS = st.sampled_from(["[0-9]+", "[a-z]{2}", ".+", "a|b", "<x>", "x{1,2}/y", "(?P<n>a)"])
SEGMENTS = st.one_of(
    st.just("*"),
    NAMES,
    NAMES.map(":{}".format),
    st.builds(":{}{{{}}}".format, NAMES, EXPRESSIONS),
)
PATHS = st.lists(SEGMENTS, max_size=4).map(lambda segments: "/" + "/".join(segments))


@given(PATHS, st.sampled_from(["", "?"]))
def test_no_pattern_of_kit_s_is_foreign(path: str, end: str) -> None:
    check_syntax(path + end)
