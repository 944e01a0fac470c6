# SPDX-License-Identifier: MIT
"""What the suite can't know: what this router refuses, what it says then, and where it is used."""

from __future__ import annotations

from itertools import product

import pytest
from segment_hash_router import SegmentHashRouter

from kit.interface import Router, UnsupportedPathError
from kit.router import SmartRouter, TrieRouter
from kit.router.testing import resolve


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(
            "/users/:id{[0-9]+}",
            "Unsupported route GET '/users/:id{[0-9]+}' at position 10: "
            "SegmentHashRouter doesn't support expressions in braces",
            id="expression",
        ),
        pytest.param(
            "/users/:id?",
            "Unsupported route GET '/users/:id?' at position 10: "
            "SegmentHashRouter doesn't support optional parameters: register two routes",
            id="optional parameter",
        ),
        pytest.param(
            "/a/*/status",
            "Unsupported route GET '/a/*/status' at position 3: "
            "SegmentHashRouter supports '*' only as the whole last segment",
            id="wildcard in the middle",
        ),
        pytest.param(
            "assets*",
            "Unsupported route GET 'assets*' at position 6: "
            "SegmentHashRouter supports '*' only as the whole last segment",
            id="segment that goes on",
        ),
    ],
)
def test_what_it_refuses_it_names(path: str, text: str) -> None:
    router: Router[int] = SegmentHashRouter()
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", path, 1)
    assert str(caught.value) == text


def test_a_refused_route_leaves_no_trace() -> None:
    router: Router[int] = SegmentHashRouter()
    for path in ("/a/:x?", "/a/*/b", "/a/:x{b}"):
        with pytest.raises(UnsupportedPathError):
            router.add("GET", path, 1)
    router.add("GET", "/a/:y", 2)
    assert resolve(router.match("GET", "/a/b")) == [(2, {"y": "b"})]
    assert resolve(router.match("GET", "/a")) == []


def test_short_patterns_and_paths_answer_as_in_trie_router() -> None:
    """All patterns of up to three segments, each with and without a `*`, in one table."""
    router: Router[str] = SegmentHashRouter()
    trie: Router[str] = TrieRouter()
    bodies = [
        "/".join(segments)
        for size in (1, 2, 3)
        for segments in product(("a", ":x", ""), repeat=size)
    ]
    patterns = ["*", "/*", *bodies, *(f"/{body}" for body in bodies), *(f"/{b}/*" for b in bodies)]
    # Marks that are special in one place only, and read like it in another.
    patterns += ["/:", "/:*", "/:x?/a", "/a?", "/a*b", "/a:x", "/:x/:x"]
    for pattern in patterns:
        router.add("GET", pattern, pattern)
        trie.add("GET", pattern, pattern)
    paths = [
        "/".join(segments)
        for size in (1, 2, 3, 4, 5)
        for segments in product(("a", "b", "", ":", "a?"), repeat=size)
    ]
    for path in [*paths, *(f"/{path}" for path in paths)]:
        assert resolve(router.match("GET", path)) == resolve(trie.match("GET", path)), path


def test_smart_router_falls_back_on_the_next() -> None:
    trie: TrieRouter[int] = TrieRouter()
    smart: SmartRouter[int] = SmartRouter(routers=[SegmentHashRouter(), trie])
    smart.add("GET", "/users/me", 1)
    smart.add("GET", "/users/:id{[0-9]+}", 2)
    assert resolve(smart.match("GET", "/users/7")) == [(2, {"id": "7"})]
    assert smart.active_router is trie
    [(refusing, error)] = smart.refusals
    assert refusing == "SegmentHashRouter"
    assert error.position == 10


def test_smart_router_stays_with_it() -> None:
    own: SegmentHashRouter[int] = SegmentHashRouter()
    smart: SmartRouter[int] = SmartRouter(routers=[own, TrieRouter()])
    smart.add("GET", "/users/:id", 1)
    assert resolve(smart.match("GET", "/users/7")) == [(1, {"id": "7"})]
    assert smart.active_router is own
