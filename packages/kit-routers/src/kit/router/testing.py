# SPDX-License-Identifier: MIT
"""The conformance suite for routers, for their authors. It requires pytest.

    from kit.router.testing import RouterConformance

    class TestMyRouter(RouterConformance):
        def new_router(self):
            return MyRouter()

TrieRouter's matches are the correct ones. A router declares features it lacks in `unsupported`.
"""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from kit.interface import METHOD_NAME_ALL, Result, Router, RouterClosedError, UnsupportedPathError

from ._cases import ANSWERS, CASES, Case, Feature
from .trie_router import TrieRouter

__all__ = ("CASES", "Case", "Feature", "RouterConformance", "resolve")

_SEGMENTS = {
    "a": None,
    "b": None,
    "ab": None,
    "a.b": None,
    ":x": Feature.PARAMETER,
    ":y": Feature.PARAMETER,
    ":n{[0-9]+}": Feature.EXPRESSION,
    ":z{[a-z]+}": Feature.EXPRESSION,
    "*": Feature.MIDDLE_WILDCARD,
}
_PATH_SEGMENTS = ("a", "b", "ab", "a.b", "7", "é", "A", "")


def resolve(result: Result[Any]) -> list[tuple[Any, dict[str, str]]]:
    """Reads a match result of either shape.

    Args:
        result: The result of `match`.

    Returns:
        The handlers, each with its parameters by name, without absent ones.
    """
    if len(result) == 1:
        return [(handler, dict(params)) for handler, params in result[0]]
    handlers, stash = result
    found = []
    for handler, indexes in handlers:
        values = {name: stash[index] for name, index in indexes.items()}
        found.append((handler, {k: value for k, value in values.items() if value is not None}))
    return found


class RouterConformance:
    """The tests; subclass it with a name that pytest collects, and define `new_router`.

    Attributes:
        unsupported: Features that the router lacks. If a feature is syntax, the router must reject
            such a pattern, or match it correctly anyway.
    """

    unsupported: frozenset[Feature] | set[Feature] = frozenset()

    def new_router(self) -> Router[Any]:
        """Returns an empty router."""
        raise NotImplementedError(f"{type(self).__name__} needs a method new_router()")

    @pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
    def test_case(self, case: Case) -> None:
        """A table of routes has the correct matches for some paths."""
        left_out = case.needs & self.unsupported
        if any(feature in ANSWERS for feature in left_out):
            pytest.skip("not supported: " + ", ".join(feature.value for feature in left_out))
        router = self.new_router()
        try:
            for number, route in enumerate(case.routes):
                method, pattern = route.split(" ", 1)
                router.add(method, pattern, number)
        except UnsupportedPathError:
            assert left_out, f"rejected {route!r}, which the router should accept"
            return
        for request, expected in case.answers.items():
            method, path = request.split(" ", 1)
            found = resolve(router.match(method, path))
            assert found == expected, f"{request!r} in {case.routes}"

    def test_name(self) -> None:
        """The router has a name."""
        assert isinstance(self.new_router().name, str)
        assert self.new_router().name

    def test_empty_router(self) -> None:
        """A router without routes matches nothing."""
        assert resolve(self.new_router().match("GET", "/a/b")) == []

    def test_handlers_are_opaque(self) -> None:
        """The same handler object is returned, whatever it is."""
        router = self.new_router()
        handlers: list[Any] = [None, [], {"a": 1}, object(), lambda: 1]
        for handler in handlers:
            router.add("GET", "/a", handler)
        found = [handler for handler, _ in resolve(router.match("GET", "/a"))]
        assert all(a is b for a, b in zip(found, handlers, strict=True))

    def test_the_same_again(self) -> None:
        """A repeated match has the same result, even with other matches in between."""
        router = self.new_router()
        router.add("GET", "/a", 1)
        router.add("POST", "/a", 2)
        for _ in range(3):
            assert resolve(router.match("GET", "/a")) == [(1, {})]
            assert resolve(router.match("POST", "/a")) == [(2, {})]
            assert resolve(router.match("GET", "/b")) == []

    def test_no_route_after_a_match(self) -> None:
        """Adding a route after a match raises an error that names it, and changes nothing."""
        router = self.new_router()
        router.add("GET", "/a", 1)
        router.match("GET", "/a")
        with pytest.raises(RouterClosedError, match="/late"):
            router.add("POST", "/late", 2)
        assert resolve(router.match("GET", "/a")) == [(1, {})]
        assert resolve(router.match("POST", "/late")) == []

    def test_invalid_expression_is_refused(self) -> None:
        """An expression that `re` can't compile is an error in `add` that names the route."""
        router = self.new_router()
        router.add("GET", "/a", 1)
        with pytest.raises(UnsupportedPathError) as caught:
            router.add("POST", "/b/:id{[0-9}", 2)
        assert caught.value.path == "/b/:id{[0-9}"
        assert "/b/:id{[0-9}" in str(caught.value)
        router.add("GET", "/c", 3)
        assert resolve(router.match("GET", "/a")) == [(1, {})]
        assert resolve(router.match("POST", "/b/1")) == []
        assert resolve(router.match("GET", "/c")) == [(3, {})]

    def test_long_paths_and_segments(self) -> None:
        """Paths of any length are matched."""
        router = self.new_router()
        segment = "x" * 10_000
        router.add("GET", "/" + segment, 1)
        router.add("GET", "/a", 2)
        assert resolve(router.match("GET", "/" + segment)) == [(1, {})]
        assert resolve(router.match("GET", "/" + segment + "x")) == []
        assert resolve(router.match("GET", "/a" * 50_000)) == []

    def test_many_routes(self) -> None:
        """Each of thousands of routes is found, and none are mixed up."""
        router = self.new_router()
        for number in range(2000):
            router.add("GET", f"/r{number}/list", number)
        parameters = Feature.PARAMETER not in self.unsupported
        for number in range(2000 if parameters else 0):
            router.add("GET", f"/r{number}/of/:id", -number)
        for number in range(0, 2000, 97):
            assert resolve(router.match("GET", f"/r{number}/list")) == [(number, {})]
            if parameters:
                found = resolve(router.match("GET", f"/r{number}/of/{number}"))
                assert found == [(-number, {"id": str(number)})]
        assert resolve(router.match("GET", "/r2000/list")) == []

    def test_first_match_in_several_threads(self) -> None:
        """Several threads may run the first match, and build its tables, concurrently."""
        router = self.new_router()
        for number in range(200):
            router.add("GET", f"/r{number}", number)
        found: list[Any] = []
        barrier = threading.Barrier(8)

        def match(number: int) -> None:
            barrier.wait()
            found.append((number, resolve(router.match("GET", f"/r{number}"))))

        threads = [threading.Thread(target=match, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == [(number, [(number, {})]) for number in range(8)]

    @pytest.mark.parametrize("seed", range(40))
    def test_random_tables(self, seed: int) -> None:
        """Random routes and paths have the same matches as in TrieRouter."""
        chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
        for _ in range(10):
            router, reference = self.new_router(), TrieRouter[int]()
            routes = [self._random_route(chance) for _ in range(chance.randint(1, 8))]
            taken = []
            for number, (method, pattern) in enumerate(routes):
                try:
                    router.add(method, pattern, number)
                except UnsupportedPathError:
                    continue
                reference.add(method, pattern, number)
                taken.append((method, pattern))
            for _ in range(8):
                method, path = chance.choice(("GET", "POST", "PURGE")), self._random_path(chance)
                expected = resolve(reference.match(method, path))
                assert resolve(router.match(method, path)) == expected, (method, path, taken)

    def _random_route(self, chance: random.Random) -> tuple[str, str]:
        supported = [text for text, need in _SEGMENTS.items() if need not in self.unsupported]
        segments = [chance.choice(supported) for _ in range(chance.randint(1, 4))]
        if any(segment.startswith(":") for segment in segments) and (
            Feature.PARAMETER_AND_WILDCARD in self.unsupported
        ):
            segments = [segment for segment in segments if segment != "*"]
        names = [segment.partition("{")[0] for segment in segments if segment.startswith(":")]
        if len({*names}) < len(names) and Feature.REPEATED_NAME in self.unsupported:
            segments = segments[:1]
        if segments[-1:] == ["*"] and Feature.WILDCARD in self.unsupported:
            segments.append("a")
        elif chance.random() < 0.2 and self._may_end_with_wildcard(segments):
            segments.append("*")
        return chance.choice(("GET", "POST", METHOD_NAME_ALL)), "/" + "/".join(segments)

    def _may_end_with_wildcard(self, segments: list[str]) -> bool:
        has_parameter = any(segment.startswith(":") for segment in segments)
        mixed = has_parameter and Feature.PARAMETER_AND_WILDCARD in self.unsupported
        return Feature.WILDCARD not in self.unsupported and not mixed

    def _random_path(self, chance: random.Random) -> str:
        segments = [chance.choice(_PATH_SEGMENTS) for _ in range(chance.randint(1, 5))]
        empty = {Feature.EMPTY_SEGMENT, Feature.STRICT_SLASH, Feature.WILDCARD_EMPTY}
        if not empty.isdisjoint(self.unsupported):
            segments = [segment or "a" for segment in segments]
        return "/" + "/".join(segments)
