# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.trailing_slash import append_trailing_slash, trim_trailing_slash

assert_type(append_trailing_slash(), AsyncMiddleware)
assert_type(
    append_trailing_slash(always_redirect=True, skip=lambda path: "." in path), AsyncMiddleware
)
assert_type(trim_trailing_slash(), AsyncMiddleware)
assert_type(trim_trailing_slash(always_redirect=True), AsyncMiddleware)
