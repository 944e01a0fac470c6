# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.opentelemetry import opentelemetry

assert_type(opentelemetry(), AsyncMiddleware)
assert_type(opentelemetry(value="two words"), AsyncMiddleware)
