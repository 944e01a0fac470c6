# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from kit.openapi_ui import find_assets

assert_type(find_assets("scalar"), Path)
