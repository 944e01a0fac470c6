# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict, assert_type

from kit.interface import AsyncMiddleware, Context, Response
from kit.validator import RequestValidationError, ValidationProblem, validator


class Book(TypedDict):
    title: str


assert_type(validator("json", Book), AsyncMiddleware)
assert_type(validator("query", lambda value, c: value), AsyncMiddleware)
assert_type(validator("json", Book | None), AsyncMiddleware)
assert_type(validator("json", Annotated[list[Book], "described"]), AsyncMiddleware)


def paths(error: RequestValidationError) -> list[Any]:
    return [each["path"] for each in error.errors]


def kinds(problem: ValidationProblem) -> list[str]:
    return [each["type"] for each in problem["errors"]]


async def create(c: Context) -> Response:
    assert_type(c.req.valid("json", Book), Book)
    return c.json(c.req.valid("json", Book))
