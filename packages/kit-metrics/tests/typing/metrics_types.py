# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.metrics import metrics

assert_type(metrics(), AsyncMiddleware)
assert_type(metrics(value="two words"), AsyncMiddleware)
