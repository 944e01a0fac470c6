# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.pretty_json import pretty_json

assert_type(pretty_json(), AsyncMiddleware)
assert_type(pretty_json(space=4, query="indent", force=True), AsyncMiddleware)
