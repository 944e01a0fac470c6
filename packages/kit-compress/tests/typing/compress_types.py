# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.compress import compress
from kit.interface import AsyncMiddleware

assert_type(compress(), AsyncMiddleware)
assert_type(compress(value="two words"), AsyncMiddleware)
