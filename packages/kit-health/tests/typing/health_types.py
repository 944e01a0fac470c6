# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.health import health
from kit.interface import AsyncMiddleware

assert_type(health(), AsyncMiddleware)
assert_type(health(value="two words"), AsyncMiddleware)
