# SPDX-License-Identifier: MIT
"""SmartRouter, PatternRouter and LinearRouter: what is their own."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from kit.interface import (
    Result,
    Router,
    RouterClosedError,
    UnsupportedPathError,
    is_cacheable,
    plugins,
)
from kit.router import (
    LinearRouter,
    PatternRouter,
    RegExpRouter,
    SmartRouter,
    TrieRouter,
    default_router,
)
from kit.router.testing import resolve


def used_by(router: Any) -> str | None:
    """The name of the router that a SmartRouter has settled on."""
    active = router.active_router
    assert router.name == "SmartRouter"
    return None if active is None else active.name


def test_smart_router_takes_the_first_and_says_which() -> None:
    router = default_router()
    assert used_by(router) is None
    router.add("GET", "/a/:x", 1)
    assert used_by(router) is None
    assert resolve(router.match("GET", "/a/1")) == [(1, {"x": "1"})]
    assert used_by(router) == "RegExpRouter"
    assert router.refusals == []


def test_smart_router_goes_on_where_one_refuses() -> None:
    router = default_router()
    router.add("GET", "/before", 0)
    router.add("GET", "/:x{(a)(b)}", 1)
    router.add("GET", "/after", 2)
    assert resolve(router.match("GET", "/ab")) == [(1, {"x": "ab"})]
    assert resolve(router.match("GET", "/before")) == [(0, {})]
    assert resolve(router.match("GET", "/after")) == [(2, {})]
    assert used_by(router) == "TrieRouter"
    [(name, error)] = router.refusals
    assert name == "RegExpRouter"
    assert error.path == "/:x{(a)(b)}"


def test_smart_router_refuses_what_all_refuse_and_keeps_the_rest() -> None:
    router = default_router()
    router.add("GET", "/a", 1)
    with pytest.raises(UnsupportedPathError, match="unterminated character set"):
        router.add("GET", "/:x{[}", 2)
    router.add("GET", "/b", 3)
    assert resolve(router.match("GET", "/b")) == [(3, {})]
    assert used_by(router) == "RegExpRouter"


class Late(TrieRouter[Any]):
    """Finds out at the first match."""

    name = "Late"

    def match(self, method: str, path: str) -> Any:
        raise UnsupportedPathError("/a", "not together with the others", "GET")


def test_smart_router_goes_on_where_one_refuses_at_the_first_match() -> None:
    router: SmartRouter[Any] = SmartRouter(routers=[Late(), TrieRouter()])
    router.add("GET", "/a", 1)
    assert resolve(router.match("GET", "/a")) == [(1, {})]
    assert used_by(router) == "TrieRouter"
    assert [name for name, _ in router.refusals] == ["Late"]


def test_smart_router_raises_where_the_last_refuses_at_the_first_match() -> None:
    router: SmartRouter[Any] = SmartRouter(routers=[Late()])
    router.add("GET", "/a", 1)
    for _ in range(2):
        with pytest.raises(UnsupportedPathError, match="not together with the others"):
            router.match("GET", "/a")


def test_smart_router_takes_no_route_after_a_match_that_raised() -> None:
    router: SmartRouter[Any] = SmartRouter(routers=[Late()])
    with pytest.raises(UnsupportedPathError):
        router.match("GET", "/a")
    with pytest.raises(RouterClosedError, match="GET '/late'"):
        router.add("GET", "/late", 1)


class Refusing(TrieRouter[Any]):
    """Takes no route, and says who it is."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def add(self, method: str, path: str, handler: Any) -> None:
        raise UnsupportedPathError(path, f"not by {self.name}", method)


def test_smart_router_raises_what_the_last_says() -> None:
    router: SmartRouter[Any] = SmartRouter(routers=[Refusing(name) for name in ("a", "b", "c")])
    with pytest.raises(UnsupportedPathError, match="not by c"):
        router.add("GET", "/x", 1)


def test_smart_router_keeps_nothing_of_the_routers_it_does_not_use() -> None:
    unused: TrieRouter[Any] = TrieRouter()
    router: SmartRouter[Any] = SmartRouter(routers=[RegExpRouter(), unused])
    router.add("GET", "/a", 1)
    still_there = weakref.ref(unused)
    del unused
    router.match("GET", "/a")
    gc.collect()
    assert still_there() is None


def test_smart_router_costs_nothing_once_settled() -> None:
    inner: RegExpRouter[Any] = RegExpRouter()
    router: SmartRouter[Any] = SmartRouter(routers=[inner, TrieRouter()])
    router.add("GET", "/a", 1)
    router.match("GET", "/a")
    assert router.match is inner.match


def test_smart_router_is_closed_by_its_first_match() -> None:
    router = default_router()
    router.match("GET", "/a")
    with pytest.raises(RouterClosedError, match="GET '/late'"):
        router.add("GET", "/late", 1)


@pytest.mark.parametrize("count", [0, 2])
def test_smart_router_needs_routers(count: int) -> None:
    with pytest.raises(ValueError, match="takes at least one router, each once"):
        SmartRouter(routers=[TrieRouter()][:1] * count)


@pytest.mark.parametrize(
    ("routers", "text"),
    [
        ([TrieRouter(), RegExpRouter], "takes routers, not the class RegExpRouter: create an"),
        (["trie"], "SmartRouter(routers=[...]) takes routers, not 'trie'"),
        (RegExpRouter, f"SmartRouter(routers=...) takes a list of routers, not {RegExpRouter!r}"),
        (None, "SmartRouter(routers=...) takes a list of routers, not None"),
    ],
)
def test_smart_router_refuses_what_is_no_router(routers: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        SmartRouter(routers=routers)
    assert text in str(caught.value)


def test_smart_routers_nest() -> None:
    router: SmartRouter[Any] = SmartRouter(routers=[default_router(), TrieRouter()])
    router.add("GET", "/a", 1)
    assert resolve(router.match("GET", "/a")) == [(1, {})]
    assert used_by(router) == "SmartRouter"
    assert used_by(router.active_router) == "RegExpRouter"


def test_pattern_router_shows_its_expressions() -> None:
    router: PatternRouter[str] = PatternRouter()
    router.add("GET", "/users/:id{[0-9]+}", "user")
    router.add("ALL", "/api/*", "api")
    (expression, method, handler), (_, all_methods, _) = router.routes
    assert isinstance(expression, re.Pattern)
    assert (method, handler, all_methods) == ("GET", "user", "ALL")
    match = expression.match("/users/42")
    assert match is not None
    assert match["id"] == "42"
    assert router.name == "PatternRouter"


@pytest.mark.parametrize("path", ["/users/7", "/users/7/"])
def test_pattern_router_takes_a_slash_at_the_end(path: str) -> None:
    router: PatternRouter[str] = PatternRouter()
    router.add("GET", "/users/:id", "user")
    router.add("POST", "/users/:id/", "slash")
    assert resolve(router.match("GET", path)) == [("user", {"id": "7"})]
    assert resolve(router.match("POST", path)) == [("slash", {"id": "7"})]
    assert resolve(router.match("GET", "/users/7//")) == []


def test_pattern_router_names_that_are_no_identifiers() -> None:
    router: PatternRouter[str] = PatternRouter()
    router.add("GET", "/:user-id/:class/:1/:é/:_0", "handler")
    assert resolve(router.match("GET", "/a/b/c/d/e")) == [
        ("handler", {"user-id": "a", "class": "b", "1": "c", "é": "d", "_0": "e"})
    ]


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        ("/:a/:b{[}", 7, "invalid regular expression '[': unterminated character set"),
        (
            "/:a/x/:a",
            6,
            "PatternRouter allows each parameter name only once, but 'a' is repeated",
        ),
    ],
)
def test_pattern_router_refuses(pattern: str, position: int | None, reason: str) -> None:
    router: PatternRouter[int] = PatternRouter()
    with pytest.raises(UnsupportedPathError) as caught:
        router.add("GET", pattern, 1)
    assert reason in caught.value.reason
    assert caught.value.position == position
    assert router.routes == []


def test_pattern_router_expressions_with_groups() -> None:
    router: PatternRouter[int] = PatternRouter()
    router.add("GET", "/:size{([0-9]+)x([0-9]+)}/:name", 1)
    assert resolve(router.match("GET", "/3x4/n")) == [(1, {"size": "3x4", "name": "n"})]


def test_linear_router_takes_a_slash_at_the_end_as_it_is() -> None:
    router: LinearRouter[int] = LinearRouter()
    router.add("GET", "/a/:x", 1)
    router.add("GET", "/a/1", 2)
    router.add("GET", "/a/:y{[0-9]}", 3)
    router.add("GET", "/a/1/", 4)
    assert resolve(router.match("GET", "/a/1")) == [(1, {"x": "1"}), (2, {}), (3, {"y": "1"})]
    assert resolve(router.match("GET", "/a/1/")) == [(4, {})]


def test_linear_router_with_a_parameter_and_a_wildcard_in_one_pattern() -> None:
    router: LinearRouter[int] = LinearRouter()
    router.add("GET", "/:tenant/*", 1)
    router.add("GET", "/a/b/", 2)
    router.add("POST", "/a/b/", 3)
    assert resolve(router.match("GET", "/a/b")) == [(1, {"tenant": "a"})]
    assert resolve(router.match("GET", "/a/b/")) == [(1, {"tenant": "a"}), (2, {})]
    assert resolve(router.match("POST", "/a/b/")) == [(3, {})]


def test_linear_router_reads_expressions_when_they_are_added() -> None:
    router: LinearRouter[int] = LinearRouter()
    with pytest.raises(UnsupportedPathError, match="position 4: invalid regular expression"):
        router.add("GET", "/:x{[}?", 1)
    assert resolve(router.match("GET", "/")) == []


@pytest.mark.parametrize("make", [LinearRouter, PatternRouter, RegExpRouter, default_router])
def test_a_route_that_never_matches_is_refused(make: Any) -> None:
    router = make()
    with pytest.raises(UnsupportedPathError, match=r"^Unsupported route GET .* never match"):
        router.add("GET", "/a?/:b/?", 1)
    assert resolve(router.match("GET", "/a?/1")) == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("linear", LinearRouter),
        ("pattern", PatternRouter),
        ("reg-exp", RegExpRouter),
        ("smart", SmartRouter),
        ("trie", TrieRouter),
    ],
)
def test_each_is_installed_by_name(name: str, kind: type) -> None:
    router = plugins.load("kit.routers", name)()
    assert type(router) is kind
    result: Result[Any] = router.match("GET", "/")
    assert resolve(result) == []


@pytest.mark.parametrize(
    ("pattern", "path", "params"),
    [
        pytest.param("/*/", "/a/", {}, id="empty segment at the end"),
        pytest.param("/*/", "/a/x", None, id="which is no wildcard"),
        pytest.param("/$x/*", "/$x", {}, id="rest, absent"),
        pytest.param("/*/*", "/a/", {}, id="rest, empty"),
        pytest.param("/*/*", "/a", None, id="rest, absent behind a wildcard"),
        pytest.param("/:a/:v{[a-z]*}", "/x/", {"a": "x", "v": ""}, id="value, empty"),
        pytest.param("/:a{[0-9]+}/:b", "/12/x", {"a": "12", "b": "x"}, id="two values"),
        pytest.param("/:a{a|ab}/:b", "/ab/x", {"a": "ab", "b": "x"}, id="whole segment"),
        pytest.param("/a*/b", "/a*/b", {}, id="star in the middle is itself"),
        pytest.param("/a*/b", "/ac/b", None, id="and no wildcard"),
        pytest.param("x.test/:id", "x.test/1", {"id": "1"}, id="no slash in front"),
        pytest.param("x.test/*", "x.test/1/2", {}, id="no slash in front, rest"),
        pytest.param("x.test/:id", "y.test/1", None, id="no slash in front, other name"),
    ],
)
@pytest.mark.parametrize("make", [TrieRouter, LinearRouter, PatternRouter])
def test_linear_and_pattern_router_as_trie_router(
    make: Callable[[], Router[int]], pattern: str, path: str, params: dict[str, str] | None
) -> None:
    router = make()
    router.add("GET", pattern, 1)
    assert resolve(router.match("GET", path)) == ([] if params is None else [(1, params)])


@pytest.mark.parametrize(
    "router", [RegExpRouter(), TrieRouter(), LinearRouter(), PatternRouter(), default_router()]
)
def test_routers_are_called_what_their_classes_are(router: Router[Any]) -> None:
    assert router.name == type(router).__name__


class Unsaid(TrieRouter[str]):
    """A router that doesn't say whether its results are cacheable."""

    def match(self, method: str, path: str) -> Any:
        return super().match(method, path)


def test_routers_say_whether_they_are_pure() -> None:
    cacheable = (LinearRouter, PatternRouter, RegExpRouter, TrieRouter, default_router)
    assert [is_cacheable(router()) for router in cacheable] == [True] * 5
    assert not is_cacheable(SmartRouter(routers=[Unsaid()]))
    mixed: SmartRouter[str] = SmartRouter(routers=[RegExpRouter(), Unsaid()])
    assert not is_cacheable(mixed)
    mixed.add("GET", "/", "home")
    mixed.match("GET", "/")  # by RegExpRouter, from now on
    assert is_cacheable(mixed)


@pytest.mark.parametrize("base", [RegExpRouter, default_router().__class__, TrieRouter])
@pytest.mark.parametrize("where", ["class", "property", "object"])
@pytest.mark.parametrize("decision", [False, True])
def test_a_router_decides_whether_it_is_pure(base: Any, where: str, decision: bool) -> None:
    said = {"class": decision, "property": property(lambda self: decision)}
    kind = type("Deciding", (base,), {"cacheable": said[where]} if where in said else {})
    router = kind([RegExpRouter(), TrieRouter()]) if base is SmartRouter else kind()
    if where == "object":
        router.cacheable = decision
    router.add("GET", "/", "home")
    for _ in range(2):
        assert is_cacheable(router) is decision
        assert router.match("GET", "/")[0][0][0] == "home"
    assert is_cacheable(router) is decision
