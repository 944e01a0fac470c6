# SPDX-License-Identifier: MIT
"""The syntax of route patterns: the shared parser for routers and for tools that read routes.

A pattern is a path with segments separated by slashes. A segment is a literal, `:name` (one
non-empty segment), `:name{regex}` (text that the expression matches as a whole) or `*`
(one segment, or the rest of the path at the end). A last literal segment that ends with `*` matches
every path that starts with it. A last `:name?` may be absent.

An expression may match slashes. Before the end of a pattern, its value is then as long as possible
while what follows still matches, as in regular expressions: `/files/:path{.+}/:rev` reads `a/b` and
`3` from `/files/a/b/3`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._parsing import (
    FLAGS,
    Parameter,
    Segment,
    compile_expression,
    expand_optional,
    parse_parameter,
    parse_segment,
    split_pattern,
    variants,
)

if TYPE_CHECKING:
    from ._building import PathBuilder, path_builders
    from ._covering import PatternIndex, covers, may_overlap
    from ._expressions import Traits, traits
    from ._foreign import check_syntax
    from ._literals import literal_in_paths, unescape_literal
    from ._whole import PathExpression, first_stretch

__all__ = (
    "FLAGS",
    "Parameter",
    "PathBuilder",
    "PathExpression",
    "PatternIndex",
    "Segment",
    "Traits",
    "check_syntax",
    "compile_expression",
    "covers",
    "expand_optional",
    "first_stretch",
    "literal_in_paths",
    "may_overlap",
    "parse_parameter",
    "parse_segment",
    "path_builders",
    "split_pattern",
    "traits",
    "unescape_literal",
    "variants",
)

# Names are shown as they are imported.
for _object in (Parameter, Segment):
    _object.__module__ = __name__

# Every app parses patterns, but few need these, so they are imported on first use.
_LATER = {
    "PathBuilder": "_building",
    "PathExpression": "_whole",
    "PatternIndex": "_covering",
    "Traits": "_expressions",
    "check_syntax": "_foreign",
    "covers": "_covering",
    "first_stretch": "_whole",
    "literal_in_paths": "_literals",
    "may_overlap": "_covering",
    "path_builders": "_building",
    "traits": "_expressions",
    "unescape_literal": "_literals",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    if isinstance(found, type):
        found.__module__ = __name__
    globals()[name] = found
    return found
