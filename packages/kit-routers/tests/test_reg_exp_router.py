# SPDX-License-Identifier: MIT
"""RegExpRouter: what it refuses, how it is cut into expressions, and when it asks TrieRouter."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from kit.interface import RouterClosedError, UnsupportedPathError
from kit.router import RegExpRouter, TrieRouter
from kit.router.testing import resolve


def router_of(*patterns: str) -> RegExpRouter[str]:
    router: RegExpRouter[str] = RegExpRouter()
    for pattern in patterns:
        router.add("GET", pattern, pattern)
    return router


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The expressions that are compiled, from the moment that a test clears it."""
    expressions: list[str] = []
    real = re.compile

    def noted(pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        expressions.append(str(pattern))
        return real(pattern, flags)

    monkeypatch.setattr(re, "compile", noted)
    return expressions


def test_match_object_is_the_stash() -> None:
    handlers, stash = router_of("/users/:id/posts/:post").match("GET", "/users/1/posts/2")
    assert isinstance(stash, re.Match)
    [(handler, indexes)] = handlers
    assert handler == "/users/:id/posts/:post"
    assert {name: stash[index] for name, index in indexes.items()} == {"id": "1", "post": "2"}


@pytest.mark.parametrize("expression", ["a(b|c)", "(a|b)\\1", "(?i)a", "(?P<x>a)(?P=x)"])
def test_groups_references_and_flags_are_refused(expression: str) -> None:
    router = router_of("/kept")
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", f"/x/:y{{{expression}}}", "late")
    assert caught.value.position == len("/x/:y{")
    assert repr(expression) in caught.value.reason
    assert "capturing groups, back-references or flags" in caught.value.reason
    assert resolve(router.match("GET", "/kept")) == [("/kept", {})]
    assert resolve(router.match("GET", "/x/ab")) == []


@pytest.mark.parametrize("pattern", ["/:x{(a|b)}", "/:x{(a(?:b)?|b)}", "/:x{([)]a|b)}"])
def test_a_group_around_the_whole_is_none(pattern: str) -> None:
    assert resolve(router_of(pattern).match("GET", "/b")) == [(pattern, {"x": "b"})]


@pytest.mark.parametrize("pattern", ["/:x{(a)|(b)}", "/:x{(a)(b)}", "/:x{(a\\)|(b)}"])
def test_two_groups_are_no_group_around_the_whole(pattern: str) -> None:
    with pytest.raises(UnsupportedPathError):
        router_of(pattern)


def test_invalid_expression_says_what_and_where() -> None:
    with pytest.raises(UnsupportedPathError) as caught:
        router_of("/a/:id{[0-9}")
    assert str(caught.value).startswith("Unsupported route GET '/a/:id{[0-9}' at position 7")


def test_route_after_the_first_match() -> None:
    router = router_of("/a")
    router.match("GET", "/a")
    with pytest.raises(RouterClosedError, match="Can't add the route GET '/late'"):
        router.add("GET", "/late", "late")


def test_many_literals_need_few_and_small_expressions() -> None:
    patterns = [f"/r{number}/:id/{verb}" for number in range(300) for verb in ("", "edit", ":x")]
    patterns += [f"/api/v1/s{number}/:id" for number in range(300)]
    router = router_of(*patterns)
    used: set[re.Pattern[str]] = set()
    for pattern in patterns:
        _, *rest = router.match("GET", pattern.replace(":id", "1").replace(":x", "y"))
        used.update(stash.re for stash in rest if isinstance(stash, re.Match))
    assert max(expression.groups for expression in used) <= 100
    # Routes of one shape have one expression.
    assert 0 < len(used) < 10
    assert resolve(router.match("GET", "/r7/1/edit"))[0] == ("/r7/:id/edit", {"id": "1"})
    assert resolve(router.match("GET", "/api/v1/s299/x")) == [("/api/v1/s299/:id", {"id": "x"})]
    assert resolve(router.match("GET", "/api/v2/s299/x")) == []
    assert resolve(router.match("GET", "/api")) == []


def test_expressions_are_compiled_when_they_are_needed(compiled: list[str]) -> None:
    router = router_of(*(f"/r{number}/:id{{[a-z]+}}/{number}" for number in range(200)))
    router.match("GET", "/nothing")
    compiled.clear()
    for number in range(3):
        _, stash = router.match("GET", f"/r{number}/x/{number}")
        assert isinstance(stash, re.Match)
        assert len(compiled) == number + 1
        assert compiled[-1] == stash.re.pattern


def test_overlapping_routes_beyond_measure_are_left_to_the_trie() -> None:
    """Each pattern has its literal at another depth, so every subset of them is a state."""
    depth = 24
    patterns = [
        "/" + "/".join("a" if at == number else f":p{at}" for at in range(depth))
        for number in range(depth)
    ]
    router, trie = router_of(*patterns), TrieRouter[str]()
    for pattern in patterns:
        trie.add("GET", pattern, pattern)
    for path in ("/a" * depth, "/b" * depth, "/a/b" * (depth // 2), "/b/a/a/b" * (depth // 4)):
        assert resolve(router.match("GET", path)) == resolve(trie.match("GET", path))


def test_patterns_of_hundreds_of_segments() -> None:
    router = router_of("/a" * 500 + "/:x", "/a/:y/*")
    assert resolve(router.match("GET", "/a" * 500 + "/1")) == [
        ("/a" * 500 + "/:x", {"x": "1"}),
        ("/a/:y/*", {"y": "a"}),
    ]


def test_unknown_methods_share_one_table(compiled: list[str]) -> None:
    """A client makes up as many methods as it likes; none of them may cost memory."""
    router: RegExpRouter[str] = RegExpRouter()
    router.add("GET", "/a/:x", "get")
    router.add("ALL", "/a/:y{[0-9]+}", "all")
    assert resolve(router.match("FIRST", "/a/1")) == [("all", {"y": "1"})]
    compiled.clear()
    for number in range(100):
        assert resolve(router.match(f"M{number}", "/a/1")) == [("all", {"y": "1"})]
    assert compiled == []


SEEN = ("/", "/users/me", "/users/:id", "/users/:id/posts", "/files/*", "/:page{[a-z]+}.html")


def paths_of(number: int) -> list[str]:
    """A few paths that come again and again, and some that come once."""
    new = [f"/users/{number}", f"/users/{number}/posts", f"/files/{number}/a", f"/no/{number}"]
    return [*new, "/", "/users/me", "/users/7", "/files/a/b", "/about.html", "/no", "/" + "a" * 300]


@pytest.mark.parametrize("method", ["GET", "PURGE"])
def test_paths_seen_again_have_the_same_result(method: str) -> None:
    router, reference = router_of(*SEEN), TrieRouter[str]()
    for pattern in SEEN:
        reference.add("GET", pattern, pattern)
    for pattern in ("/users/:name", "*"):
        router.add("ALL", pattern, f"all {pattern}")
        reference.add("ALL", pattern, f"all {pattern}")
    for number in range(6_000):
        for path in paths_of(number) if number % 20 == 0 else paths_of(number)[:4]:
            found = router.match(method, path)
            assert resolve(found) == resolve(reference.match(method, path)), path


def test_first_matches_in_threads() -> None:
    for _ in range(20):
        router = router_of(*(f"/r{number}/:id" for number in range(100)))
        barrier = threading.Barrier(6)
        found: list[Any] = []

        def match(
            number: int,
            router: RegExpRouter[str] = router,
            barrier: threading.Barrier = barrier,
            found: list[Any] = found,
        ) -> None:
            barrier.wait()
            found.append(resolve(router.match("GET", f"/r{number}/x")))

        threads = [threading.Thread(target=match, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [[(f"/r{number}/:id", {"id": "x"})] for number in range(6)]
