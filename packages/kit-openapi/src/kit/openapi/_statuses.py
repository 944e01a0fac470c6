# SPDX-License-Identifier: MIT
"""Follows the calls of `c.status()` in the source of a handler to its responses."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress

Status = int | None
"""The status of a response that is created without one; None if it is unknown."""


class Statuses:
    """The statuses that responses without their own one have at each `return` of a function.

    Args:
        body: The statements of the function.
        first: The statuses that may be set at its start.
        find_status: Returns the argument of `c.status()`, or None if it is unknown; raises a
            LookupError for other calls.
    """

    def __init__(
        self,
        body: Sequence[ast.stmt],
        first: Set[Status],
        find_status: Callable[[ast.Call], Status],
    ) -> None:
        self._status_of = find_status
        self._found: dict[int, Set[Status]] = {}
        self._first = first
        self._ends(body, set(first))

    def at(self, node: ast.Return) -> Set[Status]:
        """Returns the statuses that may be set at a `return`."""
        return self._found.get(id(node), self._first)

    @property
    def all(self) -> Set[Status]:
        """The statuses that may be set at any of them."""
        return set().union(*self._found.values()) or self._first

    @property
    def last(self) -> Status:
        """The status at all of them, or None if they differ."""
        found = self.all
        return next(iter(found)) if len(found) == 1 else None

    def _ends(self, body: Sequence[ast.stmt], before: set[Status]) -> set[Status]:
        """Returns the statuses that may be set after statements; none if they never end."""
        for statement in body:
            if isinstance(statement, ast.Return):
                self._found[id(statement)] = set(before)
            if isinstance(statement, ast.Return | ast.Raise) or not before:
                return set()
            blocks = [*_blocks(statement)]
            if not blocks:
                before = self._after(statement, before)
                continue
            # An exception may have interrupted the first block of a `try` anywhere.
            is_try = isinstance(statement, ast.Try | ast.TryStar)
            ends = self._ends(blocks[0], before)
            others = before | {*self._set_in(blocks[0])} if is_try else before
            for block in blocks[1:]:
                ends |= self._ends(block, others)
            is_run = isinstance(statement, ast.With | ast.AsyncWith)
            is_run = is_run or (isinstance(statement, ast.If) and bool(statement.orelse))
            before = ends if is_run or is_try else ends | before
        return before

    def _after(self, statement: ast.stmt, before: set[Status]) -> set[Status]:
        statuses = [*self._set_in([statement])]
        return {statuses[-1]} if statuses else before

    def _set_in(self, body: Sequence[ast.stmt]) -> Iterator[Status]:
        for node in (node for statement in body for node in ast.walk(statement)):
            if isinstance(node, ast.Call):
                with suppress(LookupError):
                    yield self._status_of(node)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yields the blocks of a compound statement that run in place."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if block:
            yield block
    for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield each.body
