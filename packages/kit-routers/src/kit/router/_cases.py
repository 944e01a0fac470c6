# SPDX-License-Identifier: MIT
"""Reads the cases of the conformance suite. `kit.router.testing` runs them."""

from __future__ import annotations

import json
from enum import Enum
from importlib.resources import files
from typing import NamedTuple, TypeAlias


class Feature(Enum):
    """A feature that a router may lack.

    A router rejects patterns with unsupported syntax (`UnsupportedPathError` from `add`), or
    accepts them and matches correctly. The last four aren't syntax: a router that declares one of
    them as unsupported may match differently.
    """

    PARAMETER = "a parameter, `/users/:id`"
    OPTIONAL = "a last parameter that may be absent, `/users/:id?`"
    EXPRESSION = "a parameter with an expression, `/users/:id{[0-9]+}`"
    WIDE_EXPRESSION = "an expression that matches slashes, `/files/:path{.+}`"
    CAPTURING_GROUP = "an expression with its own groups, `/:size{([0-9]+)x([0-9]+)}`"
    WILDCARD = "a last `*`, `/api/*`"
    MIDDLE_WILDCARD = "a `*` for one segment, `/api/*/status`"
    PREFIX_WILDCARD = "a last segment that ends with `*`, `/assets*`"
    PARAMETER_AND_WILDCARD = "a parameter and a `*` in one pattern, `/users/:id/*`"
    REPEATED_NAME = "a repeated parameter name, `/:a/x/:a`"
    STRICT_SLASH = "paths with and without a trailing slash are different"
    EMPTY_SEGMENT = "paths with two slashes in a row are read segment by segment"
    LEADING_SLASH = "patterns and paths without a leading slash"
    WILDCARD_EMPTY = "a `*` in the middle matches an empty segment"


ANSWERS = (
    Feature.STRICT_SLASH,
    Feature.EMPTY_SEGMENT,
    Feature.LEADING_SLASH,
    Feature.WILDCARD_EMPTY,
)
"""The features that aren't syntax."""

Expected: TypeAlias = list[tuple[int, dict[str, str]]]
"""Indexes of the matching routes, in order, each with its parameters."""


class Case(NamedTuple):
    """A table of routes with the correct matches.

    Attributes:
        name: The subject of the case.
        routes: Method and pattern of each route, separated by a space.
        answers: The matches for each method and path, separated by a space.
        needs: The features that a router must support for this case.
    """

    name: str
    routes: tuple[str, ...]
    answers: dict[str, Expected]
    needs: frozenset[Feature]


def _read() -> tuple[Case, ...]:
    text = files(__package__).joinpath("conformance_cases.json").read_text(encoding="utf-8")
    return tuple(
        Case(
            name=case["name"],
            routes=tuple(case["routes"]),
            answers={
                request: [(number, params) for number, params in found]
                for request, found in case["answers"].items()
            },
            needs=frozenset(Feature[name] for name in case.get("needs", ())),
        )
        for case in json.loads(text)
    )


CASES: tuple[Case, ...] = _read()
"""All cases, from the file `conformance_cases.json` in this package."""
