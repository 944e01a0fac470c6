# SPDX-License-Identifier: MIT
"""PatternRouter: one regular expression per route, tried in registration order.

Cheap to build and easy to inspect (`routes`), but a match tries every route: good for fewer than
about 50 routes, not for 100 or more. A trailing slash of the path is accepted for every route.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

from kit.interface import (
    METHOD_NAME_ALL,
    Params,
    Result,
    RouterClosedError,
    UnsupportedPathError,
)
from kit.interface.patterns import (
    FLAGS,
    Parameter,
    compile_expression,
    expand_optional,
    parse_parameter,
    split_pattern,
)

from ._expressions import has_back_reference

__all__ = ("PatternRouter",)

T = TypeVar("T")


class PatternRouter(Generic[T]):
    """A list of regular expressions."""

    name = "PatternRouter"
    is_pure = True

    def __init__(self) -> None:
        self._routes: list[tuple[re.Pattern[str], str, T, dict[str, str]]] = []
        self._closed = False

    @property
    def routes(self) -> list[tuple[re.Pattern[str], str, T]]:
        """The routes in the order they are tried, for debugging: expression, method and handler."""
        return [(pattern, method, handler) for pattern, method, handler, _ in self._routes]

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Args:
            method: Upper-case method, or `ALL`.
            path: Route pattern.
            handler: The object for `match` to return.

        Raises:
            UnsupportedPathError: If an expression in braces is invalid, or can't be part of the
                expression for the whole path.
            RouterClosedError: If `match` has been called.
        """
        if self._closed:
            raise RouterClosedError(method, path)
        made = [_compile(method, path, variant) for variant in expand_optional(path)]
        self._routes += [(pattern, method, handler, names) for pattern, names in made]

    def match(self, method: str, path: str) -> Result[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`.

        Args:
            method: Method of the request.
            path: Routing path.

        Returns:
            `([(handler, params), ...],)` in registration order.
        """
        self._closed = True
        found: list[tuple[T, Params]] = []
        for pattern, route_method, handler, names in self._routes:
            if route_method in (method, METHOD_NAME_ALL):
                match = pattern.match(path)
                if match is not None:
                    found.append((handler, {name: match[group] for name, group in names.items()}))
        return (found,)


def _compile(method: str, pattern: str, variant: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """Returns the expression for a path, and the group of each parameter."""
    groups: dict[str, str] = {}
    text = ""
    segments = split_pattern(variant)
    last = len(segments) - 1
    for number, segment in enumerate(segments):
        parameter = parse_parameter(segment)
        # A pattern without a leading slash is for paths without one, such as host names.
        slash = "/" if number or variant.startswith("/") else ""
        if parameter is not None:
            text += slash + _group(method, pattern, parameter, groups)
        elif segment == "*" and number == last:
            # As in TrieRouter, the rest can be absent, but not after another `*`.
            text += "/.*" if segments[number - 1 : number] == ["*"] else "(?:/.*)?"
        elif segment == "*":
            text += slash + "[^/]+"
        elif segment.endswith("*") and number == last:
            text += slash + re.escape(segment[:-1]) + ".*"
        elif segment:
            text += slash + re.escape(segment)
    try:
        return re.compile(rf"{text}/?\Z", FLAGS), groups
    except re.error as error:
        reason = f"its expressions can't be combined into one: {error.msg}"
        raise UnsupportedPathError(pattern, reason, method) from error


def _group(method: str, pattern: str, parameter: Parameter, groups: dict[str, str]) -> str:
    """Returns the named group for a parameter, and records it in `groups`."""
    name = parameter.name
    if name in groups:
        raise UnsupportedPathError(
            pattern,
            f"PatternRouter allows each parameter name only once, but {name!r} is repeated",
            method,
            pattern.rfind(":" + name),
        )
    # Only an identifier can name a group: other names, e.g. `user-id`, become `_` and a number.
    usable = name.isidentifier() and name.isascii() and not name.startswith("_")
    group = name if usable else f"_{len(groups)}"
    groups[name] = group
    if parameter.expression is None:
        return f"(?P<{group}>[^/]+)"
    compile_expression(parameter.expression, pattern, method)
    if has_back_reference(parameter.expression):
        raise UnsupportedPathError(
            pattern,
            f"PatternRouter can't make {parameter.expression!r} a part of a larger expression, "
            "since it refers to its own groups by number",
            method,
            pattern.find("{" + parameter.expression + "}") + 1,
        )
    return f"(?P<{group}>{parameter.expression})"
