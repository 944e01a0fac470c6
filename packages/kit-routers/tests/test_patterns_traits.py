# SPDX-License-Identifier: MIT
"""What `traits` tells about expressions: routers and `path_matcher` rely on it."""

from __future__ import annotations

import pytest

from kit.router.patterns import Traits, traits

NAMES = {
    "slash": "takes_slash",
    "anchor": "is_anchored",
    "around": "looks_around",
    "group": "has_groups",
    "alone": "stands_alone",
}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a", ""),
        ("[a-z]+", ""),
        ("[^/]", ""),
        (r"\w{2,3}?", ""),
        (r"\.\$\^\(", ""),
        ("[.(^$]", ""),
        (r"[\]/]", "slash"),
        ("[]/]", "slash"),
        (".", "slash"),
        ("/", "slash"),
        (r"\x2f", "slash"),
        (r"\057", "slash"),
        (r"\101", ""),
        (r"\W", "slash"),
        ("(?:a|/)", "slash"),
        ("(?:a|b)", ""),
        ("(?>a)", ""),
        ("(?>.)", "slash"),
        ("^a", "anchor"),
        ("a$", "anchor"),
        (r"\Aa", "anchor"),
        (r"a\Z", "anchor"),
        (r"\ba", "around"),
        (r"a\B", "around"),
        ("a(?=b)", "around"),
        ("(?!b)a", "around"),
        ("(?<=b)a", "around"),
        ("(?<!b)a", "around"),
        ("(?!/)a", "around"),
        ("(?<!/)a", "around"),
        ("(?!.*b)a", "around"),
        ("(?!(?:b)/)a", "around"),
        ("(?!(?:b)/)(?:a)/", "around slash"),
        ("(?!b)/", "around slash"),
        ("(?!b).", "around slash"),
        ("(?=a$)[a-z]", "around anchor"),
        ("(?!(b)/)a", "around group"),
        ("(a)", "group"),
        ("(/)", "group slash"),
        ("(?i:a)", "group"),
        ("(?i)a", "group alone"),
        ("(?P<n>a)", "group alone"),
        ("(?P<n>a)(?P=n)", "group alone"),
        (r"(a)\1", "group alone"),
        (r"(.)\1", "group alone slash"),
        ("(a)?(?(1)b|c)", "group alone"),
        (r"(?=(.*))\1", "group alone around slash"),
        (r"(?=(a*))\1", "group alone around"),
        ("a)", ""),
        ("(?:", ""),
        # Whoever compiles it reports it.
        ("[z-a]", "slash"),
        (r"\N{none}", "slash"),
    ],
)
def test_traits(expression: str, expected: str) -> None:
    names = {NAMES[each] for each in expected.split()}
    assert traits(expression) == Traits(**{name: name in names for name in NAMES.values()})
