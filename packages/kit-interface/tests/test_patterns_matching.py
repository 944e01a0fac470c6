# SPDX-License-Identifier: MIT
"""`path_matcher` matches what routers match."""

from __future__ import annotations

import itertools
import json
import re
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit.router
from kit import Context, Kit, Next
from kit.interface import UnsupportedPathError
from kit.interface.patterns import path_matcher
from kit.router import TrieRouter

SEGMENTS = [
    "", "a", "b", "ab", "*", "a*", ":x", ":y", ":x{[0-9]+}", ":x{a|b}", ":x{.+}", ":x{.*}",
    ":x{a/b}",
    ":x{[a-z]+/b}", ":x{[a-b]*}", ":x{(a)b?}", ":x{a(?=/b)}", ":x{^a$}", ":x{a$|b}", ":x{(?i)A}",
    "a.c",
]  # fmt: skip
TEXTS = ["", "a", "b", "ab", "abc", "1", "a.c", "axc", "é", "*", ":x", "%2F"]
patterns = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=4).map("/".join)
optional = st.builds(
    lambda start, count: "/".join([*start, *[":x?", ":y?"][:count]]),
    st.lists(st.sampled_from(["a", "b", ":z"]), min_size=1, max_size=2),
    st.integers(1, 2),
)
paths = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5).map(lambda s: "/" + "/".join(s))


def routed(pattern: str, path: str) -> bool | str:
    """Whether it matches, or why the pattern is refused."""
    router: TrieRouter[bool] = TrieRouter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            router.add("ALL", pattern, True)
        except UnsupportedPathError as error:
            return error.reason
    return bool(router.match("GET", path)[0])


def matched(pattern: str, path: str) -> bool | str:
    try:
        matches = path_matcher(pattern)
    except UnsupportedPathError as error:
        return error.reason
    return matches(path)


@given(pattern=patterns.map("/".__add__), path=paths)
def test_as_a_router(pattern: str, path: str) -> None:
    assert matched(pattern, path) == routed(pattern, path)


@pytest.mark.parametrize("first", SEGMENTS)
def test_two_segments_as_a_router(first: str) -> None:
    texts = ["", "a", "b", "ab", "1"]
    paths = [
        "/" + "/".join(chosen)
        for count in (1, 2, 3)
        for chosen in itertools.product(texts, repeat=count)
    ]
    for second in SEGMENTS:
        pattern = f"/{first}/{second}"
        router: TrieRouter[bool] = TrieRouter()
        try:
            matches = path_matcher(pattern)
        except UnsupportedPathError as error:
            with pytest.raises(UnsupportedPathError, match=re.escape(error.reason)):
                router.add("ALL", pattern, True)
            continue
        router.add("ALL", pattern, True)
        for path in paths:
            assert matches(path) == bool(router.match("GET", path)[0]), (pattern, path)


@given(pattern=optional.map("/".__add__), path=paths)
def test_optional_parameters_as_a_router(pattern: str, path: str) -> None:
    assert path_matcher(pattern)(path) == routed(pattern, path)


@given(chosen=st.lists(patterns.map("/".__add__), max_size=4), path=paths)
def test_any_of_several(chosen: list[str], path: str) -> None:
    taken = [pattern for pattern in chosen if not isinstance(matched(pattern, path), str)]
    assert path_matcher(*taken)(path) == any(routed(pattern, path) for pattern in taken)


def test_the_cases_of_the_routers() -> None:
    """Those that every router passes, as far as they are of one pattern."""
    file = Path(kit.router.__file__).parent / "conformance_cases.json"
    asked = 0
    for case in json.loads(file.read_text()):
        for route in case["routes"]:
            pattern = route.partition(" ")[2]
            try:
                matches = path_matcher(pattern)
            except UnsupportedPathError:
                continue
            for request in case.get("answers", ()):
                asked += 1
                path = request.partition(" ")[2]
                assert matches(path) == routed(pattern, path), (pattern, path)
    assert asked > 100


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/a/:x?/b", "/a/b"),
        ("/a/:x?/b", "/a/1/b"),
        ("/a/:x?/b", "/a/1/2/b"),
        ("/:lang{de|en}?/about", "/about"),
        ("/:lang{de|en}?/about", "/de/about"),
        ("/:lang{de|en}?/about", "/fr/about"),
        ("/x/%7Bid%7D", "/x/{id}"),
        ("/x/%3Cid%3E/*", "/x/<id>/1"),
        ("/café/*", "/caf%C3%A9/1"),
        ("/a%2Fb", "/a%2Fb"),
        ("/a%2Fb", "/a/b"),
        ("no-slash/*", "/no-slash/1"),
        ("*", "/"),
    ],
)
async def test_as_an_app(pattern: str, path: str) -> None:
    found: list[bool] = []
    matches = path_matcher(pattern)
    app = Kit()

    async def ask(c: Context, next: Next) -> None:
        found.append(matches(c.req.path))
        await next()

    app.use(ask)
    app.get(pattern, lambda c: c.text("here"))
    response = await app.request(path)
    assert found == [response.status == 200]


def test_no_patterns() -> None:
    assert not path_matcher()("/")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "it is empty; the root is '/'"),
        ("/users/{id}", "is no parameter of Kit"),
        ("/users/<int:id>", "is no parameter of Kit"),
        ("/a?b=1", "a path can't contain '?' or '#'"),
        ("/a#b", "a path can't contain '?' or '#'"),
        ("/:x{a/b}?", "it can't match any path"),
        ("/caf%C3%A9", "paths are decoded before they are matched: write 'café'"),
        (
            "/:x{[0-9}",
            "invalid regular expression '[0-9': unterminated character set",
        ),
    ],
)
def test_patterns_that_match_nothing(pattern: str, reason: str) -> None:
    with pytest.raises(UnsupportedPathError) as raised:
        path_matcher("/fine", pattern)
    assert raised.value.path == pattern
    assert reason in raised.value.reason
