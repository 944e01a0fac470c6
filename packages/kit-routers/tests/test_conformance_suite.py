# SPDX-License-Identifier: MIT
"""The five routers in the suite for third parties, and the suite against routers that are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from kit.interface import Result, Router, UnsupportedPathError
from kit.router import LinearRouter, PatternRouter, RegExpRouter, TrieRouter, default_router
from kit.router.testing import CASES, Feature, RouterConformance, resolve


class TestTrieRouter(RouterConformance):
    def new_router(self) -> Router[Any]:
        return TrieRouter()


class TestRegExpRouter(RouterConformance):
    unsupported = frozenset({Feature.CAPTURING_GROUP})

    def new_router(self) -> Router[Any]:
        return RegExpRouter()


class TestSmartRouter(RouterConformance):
    def new_router(self) -> Router[Any]:
        return default_router()


class TestLinearRouter(RouterConformance):
    def new_router(self) -> Router[Any]:
        return LinearRouter()


class TestPatternRouter(RouterConformance):
    unsupported = frozenset({Feature.REPEATED_NAME, Feature.STRICT_SLASH})

    def new_router(self) -> Router[Any]:
        return PatternRouter()


class Spoilt(TrieRouter[Any]):
    """A router with one mistake, told by its name."""

    def __init__(self, mistake: str) -> None:
        super().__init__()
        self.mistake = mistake

    def add(self, method: str, path: str, handler: Any) -> None:
        if self.mistake == "no expressions":
            path = path.partition("{")[0]
        super().add(method, path, handler)

    def match(self, method: str, path: str) -> Result[Any]:
        if self.mistake == "case":
            path = path.lower()
        found = list(super().match(method, path)[0])
        if self.mistake == "order":
            found.reverse()
        elif self.mistake == "first only":
            del found[1:]
        elif self.mistake == "never closed":
            self._closed = False
        return (found,)


def outcome(suite: RouterConformance, name: str, *arguments: Any) -> bool:
    try:
        getattr(suite, name)(*arguments)
    except (AssertionError, pytest.fail.Exception):
        return False
    return True


def failures(mistake: str) -> set[str]:
    class Suite(RouterConformance):
        def new_router(self) -> Router[Any]:
            return Spoilt(mistake)

    suite = Suite()
    cases = {case.name for case in CASES if not outcome(suite, "test_case", case)}
    single = ("test_no_route_after_a_match", "test_invalid_expression_is_refused")
    return cases | {name for name in single if not outcome(suite, name)}


def test_a_right_router_fails_nothing() -> None:
    assert failures("") == set()


@pytest.mark.parametrize(
    ("mistake", "seen"),
    [
        ("case", "a literal path matches itself alone"),
        ("order", "ALL answers every method, in the order of registration"),
        ("first only", "literal before parameter, both match"),
        ("no expressions", "an expression matches the whole segment"),
        ("no expressions", "test_invalid_expression_is_refused"),
        ("never closed", "test_no_route_after_a_match"),
    ],
)
def test_mistakes_are_seen(mistake: str, seen: str) -> None:
    assert seen in failures(mistake)


def test_what_is_declared_unsupported_must_be_refused_or_right() -> None:
    class Suite(RouterConformance):
        unsupported = frozenset({Feature.EXPRESSION})

        def new_router(self) -> Router[Any]:
            return Spoilt("no expressions")

    [case] = [case for case in CASES if case.name == "an expression matches the whole segment"]
    assert not outcome(Suite(), "test_case", case)


def test_what_is_refused_must_be_declared() -> None:
    class Refusing(TrieRouter[Any]):
        def add(self, method: str, path: str, handler: Any) -> None:
            raise UnsupportedPathError(path, "not today", method)

    class Suite(RouterConformance):
        def new_router(self) -> Router[Any]:
            return Refusing()

    assert not any(outcome(Suite(), "test_case", case) for case in CASES)


def test_a_suite_without_router_says_what_it_needs() -> None:
    with pytest.raises(NotImplementedError, match="needs a method new_router"):
        RouterConformance().test_name()


def test_either_shape_of_a_result_is_read() -> None:
    assert resolve(([("a", {"x": "1"})],)) == [("a", {"x": "1"})]
    assert resolve(([("a", {"x": 1, "y": 0})], [None, "1"])) == [("a", {"x": "1"})]
