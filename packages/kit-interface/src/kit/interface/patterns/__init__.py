# SPDX-License-Identifier: MIT
"""The syntax of route patterns: the shared parser for routers and for tools that read routes.

A pattern is a path with segments separated by slashes. A segment is a literal, `:name` (one
non-empty segment), `:name{regex}` (text that matches the whole expression, slashes included) or `*`
(one segment, or the rest of the path at the end). A last literal segment that ends with `*` matches
every path that starts with it. A last `:name?` may be absent.
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
    split_pattern,
    variants,
)

if TYPE_CHECKING:
    from ._covering import PatternIndex, covers
    from ._foreign import foreign_syntax
    from ._literals import literal_in_paths, unescape_literal
    from ._matching import path_matcher

__all__ = (
    "FLAGS",
    "Parameter",
    "PatternIndex",
    "Segment",
    "compile_expression",
    "covers",
    "expand_optional",
    "foreign_syntax",
    "literal_in_paths",
    "parse_parameter",
    "path_matcher",
    "split_pattern",
    "unescape_literal",
    "variants",
)

# Names are shown as they are imported.
for _object in (Parameter, Segment):
    _object.__module__ = __name__

# Every app parses patterns, but few need these, so they are imported on first use.
_LATER = {
    "PatternIndex": "_covering",
    "covers": "_covering",
    "foreign_syntax": "_foreign",
    "literal_in_paths": "_literals",
    "path_matcher": "_matching",
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
