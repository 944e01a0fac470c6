# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.jwt import jwt

assert_type(jwt(), AsyncMiddleware)
assert_type(jwt(value="two words"), AsyncMiddleware)
