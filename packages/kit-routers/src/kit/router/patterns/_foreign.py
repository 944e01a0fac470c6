# SPDX-License-Identifier: MIT
"""Refuses parameters in the syntax of other frameworks, which would be literal segments here."""

from __future__ import annotations

import re

from kit.interface import UnsupportedPathError

from ._parsing import split_pattern

_NAME = r"[^\W\d][\w-]*"
# `{id}` or `{id:type}`, where the type may be an expression with its own braces; `<id>` or
# `<type:id>`, where the type may have arguments. Excludes `(?P<id>...)`.
_FOREIGN = re.compile(
    rf"\{{{_NAME}(?::(?:[^{{}}]|\{{[^{{}}]*\}})+)?\}}"
    rf"|(?<!\(\?P)<{_NAME}(?:\([^()<>]*\))?(?::[^<>]+)?>"
)


def check_syntax(path: str, method: str | None = None) -> None:
    """Refuses `/users/{id}`, `/users/<id>`, `/users/:id:int` and the like.

    Args:
        path: The pattern as given.
        method: The method of the route, for the error, if known.

    Raises:
        UnsupportedPathError: If a segment is the parameter of another framework.
    """
    for segment in split_pattern(path):
        if segment.startswith(":"):
            name, _, other = segment[1:].partition("{")[0].removesuffix("?").partition(":")
            is_foreign = bool(name and other)
        else:
            is_foreign = _FOREIGN.search(segment) is not None
        if is_foreign:
            reason = (
                f"{segment!r} is no parameter of Kit, which has one colon, at its start: write "
                "':id' or ':id{[0-9]+}'; a literal { is written %7B, a literal < is written %3C"
            )
            raise UnsupportedPathError(path, reason, method)
