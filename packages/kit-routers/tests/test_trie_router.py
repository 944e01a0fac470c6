# SPDX-License-Identifier: MIT
"""TrieRouter: patterns, order, refusals, and that nothing odd gets anything but an answer."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.interface import RouterClosedError, UnsupportedPathError
from kit.router import TrieRouter


def router_of(*paths: str) -> TrieRouter[str]:
    router: TrieRouter[str] = TrieRouter()
    for path in paths:
        router.add("GET", path, path)
    return router


def matched(router: TrieRouter[Any], path: str, method: str = "GET") -> list[Any]:
    return [(handler, dict(params)) for handler, params in router.match(method, path)[0]]


@pytest.mark.parametrize(
    ("pattern", "path", "params"),
    [
        pytest.param("/", "/", {}, id="root"),
        pytest.param("/about", "/about", {}, id="literal"),
        pytest.param("/about", "/about/", None, id="literal, slash too many"),
        pytest.param("/about/", "/about", None, id="literal, slash too few"),
        pytest.param("/users/:id", "/users/42", {"id": "42"}, id="parameter"),
        pytest.param("/users/:id", "/users/", None, id="parameter, empty"),
        pytest.param("/users/:id", "/users/1/x", None, id="parameter, more"),
        pytest.param("/:a/:b", "/x/y", {"a": "x", "b": "y"}, id="two parameters"),
        pytest.param("/:a/:a", "/x/y", {"a": "x"}, id="one name twice"),
        pytest.param("/:user-id", "/x", {"user-id": "x"}, id="no identifier"),
        pytest.param("/u/:id?", "/u", {}, id="optional, absent"),
        pytest.param("/u/:id?", "/u/1", {"id": "1"}, id="optional, there"),
        pytest.param("/u/:a?/:b?", "/u/1/2", {"a": "1", "b": "2"}, id="two optional"),
        pytest.param("/u/:a?/:b?", "/u/1", {"a": "1"}, id="one of two optional"),
        pytest.param("/:x?", "/", {}, id="optional at the root"),
        pytest.param("/u/:id{[0-9]+}", "/u/42", {"id": "42"}, id="expression"),
        pytest.param("/u/:id{[0-9]+}", "/u/4x", None, id="expression, matched whole"),
        pytest.param("/u/:id{a|b}", "/u/b", {"id": "b"}, id="alternatives are grouped"),
        pytest.param("/u/:id{a|b}", "/u/bc", None, id="alternatives, matched whole"),
        pytest.param("/u/:id{\\d+}", "/u/\u0661", None, id="digits are ASCII"),
        pytest.param("/f/:path{.+}", "/f/a/b/c.txt", {"path": "a/b/c.txt"}, id="takes slashes"),
        pytest.param("/f/:p{.+}/raw", "/f/a/b/raw", {"p": "a/b"}, id="slashes, then a literal"),
        pytest.param("/f/:p{.*}", "/f/a\nb", {"p": "a\nb"}, id="newline is a character"),
        pytest.param("/x/:n{[a-z]{2}}", "/x/ab", {"n": "ab"}, id="braces within"),
        pytest.param("*", "/any/thing", {}, id="everything"),
        pytest.param("/api/*", "/api/x/y", {}, id="rest"),
        pytest.param("/api/*", "/api", {}, id="rest, absent"),
        pytest.param("/api/*", "/apix", None, id="rest, other segment"),
        pytest.param("/a/*/c", "/a/b/c", {}, id="one segment"),
        pytest.param("/a/*/c", "/a/b/b/c", None, id="one segment only"),
        pytest.param("/assets*", "/assets-v2/x.js", {}, id="prefix"),
        pytest.param("/a*/b", "/a*/b", {}, id="a star in the middle is itself"),
        pytest.param("/a*/b", "/ax/b", None, id="and no wildcard"),
        pytest.param(
            "/:p{.+}/a*/:q", "/x/a*/ab", {"p": "x", "q": "ab"}, id="so it is behind an expression"
        ),
        pytest.param("/:p{.+}/a*", "/x/ab/c", {"p": "x"}, id="prefix behind an expression"),
        pytest.param("/a-b:c", "/a-b:c", {}, id="colon within a segment"),
        pytest.param("/é", "/é", {}, id="beyond ASCII"),
    ],
)
def test_pattern(pattern: str, path: str, params: dict[str, str] | None) -> None:
    expected = [] if params is None else [(pattern, params)]
    assert matched(router_of(pattern), path) == expected


def test_all_that_match_in_registration_order() -> None:
    router = router_of("*", "/users/:id", "/users/me", "/:kind/*")
    router.add("POST", "/users/me", "post")
    router.add("ALL", "/users/*", "all")
    assert matched(router, "/users/me") == [
        ("*", {}),
        ("/users/:id", {"id": "me"}),
        ("/users/me", {}),
        ("/:kind/*", {"kind": "users"}),
        ("all", {}),
    ]
    assert matched(router, "/users/me", "POST") == [("post", {}), ("all", {})]
    assert matched(router, "/users/me", "PURGE") == [("all", {})]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("/x/:id{[0-9}", "Unsupported route GET '/x/:id{[0-9}' at", id="set"),
        pytest.param("/:a/:id{(}", "Unsupported route GET '/:a/:id{(}' at", id="group"),
        pytest.param("/:id{a{99999999999}}", "Unsupported route GET", id="too large"),
    ],
)
def test_invalid_expression(path: str, text: str) -> None:
    router = router_of("/ok")
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", path, "bad")
    assert text in str(caught.value)
    assert matched(router, "/ok") == [("/ok", {})]


def test_expression_that_would_only_be_valid_with_what_kit_puts_around_it() -> None:
    with pytest.raises(UnsupportedPathError):
        router_of("/:id{a)(?:b}")


def test_adding_after_the_first_match() -> None:
    router = router_of("/a")
    router.match("GET", "/")
    with pytest.raises(RouterClosedError, match=r"^Can't add the route GET '/b'"):
        router.add("GET", "/b", "b")


def test_optional_parameter_with_a_slash_is_refused() -> None:
    with pytest.raises(UnsupportedPathError, match="its expression has a slash"):
        router_of("/f/:path{.+/x}?")


def test_paths_and_methods_that_nobody_registered_are_not_kept() -> None:
    router = router_of("/a", "/:x")
    for number in range(100):
        router.match(f"M{number}", "/a")
    tracemalloc.start()
    for number in range(20_000):
        router.match(f"METHOD{number}", "/a")
        router.match("GET", f"/path-{number}")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100_000


def test_matching_in_threads() -> None:
    router = router_of("*", "/a/:x", "/b")
    failures: list[Any] = []

    def work(number: int) -> None:
        for _ in range(200):
            expected = [("*", {}), ("/a/:x", {"x": str(number)})]
            if matched(router, f"/a/{number}") != expected:
                failures.append(number)
            if matched(router, "/b") != [("*", {}), ("/b", {})]:
                failures.append(-number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


SEGMENT = st.one_of(
    st.sampled_from(["", "a", "b", "*", ":x", ":y", ":x?", ":x{[a-z]+}", "a*", "%", "{", "}", "?"]),
    st.text(max_size=4),
)
PATH = st.lists(SEGMENT, max_size=5).map(lambda segments: "/" + "/".join(segments))


@given(st.lists(PATH, max_size=6), PATH)
def test_every_table_gives_an_answer_or_an_error_at_add(table: list[str], path: str) -> None:
    router: TrieRouter[int] = TrieRouter()
    for number, pattern in enumerate(table):
        try:
            router.add("GET", pattern, number)
        except UnsupportedPathError as error:
            assert pattern in (error.path, "")  # noqa: PT017
    [found] = router.match("GET", path)
    numbers = [number for number, _ in found]
    assert numbers == sorted(numbers)
    # The same question has the same answer, from the table of literals or not.
    assert router.match("GET", path) == ([*found],)


@given(st.lists(st.text(st.characters(exclude_characters="/"), min_size=1), min_size=1, max_size=4))
def test_parameters_come_back_as_they_were(values: list[str]) -> None:
    pattern = "".join(f"/:p{number}" for number in range(len(values)))
    router = router_of(pattern)
    expected = {f"p{number}": value for number, value in enumerate(values)}
    assert matched(router, "/" + "/".join(values)) == [(pattern, expected)]


def test_long_paths() -> None:
    router = router_of("/*", "/:a/:b{[a-z]+}", "/x/:rest{.+}")
    path = "/x" + "/seg" * 25_000
    assert matched(router, path) == [("/*", {}), ("/x/:rest{.+}", {"rest": path[3:]})]


def test_literal_path_is_searched_once_for_each_method_that_has_routes() -> None:
    router = router_of("/a", "/a/:x", "*")
    router.add("POST", "/a", "post")
    for method in ("GET", "POST"):
        assert router.match(method, "/a") is router.match(method, "/a")
    assert router.match("GET", "/a/1") is not router.match("GET", "/a/1")
    assert router.match("BREW", "/a") is not router.match("BREW", "/a")
    assert matched(router, "/a", "POST") == [("post", {})]
