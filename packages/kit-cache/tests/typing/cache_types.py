# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.cache import cache
from kit.interface import AsyncMiddleware

assert_type(cache(), AsyncMiddleware)
assert_type(cache(value="two words"), AsyncMiddleware)
