# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

from kit.router import path_matcher
from kit.router.patterns import Segment, check_syntax, parse_parameter, variants

assert_type(variants("/a/:x?"), tuple[tuple[Segment, ...], ...])
assert_type(check_syntax("/:id"), None)
assert_type(path_matcher("/public/*"), Callable[[str], bool])
parameter = parse_parameter(":id")
if parameter is not None:
    assert_type(parameter.expression, str | None)
