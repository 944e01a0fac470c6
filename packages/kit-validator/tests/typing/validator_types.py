# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, TypedDict, assert_type

from kit.interface import Middleware
from kit.validator import RequestValidationError, validator


class Book(TypedDict):
    title: str


assert_type(validator("json", Book), Middleware)
assert_type(validator("query", lambda value, c: value), Middleware)


def paths(error: RequestValidationError) -> list[Any]:
    return [each["path"] for each in error.errors]
