# SPDX-License-Identifier: MIT
"""RegExpRouter: which tables become expressions, how large those are, and what overlaps in them.

What answers shows in the result: a match object behind the handlers is that of an expression, a
result of one part is TrieRouter's.
"""

from __future__ import annotations

import itertools
import re

import pytest

from kit.router import RegExpRouter, TrieRouter
from kit.router.testing import resolve


class Table:
    """Routes in RegExpRouter, and in TrieRouter, which says what is right."""

    def __init__(self, *patterns: str) -> None:
        self.router, self.trie = RegExpRouter[str](), TrieRouter[str]()
        for pattern in patterns:
            self.router.add("GET", pattern, pattern)
            self.trie.add("GET", pattern, pattern)

    def expression(self, path: str) -> re.Pattern[str] | None:
        """The expression that answers a path, rightly; None if it is TrieRouter that does."""
        result = self.router.match("GET", path)
        assert resolve(result) == resolve(self.trie.match("GET", path)) != []
        if len(result) == 1:
            return None
        assert isinstance(result[1], re.Match)
        return result[1].re

    def found(self, path: str) -> list[str]:
        """The patterns that match a path, rightly."""
        result = resolve(self.router.match("GET", path))
        assert result == resolve(self.trie.match("GET", path))
        return [pattern for pattern, _ in result]


# Size -----------------------------------------------------------------------------------------


def test_few_routes_are_one_expression() -> None:
    table = Table(*(f"/r{number}/:id" for number in range(10)), "/:any", "/:any/*")
    paths = [*(f"/r{number}/x" for number in range(10)), "/x", "/x/y/z"]
    assert len({table.expression(path) for path in paths}) == 1


@pytest.mark.parametrize("prefix", ["", "/a", "/:x", "/:x/b/:y"])
def test_from_25_literals_on_a_dict_tells_them_apart(prefix: str) -> None:
    def groups(count: int) -> set[int]:
        table = Table(*(f"{prefix}/r{number}/:id" for number in range(count)))
        start = prefix.replace(":", "")
        found = [table.expression(f"{start}/r{number}/1") for number in range(count)]
        return {expression.groups for expression in found if expression}

    before = prefix.count(":")
    assert groups(24) == {before + 24 * 2}  # for each route its parameter and what names it
    assert groups(25) == {before + 2}


def test_literals_of_different_places_do_not_add_up() -> None:
    table = Table(*(f"/r{number}/{kind}/:id" for number in range(6) for kind in "abcdef"))
    paths = [f"/r{number}/{kind}/1" for number in range(6) for kind in "abcdef"]
    assert len({table.expression(path) for path in paths}) == 1


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param("/l{}/:a/:b/:c/:d", id="four parameters"),
        # The path that ends there, and the one that goes on.
        pytest.param("/l{}/:a/:b/:c/*", id="three parameters and a rest"),
        # Whether the path goes on as it should a search has to tell.
        pytest.param("/l{}/:a/:b/:c/:d/:w{{.+}}/x", id="four parameters and a search"),
    ],
)
def test_no_expression_has_more_than_a_hundred_groups(shape: str) -> None:
    def expressions(count: int) -> list[re.Pattern[str] | None]:
        # So that those with a search have an expression to be looked at, too.
        table = Table(*(shape.format(number) for number in range(count)), "/l0/:a")
        return [table.expression("/l0/1")]

    [whole], [part] = expressions(19), expressions(20)
    assert whole is not None
    assert "l18" in whole.pattern
    assert whole.groups <= 100
    assert part is not None
    assert "l" not in part.pattern


def test_hundred_groups_are_one_expression() -> None:
    table = Table(*(f"/l{number}/:a/:b/:c/:d" for number in range(20)))
    [expression] = {table.expression(f"/l{number}/1/2/3/4") for number in range(20)}
    assert expression is not None
    assert expression.groups == 100


def test_rest_and_its_absence_are_one_alternative() -> None:
    table = Table("/a/:x/*")
    found = {table.expression(path) for path in ("/a/1", "/a/1/", "/a/1/2/3")}
    assert [expression.groups for expression in found if expression] == [2]


# What an expression can tell ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "patterns"),
    [
        pytest.param("/u/1", ["/u/:id{[0-9]+}"], id="an expression"),
        pytest.param("/u/1", ["/u/:id{[0-9]+}", "/u/:x", "/u/*"], id="an expression beside others"),
        pytest.param("/f/a/b", ["/f/:path{.+}"], id="an expression that takes slashes"),
        pytest.param("/f/a/b", ["/f/:path{.+}", "/f/*", "/*"], id="and rests beside it"),
        pytest.param("/assets-1/x", ["/assets*", "/as*", "/:x"], id="prefixes"),
        pytest.param(
            "/7", ["/:a{[0-9]}", "/:b{[0-9a-f]}", "/:c{[5-9]}", "/:d{[0-7]}"], id="four expressions"
        ),
    ],
)
def test_what_one_expression_tells(path: str, patterns: list[str]) -> None:
    assert Table(*patterns).expression(path) is not None


@pytest.mark.parametrize(
    ("path", "patterns"),
    [
        pytest.param("/f/a.b", ["/f/:x{.+}", "/f/:y{.+\\.b}"], id="two that take slashes"),
        pytest.param("/f/b/b", ["/f/:x{.+}", "/f/*/b"], id="one beside a segment of any kind"),
        pytest.param("/f/b", ["/f/:x{.+}", "/f/:y"], id="one beside a parameter"),
        pytest.param("/f/b/1", ["/f/:x{.+}", "/f/b/:y"], id="one beside a literal"),
        pytest.param("/f/7", ["/f/:x{[0-9]+}", "/f/7*"], id="an expression beside a prefix"),
        pytest.param("/{a/b}c", ["/{a/b}*", "/{a/:x"], id="a prefix with a slash in it"),
        pytest.param("/7/a/b", ["/:x{[0-9]+}/a*", "/:y{[0-9/a]+}/b"], id="what may take slashes"),
    ],
)
def test_what_several_match_in_ways_that_need_a_search(path: str, patterns: list[str]) -> None:
    assert Table(*patterns).found(path) == patterns


def test_expressions_of_one_place_in_all_their_combinations() -> None:
    sets = {"a": "[0-4]", "b": "[0-2568]", "c": "[01357]", "d": "[0-9]"}
    for number in range(1, 5):
        for names in itertools.permutations(sets, number):
            table = Table(*(f"/:{name}{{{sets[name]}}}/x" for name in names), "/:other/x")
            for path in (f"/{digit}/x" for digit in "0123456789z"):
                table.found(path)


def test_five_expressions_in_one_place() -> None:
    patterns = [f"/:x{{[0-{last}]}}" for last in range(5, 10)]
    table = Table(*patterns)
    assert table.found("/0") == patterns
    assert table.found("/7") == patterns[2:]


def test_expression_that_takes_the_empty_segment_beside_those_that_do_not() -> None:
    table = Table("/:v{[a-z]*}/x", "/:p/x", "/*/x", "/:w{[a-y]*}/:y")
    assert table.found("/b/x") == ["/:v{[a-z]*}/x", "/:p/x", "/*/x", "/:w{[a-y]*}/:y"]
    assert table.found("/z/x") == ["/:v{[a-z]*}/x", "/:p/x", "/*/x"]
    assert table.found("/7/x") == ["/:p/x", "/*/x"]
    assert table.found("//x")[:1] == ["/:v{[a-z]*}/x"]


def test_empty_segment_and_a_wildcard_in_the_middle() -> None:
    """It is taken whatever the other routes are; a parameter doesn't take it."""
    assert Table("/*/x", "/a/:y", "/:z").found("//x") == ["/*/x"]
    assert Table("/*/x", "/a/:y").found("/a/x") == ["/*/x", "/a/:y"]
    assert Table("/*/x", "/:y/x").found("//x") == ["/*/x"]
    assert Table("/*/x").found("//x") == ["/*/x"]
