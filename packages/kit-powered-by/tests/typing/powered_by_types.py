# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.powered_by import powered_by

assert_type(powered_by(), AsyncMiddleware)
assert_type(powered_by(server_name="two words"), AsyncMiddleware)
