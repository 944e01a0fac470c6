# SPDX-License-Identifier: MIT
"""Patterns of other frameworks, and that Kit's own are never taken for such."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.router import TrieRouter
from kit.router.patterns import foreign_syntax

FOREIGN = [
    # Starlette, FastAPI, Litestar, Falcon, aiohttp
    ("/users/{id}", "/users/:id"),
    ("/users/{id}/", "/users/:id/"),
    ("/users/{user-id}", "/users/:user-id"),
    ("/users/{id:int}", "/users/:id{[0-9]+}"),
    ("/users/{id:int(min=1)}", "/users/:id{[0-9]+}"),
    ("/users/{name:str}", "/users/:name"),
    ("/prices/{price:float}", r"/prices/:price{[0-9]+(?:\.[0-9]+)?}"),
    ("/prices/{price:decimal}", r"/prices/:price{[0-9]+(?:\.[0-9]+)?}"),
    ("/jobs/{id:uuid}", "/jobs/:id{[0-9a-fA-F-]{36}}"),
    ("/days/{day:date}", "/days/:day{[0-9]{4}-[0-9]{2}-[0-9]{2}}"),
    ("/files/{rest:path}", "/files/:rest{.+}"),
    ("/files/{path:path}/raw", "/files/:path{.+}/raw"),
    ("{rest:path}", ":rest{.+}"),
    (r"/users/{id:\d+}", r"/users/:id{\d+}"),
    ("/users/{id:[0-9]{3}}", "/users/:id{[0-9]{3}}"),
    ("/files/{tail:.*}", "/files/:tail{.*}"),
    ("/tags/{date:str}", "/tags/:date"),
    ("/tags/{name:lowercase}", "/tags/:name"),
    # BlackSheep
    ("/users/{int:id}", "/users/:id{[0-9]+}"),
    # Flask, Quart, Django, Sanic, Bottle
    ("/users/<id>", "/users/:id"),
    ("/users/<int:id>", "/users/:id{[0-9]+}"),
    ("/users/<int(min=1):id>", "/users/:id{[0-9]+}"),
    ("/users/<id:int>", "/users/:id{[0-9]+}"),
    ("/users/<string:name>", "/users/:name"),
    ("/users/<str:name>", "/users/:name"),
    ("/jobs/<uuid:id>", "/jobs/:id{[0-9a-fA-F-]{36}}"),
    ("/posts/<slug:title>", "/posts/:title{[-A-Za-z0-9_]+}"),
    ("/files/<path:rest>", "/files/:rest{.+}"),
    ("/files/<path:path>", "/files/:path{.+}"),
    ("<path:rest>", ":rest{.+}"),
    ("/pages/<any(about, help):page>", "/pages/:page{about|help}"),
    ('/codes/<regex("[a-z]{2,3}"):code>', "/codes/:code{[a-z]{2,3}}"),
    ("/codes/<code:[a-z]{3}>", "/codes/:code{[a-z]{3}}"),
    ("/codes/<code:re:[a-z]+>", "/codes/:code{[a-z]+}"),
    ("/tags/<lowercase:name>", "/tags/:name"),
    # A converter after Kit's own colon
    ("/users/:id:int", "/users/:id{[0-9]+}"),
    ("/users/:id:int?", "/users/:id{[0-9]+}?"),
    ("/users/:id:str", "/users/:id"),
    ("/users/:id:int{[0-9]{3}}", "/users/:id{[0-9]{3}}"),
    ("/tags/:name:lowercase/x", "/tags/:name/x"),
    # Express
    ("/flights/:from-:to", r"/flights/:from_to{[^/]+\-[^/]+}"),
    ("/:name.:type.gz", r"/:name_type{[^/]+\.[^/]+\.gz}"),
    # Several, and beside Kit's own
    ("/{org}/<int:id>", "/:org/:id{[0-9]+}"),
    ("/:org{[a-z]+}/{id}/:tab?", "/:org{[a-z]+}/:id/:tab?"),
    # A part of a segment
    ("/files/{name}.json", r"/files/:name{[^/]+\.json}"),
    ("/v{version:int}/docs", "/:version{v[0-9]+}/docs"),
    ("/{a}x{b}", "/:a_b{[^/]+x[^/]+}"),
    ("/<any(a,b):kind>.txt", r"/:kind{(?:a|b)\.txt}"),
]

OWN = [
    "/",
    "*",
    "/users/:id",
    "/users/:id?",
    "/users/:id{[0-9]+}",
    "/users/:id{[0-9]{2}}?",
    "/users/:id{a:b}",
    "/users:batch",
    "/::1",
    "/:a:",
    "/users/:id{id}",
    "/users/:name{(?P<x>a)}",
    "/users/:name{<b>}",
    "/:file{[a-z]+}.json",
    "/:name{abc}.json",
    "/a{2}",
    "/a{b,c}",
    "/a{",
    "/a}",
    "/{}",
    "/<>",
    "/a<b",
    "/a>b",
    "/(?P<id>[0-9]+)",
    "/%7Bid%7D",
]


@pytest.mark.parametrize(("path", "pattern"), FOREIGN)
def test_foreign(path: str, pattern: str) -> None:
    assert foreign_syntax(path) == pattern
    assert foreign_syntax(pattern) is None
    TrieRouter[str]().add("GET", pattern, "handler")  # refuses what is no pattern of Kit's


@pytest.mark.parametrize("path", OWN)
def test_own(path: str) -> None:
    assert foreign_syntax(path) is None


@pytest.mark.parametrize(
    ("path", "taken", "not_taken"),
    [
        ("/x/{id:int}", "/x/42", "/x/a"),
        ("/x/{n:float}", "/x/1.5", "/x/1."),
        ("/x/{id:uuid}", "/x/01234567-89ab-cdef-0123-456789abcdef", "/x/0123"),
        ("/x/{rest:path}", "/x/a/b", "/x"),
        ("/x/<any(a.b, c):k>", "/x/a.b", "/x/aab"),
        ("/x/{name}.json", "/x/a.json", "/x/a.xml"),
        ("/x/<slug:s>", "/x/a-b_1", "/x/a.b"),
    ],
)
def test_translation_takes_what_the_other_takes(path: str, taken: str, not_taken: str) -> None:
    router: TrieRouter[str] = TrieRouter()
    router.add("GET", str(foreign_syntax(path)), "handler")
    assert len(router.match("GET", taken)[0]) == 1
    assert len(router.match("GET", not_taken)[0]) == 0


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
    assert foreign_syntax(path + end) is None


@given(st.text(alphabet="{}<>:/ab1?*()P[]+.", max_size=14))
def test_what_comes_of_any_text_is_not_foreign(path: str) -> None:
    pattern = foreign_syntax(path)
    assert pattern != path
    assert pattern is None or foreign_syntax(pattern) is None
