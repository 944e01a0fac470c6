# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.interface import App, Context, HTTPException, ProblemError
from kit.problem_details import ToProblem, problem_details


class GoneError(Exception):
    title: str


class BusyError(HTTPException):
    pass


def gone(error: GoneError, c: Context[Any, Any]) -> ProblemError:
    return ProblemError(410, title=error.title)


to_problem: ToProblem = gone


def install(app: App) -> None:
    assert_type(problem_details(app), None)
    problem_details(app, base="https://errors.example/")
    problem_details(app, types={404: "/missing", BusyError: "/busy", GoneError: gone})
    problem_details(app, types={404: 3})  # type: ignore
