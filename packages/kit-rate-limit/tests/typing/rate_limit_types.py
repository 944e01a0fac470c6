# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.rate_limit import rate_limit

assert_type(rate_limit(), AsyncMiddleware)
assert_type(rate_limit(value="two words"), AsyncMiddleware)
