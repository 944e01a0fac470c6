# SPDX-License-Identifier: MIT
"""The syntax of route patterns: the one parser, for routers and for tools that read routes.

A pattern is a path whose segments, between slashes, are literals, `:name` (one segment that is not
empty), `:name{regex}` (what the whole expression matches, slashes included) or `*` (one segment, or
the rest of the path at the end). A last literal segment that ends with `*` takes every path that
begins so. A last `:name?` may be absent.
"""

from ._covering import PatternIndex, covers
from ._foreign import foreign_syntax
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

__all__ = (
    "FLAGS",
    "Parameter",
    "PatternIndex",
    "Segment",
    "compile_expression",
    "covers",
    "expand_optional",
    "foreign_syntax",
    "parse_parameter",
    "split_pattern",
    "variants",
)

# Names are shown as they are imported.
for _object in (Parameter, PatternIndex, Segment):
    _object.__module__ = __name__
