# SPDX-License-Identifier: MIT
"""Errors as problem documents (RFC 9457) for the Kit web framework."""

from ._problem_details import ToProblem, problem_details

__all__ = ("ToProblem", "problem_details")
