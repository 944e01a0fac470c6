# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.serve_static import serve_static

assert_type(serve_static(), AsyncMiddleware)
assert_type(serve_static(value="two words"), AsyncMiddleware)
