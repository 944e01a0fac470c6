# SPDX-License-Identifier: MIT
"""Which expressions the routers take, and that they match what TrieRouter has them match."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from kit.interface import Router, UnsupportedPathError
from kit.router import (
    LinearRouter,
    PatternRouter,
    RegExpRouter,
    TrieRouter,
    default_router,
)
from kit.router.testing import resolve

SEGMENT = [
    "a",
    "[a-z]+",
    r"\d{1,2}",
    r"\w*",
    "(?:a|b)?",
    r"\.",
    "a-b!",
    "%",
    "x'y",
    r"\x41",
    "[^/]",
]
SLASHES = [".", "/", "a/b", "[^a]+", r"\W", r"\x2f", "[+-9]", r"\D\d", "(?:a|.)", "//"]
AROUND = [
    *("^a", "a$", r"\Aa", r"a\Z", r"\bx", r"x\B"),
    *("a(?=b)", "(?!a)b", "(?<=a)b", "(?<!a)b"),
]
REFERENCES = ["a(b|c)", r"(a)\1", "(?P<x>a)", "(?P<x>a)(?P=x)", "(?i)a", "(?i:a)"]


PATHS = [
    "/x/" + "/".join(parts)
    for count in (1, 2, 3)
    for parts in itertools.product(("a", "b", "ab", "x", ".", "42", "A", ""), repeat=count)
]


ROUTERS = [LinearRouter, PatternRouter, RegExpRouter, TrieRouter]


def answers(router: RegExpRouter[str] | TrieRouter[str]) -> dict[str, Any]:
    return {path: resolve(router.match("GET", path)) for path in PATHS}


@pytest.mark.parametrize("expression", [*SEGMENT, *SLASHES, *AROUND])
def test_reg_exp_router_takes_what_has_no_groups(expression: str) -> None:
    """Alone, and before what else may take the path."""
    router, trie = RegExpRouter[str](), TrieRouter[str]()
    for pattern in (f"/x/:p{{{expression}}}", "/x/:p/b", "/*"):
        router.add("GET", pattern, pattern)
        trie.add("GET", pattern, pattern)
    assert answers(router) == answers(trie)


@pytest.mark.parametrize("expression", [*SEGMENT, *SLASHES])
def test_only_some_expressions_take_a_slash(expression: str) -> None:
    router: RegExpRouter[str] = RegExpRouter()
    router.add("GET", f"/x/:p{{{expression}}}", "handler")
    found = {params["p"] for path in PATHS for _, params in resolve(router.match("GET", path))}
    assert any("/" in value for value in found) <= (expression in SLASHES)


@pytest.mark.parametrize("expression", [*REFERENCES, "((a))", "(a)(b)", "(a)|(b)", "(a)+", "a(b)"])
def test_reg_exp_router_refuses_groups_and_trie_router_takes_them(expression: str) -> None:
    path = f"/x/:p{{{expression}}}"
    with pytest.raises(UnsupportedPathError) as caught:
        RegExpRouter[int]().add("GET", path, 1)
    assert str(caught.value).startswith(f"Unsupported route GET {path!r} at position 6")
    trie = TrieRouter[int]()
    trie.add("GET", path, 1)
    assert resolve(trie.match("GET", "/x/none")) == []


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("(a|b)", "a"),
        ("(1|2)", "2"),
        ("(!|a)", "!"),
        ("((?:a)|b)", "b"),
        (r"(a\))", "a)"),
        ("([)])", ")"),
        ("([(])", "("),
        ("a", "a"),
        ("(?:a)", "a"),
    ],
)
def test_a_group_around_the_whole_is_none(expression: str, value: str) -> None:
    router: RegExpRouter[int] = RegExpRouter()
    router.add("GET", f"/x/:p{{{expression}}}", 1)
    assert resolve(router.match("GET", f"/x/{value}")) == [(1, {"p": value})]
    assert resolve(router.match("GET", f"/x/{value}{value}")) == []


@pytest.mark.parametrize("make", [TrieRouter, LinearRouter, PatternRouter, default_router])
@pytest.mark.parametrize(
    ("expression", "taken", "left"),
    [
        (r"(a|b)\1", "aa", "ab"),
        (r"(a)?(?(1)b|c)", "ab", "ac"),
        ("(?P<p>a)(?P=p)", "aa", "a"),
        ("(?i)a+", "aA", "b"),
        ("(?i:a+)", "aA", "b"),
        ("^a$", "a", "aa"),
        (r"\Aa\Z", "a", "b"),
        ("(?!ab$)[a-z]+", "abc", "ab"),
        ("(?!.*b)[a-z]+", "ac", "ab"),
        (r"\ba\b", "a", "b"),
        ("a(?=b).", "ab", "ac"),
    ],
)
@pytest.mark.parametrize("rest", ["", "/c", "/:rest", "/*"])
def test_an_expression_sees_its_value_only(
    make: Callable[[], Router[int]], expression: str, taken: str, left: str, rest: str
) -> None:
    """Whatever follows: a guard must not depend on it."""
    router = make()
    router.add("GET", f"/x/:v{{{expression}}}{rest}", 1)
    end = "/c" if rest else ""
    [(handler, params)] = resolve(router.match("GET", f"/x/{taken}{end}"))
    assert (handler, params["v"]) == (1, taken)
    assert resolve(router.match("GET", f"/x/{left}{end}")) == []


@pytest.mark.parametrize("make", [*ROUTERS, default_router])
@pytest.mark.parametrize(
    ("pattern", "path", "params"),
    [
        ("/files/:path{.+}/:rev", "/files/a/b/3", {"path": "a/b", "rev": "3"}),
        ("/files/:path{.+}/:rev", "/files/a/3", {"path": "a", "rev": "3"}),
        ("/files/:path{.+}/:rev", "/files/a//3", {"path": "a/", "rev": "3"}),
        ("/files/:path{.+}/:rev", "/files/3", None),
        ("/files/:path{.*}/:rev", "/files//3", {"path": "", "rev": "3"}),
        ("/:a{.+}/:b{.+}/:c", "/1/2/3/4", {"a": "1/2", "b": "3", "c": "4"}),
        ("/:a{.+?}/:b{.+}", "/1/2/3", {"a": "1", "b": "2/3"}),
        ("/:a{.+}/edit/:b", "/x/edit/edit", {"a": "x", "b": "edit"}),
        ("/:a{.+}/edit/:b", "/x/edit/1/edit/2", {"a": "x/edit/1", "b": "2"}),
        ("/:a{.+}/:b{[0-9]+}/*", "/x/1/y/2", {"a": "x/1/y", "b": "2"}),
        ("/:a{.+}/:b{[0-9]+}/*", "/x/1/y", {"a": "x", "b": "1"}),
        ("/:a{.+}/*/c", "/x/y/c", {"a": "x", "b": None}),
        ("/:a{[a-z/]+}/c*", "/a/b/cd/e", {"a": "a/b"}),
        ("/:a/:b{a/b}/:c/:d{(?!x).}", "/1/a/b/2/y", {"a": "1", "b": "a/b", "c": "2", "d": "y"}),
        ("/:a/:b{a/b}/:c/:d{(?!x).}", "/1/a/b/2/x", None),
        ("/:a{^1$}/:b{.+}/c", "/1/2/3/c", {"a": "1", "b": "2/3"}),
        ("/:a{^1$}/:b{.+}/c", "/11/2/3/c", None),
        ("/:a{[0-9/]+}/:b?", "/1/2/x", {"a": "1/2", "b": "x"}),
        ("/x/:a{^.+$}", "/x/1/2", {"a": "1/2"}),
        ("/x/:a{(?!2).+}", "/x/1/2/", {"a": "1/2/"}),
        ("/x/:a{(?!2).+}", "/x/2/1", None),
    ],
)
def test_an_expression_before_the_end_may_match_slashes(
    make: Callable[[], Router[int]], pattern: str, path: str, params: dict[str, str | None] | None
) -> None:
    router = make()
    router.add("GET", pattern, 1)
    # A table where something else may match the same path.
    with contextlib.suppress(UnsupportedPathError):
        router.add("POST", "/:a/:b/*", 2)
    if params is not None:
        params = {name: value for name, value in params.items() if value is not None}
    found = resolve(router.match("GET", path))
    assert found == ([] if params is None else [(1, params)])


@pytest.mark.parametrize("make", [*ROUTERS, default_router])
@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("^.+", "anchors"),
        (".+$", "anchors"),
        ("(?!b$).+", "anchors"),
        (r"(?:.)(a)\1", "references, named groups or flags"),
        ("(?P<p>.+)", "references, named groups or flags"),
        ("(?i).+", "references, named groups or flags"),
    ],
)
@pytest.mark.parametrize("rest", ["/:rev", "/raw", "/*"])
def test_what_cannot_be_combined_is_refused_at_registration(
    make: Callable[[], Router[int]], expression: str, found: str, rest: str
) -> None:
    router = make()
    pattern = f"/x/:p{{{expression}}}{rest}"
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", pattern, 1)
    if make is RegExpRouter and found != "anchors":
        return  # it refuses groups in any place
    assert (caught.value.path, caught.value.position) == (pattern, 6)
    assert caught.value.reason == (
        f"{expression!r} can't have {found}, since an expression before the end of the pattern may "
        "match slashes: exclude slashes there, as in [^/]+, or use plain expressions and check the "
        "values in the handler"
    )


@pytest.mark.parametrize("make", [*ROUTERS, default_router])
def test_a_route_before_does_not_change_what_another_matches(
    make: Callable[[], Router[int]],
) -> None:
    for other in ("/t/:x/*", "/:y{(a)b}", "/:z{.+}/:w", "/s/*/t", "/u/:v{^a$}/w"):
        answers = []
        for others in ([], [other]):
            router = make()
            router.add("GET", "/about", 1)
            router.add("GET", "/a/*/c", 2)
            for each in others:
                with contextlib.suppress(UnsupportedPathError):
                    router.add("POST", each, 3)
            paths = ("/about", "/about/", "/about//", "//about", "/a//c", "/a/b/c", "/a/c")
            answers.append([resolve(router.match("GET", path)) for path in paths])
        assert answers[0] == answers[1]


@pytest.mark.parametrize("router", [RegExpRouter(), TrieRouter(), LinearRouter(), PatternRouter()])
def test_position_of_what_is_invalid(
    router: RegExpRouter[int] | TrieRouter[int] | LinearRouter[int] | PatternRouter[int],
) -> None:
    path = "/x/:id{ab[0-9}"
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", path, 1)
    assert caught.value.position == path.index("[")


@pytest.mark.parametrize("make", [*ROUTERS, default_router])
@pytest.mark.parametrize(
    ("pattern", "path", "value"),
    [
        ("/:day{[0-9]{4}/[0-9]{2}}", "/2026/11", "2026/11"),
        ("/:day{[0-9]{4}/x}/log", "/2026/x/log", "2026/x"),
        (r"/:brace{\{/\}}", "/{/}", "{/}"),
    ],
)
def test_braces_within_an_expression(make: Any, pattern: str, path: str, value: str) -> None:
    router = make()
    router.add("GET", pattern, 1)
    router.add("GET", "/unrelated", 2)
    params = {pattern[2:].partition("{")[0]: value}
    assert resolve(router.match("GET", path)) == [(1, params)]
    assert resolve(router.match("GET", "/2026/1")) == []


@pytest.mark.parametrize(
    "router", [RegExpRouter, TrieRouter, LinearRouter, PatternRouter, default_router]
)
def test_a_lookahead_sees_only_its_segment(router: Any) -> None:
    matches = router()
    matches.add("GET", "/:x{a(?=/)}/b", 1)
    matches.add("GET", "/:x{[a-z]+(?!/b)}/b", 2)
    assert [handler for handler, _ in matches.match("GET", "/a/b")[0]] == [2]


@pytest.mark.parametrize("pattern", ["/:x{(a)(b)}", "/:x{(a|b)(c)}/z", "/:x{(a)(?:b)}"])
def test_groups_beside_each_other_are_no_outer_group(pattern: str) -> None:
    with pytest.raises(UnsupportedPathError):
        RegExpRouter[int]().add("GET", pattern, 1)
