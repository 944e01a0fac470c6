# SPDX-License-Identifier: MIT
"""Translates route patterns into OpenAPI path templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from kit.router.patterns import Segment, variants

# Python syntax that ECMA-262 lacks or writes differently: named and atomic groups, flags, comments,
# conditions, possessive quantifiers, and `{,3}`.
_NOT_ECMA = re.compile(r"\(\?(?:P|[aiLmsux]|#|\(|>)|\\[AZN]|(?<!\\)[*+?}]\+|(?<!\\)\{,[0-9]+\}")
_DIGITS = ("[0-9]+", r"\d+")
_WORD = re.compile(r"[A-Za-z0-9]+")


class PathParameter(NamedTuple):
    """A path parameter.

    Attributes:
        name: Its name in the pattern.
        expression: Its regular expression; None if it matches any segment.
    """

    name: str
    expression: str | None

    def narrowed(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Returns the schema of the parameter with the constraints of its expression.

        Args:
            schema: The schema of its type.
        """
        kind = schema.get("type")
        if self.expression is None:
            return {"minLength": 1, **schema} if kind == "string" and len(schema) == 1 else schema
        if kind == "integer" and self.expression in _DIGITS:
            return {**schema, "minimum": max(0, schema.get("minimum", 0))}
        if kind != "string" or "pattern" in schema or _NOT_ECMA.search(self.expression):
            return schema
        return {**schema, "pattern": f"^(?:{self.expression})$"}


class Template(NamedTuple):
    """A path template.

    Attributes:
        segments: Its segments: literals and parameters.
    """

    segments: tuple[str | PathParameter, ...]

    @property
    def parameters(self) -> list[PathParameter]:
        """The parameters, in order."""
        return [each for each in self.segments if isinstance(each, PathParameter)]

    @property
    def shape(self) -> tuple[str | None, ...]:
        """The identity of a template, regardless of parameter names."""
        return tuple(each if isinstance(each, str) else None for each in self.segments)

    @property
    def path(self) -> str:
        """The template in OpenAPI notation, e.g. `/books/{id}`."""
        return "/" + "/".join(
            each if isinstance(each, str) else f"{{{each.name}}}" for each in self.segments
        )

    @property
    def words(self) -> str:
        """The template as part of a name, e.g. `books_by_id`."""
        words: list[str] = []
        for each in self.segments:
            if isinstance(each, PathParameter):
                words.append("by")
            words += _WORD.findall(each if isinstance(each, str) else each.name)
        return "_".join(words).lower() or "root"


def templates(pattern: str, standard: str = "OpenAPI") -> Iterator[Template]:
    """Yields the path templates for a route pattern.

    Args:
        pattern: The pattern, e.g. `/books/:id?`, which stands for two.
        standard: The standard of the document, for errors.

    Raises:
        ValueError: If the standard has no template for it; the text has the reason.
    """
    for variant in variants(pattern):
        yield Template(tuple(_numbered([_translated(segment, standard) for segment in variant])))


def _numbered(segments: list[str | PathParameter]) -> Iterator[str | PathParameter]:
    """Numbers parameters with the same name: names in a template are unique."""
    seen: dict[str, int] = {}
    for each in segments:
        if isinstance(each, str):
            yield each
        else:
            count = seen[each.name] = seen.get(each.name, 0) + 1
            yield each if count == 1 else each._replace(name=f"{each.name}_{count}")


def _translated(segment: Segment, standard: str) -> str | PathParameter:
    if segment.name is not None:
        return PathParameter(segment.name, segment.expression)
    if segment.text.endswith("*"):
        raise ValueError(f"{standard} doesn't support wildcards")
    if "{" in segment.text or "}" in segment.text:
        raise ValueError(f"{standard} doesn't support literal braces in paths")
    return segment.text
