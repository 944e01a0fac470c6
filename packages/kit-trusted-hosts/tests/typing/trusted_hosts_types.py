# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.trusted_hosts import trusted_hosts

assert_type(trusted_hosts("example.com"), AsyncMiddleware)
assert_type(trusted_hosts("www.example.com", "[::1]", redirect_www=True), AsyncMiddleware)
