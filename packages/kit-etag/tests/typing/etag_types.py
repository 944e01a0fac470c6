# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.etag import etag
from kit.interface import AsyncMiddleware

assert_type(etag(), AsyncMiddleware)
assert_type(etag(value="two words"), AsyncMiddleware)
