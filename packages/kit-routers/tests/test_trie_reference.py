# SPDX-License-Identifier: MIT
"""TrieRouter against one regular expression per route, and what it refuses and says."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kit.router
from kit.interface import RouterClosedError, UnsupportedPathError
from kit.router import TrieRouter

SEGMENT = st.sampled_from(["a", "b", "ab", "é", "a.b", ":x", ":y", ":z{[a-z]+}", "*"])
PATTERN = st.lists(SEGMENT, max_size=4).map(lambda s: "/" + "/".join(s))
PATH = st.lists(st.sampled_from(["", "a", "b", "ab", "é", "a.b", "0", ":x", "*"]), max_size=5).map(
    lambda s: "/" + "/".join(s)
)
METHOD = st.sampled_from(["GET", "POST", "ALL"])


def reference(pattern: str) -> re.Pattern[str]:
    """A pattern whose last `*` is the rest and may be absent, and whose others are segments."""
    segments = pattern[1:].split("/")
    expression = ""
    for number, segment in enumerate(segments):
        last = number == len(segments) - 1
        if segment == "*":
            # Hono's wart: behind another `*`, a last one can't be absent.
            optional = "" if segments[number - 1 : number] == ["*"] else "?"
            expression += f"(?:/.*){optional}" if last else "/[^/]*"
        elif match := re.fullmatch(r":(\w+)(?:\{(.+)\})?", segment):
            expression += f"/(?P<{match[1]}_{number}>{match[2] or '[^/]+'})"
        else:
            expression += "/" + re.escape(segment)
    return re.compile(expression, re.DOTALL | re.ASCII)


def expected(routes: list[tuple[str, str]], method: str, path: str) -> list[tuple[int, Any]]:
    found = []
    for number, (m, pattern) in enumerate(routes):
        match = reference(pattern).fullmatch(path)
        if m in (method, "ALL") and match:
            params: dict[str, str] = {}
            for name, value in match.groupdict().items():
                params.setdefault(name.partition("_")[0], value)
            found.append((number, params))
    return found


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(METHOD, PATTERN), max_size=7), st.lists(PATH, min_size=1, max_size=3))
@example([("GET", "/*"), ("GET", "/a/*")], ["/a", "/"])
@example([("GET", "/*/*"), ("GET", "/:x/*")], ["/", "/a", "/a/", "/a/b"])
@example([("GET", "/*/a"), ("GET", "/:x/a")], ["//a"])
def test_every_route_as_if_it_were_alone(routes: list[tuple[str, str]], paths: list[str]) -> None:
    router: TrieRouter[int] = TrieRouter()
    for number, (method, pattern) in enumerate(routes):
        router.add(method, pattern, number)
    for path in [*paths, *paths]:
        for method in ("GET", "POST", "PURGE"):
            [found] = router.match(method, path)
            assert [(handler, dict(params)) for handler, params in found] == expected(
                routes, method, path
            )


@given(st.lists(PATTERN, min_size=1, max_size=5), PATH)
def test_a_route_more_changes_nothing_for_the_others(patterns: list[str], path: str) -> None:
    small: TrieRouter[int] = TrieRouter()
    large: TrieRouter[int] = TrieRouter()
    for number, pattern in enumerate(patterns):
        large.add("GET", pattern, number)
        if number < len(patterns) - 1:
            small.add("GET", pattern, number)
    rest = [pair for pair in large.match("GET", path)[0] if pair[0] != len(patterns) - 1]
    assert rest == small.match("GET", path)[0]


@given(st.text(max_size=12), st.text(max_size=8))
def test_any_path_gets_an_answer(path: str, method: str) -> None:
    router: TrieRouter[str] = TrieRouter()
    for pattern in ("*", "/:a", "/a/:b{.*}", "/a*", "/:x?", "/é/*/b"):
        router.add("ALL", pattern, pattern)
    [found] = router.match(method, path)
    assert len(found[:1]) == 1  # `*` matches whatever it is
    assert found[0] == ("*", {})


def router_of(*patterns: str) -> TrieRouter[str]:
    router: TrieRouter[str] = TrieRouter()
    for pattern in patterns:
        router.add("GET", pattern, pattern)
    return router


def matched(router: TrieRouter[Any], path: str, method: str = "GET") -> list[Any]:
    return [(handler, dict(params)) for handler, params in router.match(method, path)[0]]


@pytest.mark.parametrize(
    ("pattern", "path", "params"),
    [
        pytest.param("/:id{(?i)[a-z]+}", "/AbC", {"id": "AbC"}, id="global flag"),
        pytest.param("/:id{(?i:[a-z]+)}", "/AbC", {"id": "AbC"}, id="flag of a group"),
        pytest.param("/:id{(a|b)c}", "/bc", {"id": "bc"}, id="capturing group"),
        pytest.param("/:id{(.)\\1}", "/aa", {"id": "aa"}, id="back-reference"),
        pytest.param("/:id{(.)\\1}", "/ab", None, id="back-reference, other"),
        pytest.param("/:id{(?P<n>.)(?P=n)}", "/aa", {"id": "aa"}, id="named group"),
        pytest.param("/:id{(?!me$).+}", "/you", {"id": "you"}, id="look-ahead"),
        pytest.param("/:id{(?!me$).+}", "/me", None, id="look-ahead, refused"),
        pytest.param("/:id{^[0-9]+$}", "/12", {"id": "12"}, id="anchors"),
        pytest.param("/:id{[0-9]+$}", "/12\n", None, id="a newline is no end"),
        pytest.param("/:id{\\w+}", "/é", None, id="words are ASCII"),
        pytest.param("/:a{.*}", "/", {"a": ""}, id="empty"),
        pytest.param("/x/:a{.*}", "/x", None, id="empty, without its slash"),
        pytest.param("/:d{[0-9]{4}-[0-9]{2}}/x", "/2026-01/x", {"d": "2026-01"}, id="two braces"),
        pytest.param("/:a{[a-z]+}/:b{[0-9]+}", "/ab/12", {"a": "ab", "b": "12"}, id="two"),
        pytest.param("/:p{.+\\.png}", "/a/b.png", {"p": "a/b.png"}, id="slashes and an end"),
        pytest.param("/:p{.+}/x/y", "/a/x/x/y", {"p": "a/x"}, id="greedy"),
        pytest.param("/v:x", "/v:x", {}, id="no parameter within a segment"),
        pytest.param("/:", "/:", {}, id="colon alone"),
        pytest.param("/:id{}", "/:id{}", {}, id="no expression"),
        pytest.param("/a?", "/a?", {}, id="question mark, no parameter"),
        pytest.param("/a//b", "/a//b", {}, id="empty segment"),
        pytest.param("/a//b", "/a/b", None, id="empty segment, missing"),
        pytest.param("/:x/", "/a/", {"x": "a"}, id="slash at the end"),
        pytest.param("/:x/", "/a", None, id="slash at the end, missing"),
        pytest.param("/:x?", "/a/", None, id="optional, slash too many"),
        pytest.param("/:x?/b", "/b", None, id="optional only at the end"),
        pytest.param("/a/:x{[0-9]+}?", "/a", {}, id="optional with an expression, absent"),
        pytest.param("/a/:x{[0-9]+}?", "/a/1", {"x": "1"}, id="optional with an expression"),
        pytest.param("/a/:x{[0-9]+}?", "/a/b", None, id="optional with an expression, other"),
        pytest.param("/a*/b", "/ax/b", None, id="star within a path is a letter"),
    ],
)
def test_pattern(pattern: str, path: str, params: dict[str, str] | None) -> None:
    assert matched(router_of(pattern), path) == ([] if params is None else [(pattern, params)])


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        pytest.param("/:a/b?", ["/x", "/x/b", "/x/b?"], id="question mark behind a parameter"),
        pytest.param("/x/a:b?", ["/x", "/x/a:b", "/x/a:b?"], id="colon within the segment"),
    ],
)
def test_no_route_disappears_in_silence(pattern: str, paths: list[str]) -> None:
    try:
        router = router_of(pattern)
    except (UnsupportedPathError, UserWarning):
        return
    assert [path for path in paths if matched(router, path)]


def test_a_refused_route_is_named_as_it_was_given() -> None:
    path = "/:x?/:y{[}?"
    with pytest.raises(UnsupportedPathError) as caught:
        router_of(path)
    assert (caught.value.path, caught.value.position) == (path, path.index("["))


@pytest.mark.parametrize(
    ("path", "position", "reason"),
    [
        ("/:a{*}", 4, "invalid regular expression '*': nothing to repeat"),
        ("/a/:b{x(?P<n}", 11, "invalid regular expression 'x(?P<n': missing >, unterminated name"),
        ("/:a{[z-a]}", 5, "invalid regular expression '[z-a]': bad character range z-a"),
        ("/:a{\\2}", 5, "invalid regular expression '\\\\2': invalid group reference 2"),
        ("/:a{(?<=a+)b}", 4, None),
        ("/:a{" + "(" * 5000 + ")" * 5000 + "}", None, None),
    ],
    ids=["star", "name", "range", "reference", "look-behind", "nested"],
)
def test_refusals(path: str, position: int | None, reason: str | None) -> None:
    router = router_of("/ok")
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", path, "bad")
    error = caught.value
    assert (error.path, error.method) == (path, "GET")
    assert error.__cause__ is not None
    if position is not None:
        assert error.position == position
    if reason is not None:
        assert error.reason == reason
    assert matched(router, "/ok") == [("/ok", {})]
    assert matched(router, path) == []


@pytest.mark.parametrize("asked", ["/a", "/b/1", "/none", ""])
def test_closed_by_any_match(asked: str) -> None:
    router = router_of("/a", "/b/:x")
    router.match("GET", asked)
    for path in ("/a", "/new", "/:id{[}"):
        with pytest.raises(RouterClosedError) as caught:
            router.add("PUT", path, "late")
        assert str(caught.value).startswith(f"Can't add the route PUT {path!r}: the router has")
    assert matched(router, "/new") == []


def test_empty_router() -> None:
    assert TrieRouter[str]().match("GET", "/") == ([],)


def test_results_do_not_share_parameters() -> None:
    router = router_of("/:a/:b", "/:a/*")
    first = router.match("GET", "/x/y")[0]
    second = router.match("GET", "/p/q")[0]
    assert first == [("/:a/:b", {"a": "x", "b": "y"}), ("/:a/*", {"a": "x"})]
    assert second == [("/:a/:b", {"a": "p", "b": "q"}), ("/:a/*", {"a": "p"})]


def test_first_matches_in_many_threads_at_once() -> None:
    """Tables are filled by the first match; whoever comes second must not see them half-made."""
    for _ in range(30):
        router = router_of("*", *(f"/p{n}" for n in range(20)), "/:x")
        start = threading.Barrier(6)
        wrong: list[Any] = []

        def work(router: TrieRouter[str], start: threading.Barrier, wrong: list[Any]) -> None:
            start.wait()
            for n in range(20):
                want = [("*", {}), (f"/p{n}", {}), ("/:x", {"x": f"p{n}"})]
                if (got := matched(router, f"/p{n}")) != want:
                    wrong.append(got)

        threads = [threading.Thread(target=work, args=(router, start, wrong)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_any_object_is_a_handler() -> None:
    marker = object()
    router: TrieRouter[object] = TrieRouter()
    router.add("GET", "/a", marker)
    router.add("GET", "/a", None)
    [found] = router.match("GET", "/a")
    assert [handler for handler, _ in found] == [marker, None]


def test_surface() -> None:
    assert TrieRouter.name == TrieRouter().name == "TrieRouter"
    for name in kit.router.__all__:
        assert getattr(kit.router, name).__doc__


def test_errors_of_a_router_survive_pickle_and_copy() -> None:
    with pytest.raises(UnsupportedPathError) as caught:
        router_of("/:a{[}")
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert (str(again), again.position) == (str(caught.value), 5 - 1)
