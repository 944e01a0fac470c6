# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.session import session

assert_type(session(), AsyncMiddleware)
assert_type(session(value="two words"), AsyncMiddleware)
