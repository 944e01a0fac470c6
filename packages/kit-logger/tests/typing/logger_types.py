# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

import logging
from typing import assert_type

from kit.interface import AsyncMiddleware
from kit.logger import logger

assert_type(logger(), AsyncMiddleware)
assert_type(logger(print, query=False), AsyncMiddleware)
assert_type(logger(logging.getLogger("access").info), AsyncMiddleware)
