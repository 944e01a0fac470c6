# SPDX-License-Identifier: MIT
"""`path_matcher` matches what the routes of an app match."""

from __future__ import annotations

import pytest

from kit import Context, Kit, Next
from kit.interface import UnsupportedPathError
from kit.router import path_matcher


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
        ("/a/*/b", "/a//b"),
        ("/a/*/b", "/a/b"),
        ("/a/*", "/a"),
        ("/users/:id{[0-9]+}", "/users/42"),
        ("/users/:id{[0-9]+}", "/users/ada"),
        ("/:x{(?i)A}", "/a"),
        ("/files/:path{.+}/raw", "/files/a/b/raw"),
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


def test_any_of_several() -> None:
    matches = path_matcher("/health", "/public/*", "/users/:id?")
    taken = ["/health", "/public", "/public/a/b", "/users", "/users/1", "users/1"]
    assert [path for path in [*taken, "/", "/health/", "/users/1/2"] if matches(path)] == taken


def test_no_patterns() -> None:
    assert not path_matcher()("/")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "it is empty; the root is '/'"),
        ("/users/{id}", "a parameter begins with a colon, as in '/users/:id'"),
        ("/users/<int:id>", "a parameter begins with a colon, as in '/users/:id{[0-9]+}'"),
        ("/a?b=1", "a path can't contain '?' or '#'"),
        ("/a#b", "a path can't contain '?' or '#'"),
        (
            "/:x{a/b}?",
            "the optional parameter ':x{a/b}' would never match, since its expression has a slash: "
            "register two routes instead",
        ),
        ("/caf%C3%A9", "paths are decoded before they are matched: write 'café'"),
        (
            "/x%7Ba/b%7D",
            "a literal { and the next literal } have to be in one segment",
        ),
        (
            "/:x{[0-9}",
            "invalid regular expression '[0-9': unterminated character set",
        ),
    ],
)
def test_patterns_that_match_nothing(pattern: str, reason: str) -> None:
    with pytest.raises(UnsupportedPathError) as raised:
        path_matcher("/fine", pattern)
    assert (raised.value.path, raised.value.reason) == (pattern, reason)
