# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, TypedDict, assert_type

import kit
from kit.context_storage import get_context, try_get_context


class Variables(TypedDict):
    user: str


assert_type(get_context(kit.Context[Any, Variables]).var["user"], str)
assert_type(
    try_get_context(kit.Context[Any, Variables]),
    kit.Context[Any, Variables] | None,
)
