# SPDX-License-Identifier: MIT
"""Writes the exceptions of a client: one class for each documented error status."""

from __future__ import annotations

from collections.abc import Iterable

from kit.interface import ProblemError

from .._names import pascal
from .._operations import Answer
from .._schemas import Choice, read_schema
from ._types import ANY, Types
from ._writing import call, docstring


class ErrorClasses:
    """The classes of the errors that a document describes, and the types of their bodies.

    Args:
        types: The types of the document.
    """

    def __init__(self, types: Types) -> None:
        self._types = types
        self._kinds: dict[int, list[str]] = {}

    def read(self, answers: Iterable[Answer]) -> dict[str, str]:
        """Notes the errors of an operation.

        Returns:
            The types by status, or by the first digit for a range: a type, or a tuple of several
            where msgspec doesn't support their union.
        """
        found: dict[str, str] = {}
        for answer in answers:
            kinds = self._find_kinds(answer)
            written = kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
            if answer.status == "default":
                found.setdefault("4", written)
                found.setdefault("5", written)
            elif answer.status[0] in "45":
                found[answer.status if answer.status.isdigit() else answer.status[0]] = written
                if answer.status.isdigit():
                    known = self._kinds.setdefault(int(answer.status), [])
                    known += [kind for kind in kinds if kind not in known]
        return found

    def _find_kinds(self, answer: Answer) -> list[str]:
        if answer.kind != "json":
            return ["str" if answer.kind == "text" else ANY]
        kind = self._types.of(answer.schema)
        shape = read_schema(answer.schema)
        if kind != ANY or not isinstance(shape, Choice):
            return [kind]
        kinds = [each for each in map(self._types.of, shape.schemas) if each != ANY]
        return list(dict.fromkeys(kinds)) or [ANY]

    def write(self) -> list[str]:
        """Writes the classes."""
        self._names = {
            status: self._types.names.free(_find_name(status)) for status in sorted(self._kinds)
        }
        lines: list[str] = []
        for status, name in self._names.items():
            kinds = self._kinds[status]
            about = f"An error response with the documented status {status}."
            problem = ANY if ANY in kinds else " | ".join(kinds)
            lines += ["", "", f"class {name}(ClientError):", *docstring(about, 1), ""]
            lines.append(f"    problem: {problem}")
        return lines

    def write_table(self) -> list[str]:
        """Writes the classes by status."""
        pairs = [f"{status}: {name}" for status, name in self._names.items()]
        return ["", "", *call("_ERRORS: dict[int, type[ClientError]] = {", pairs, "}", 0)]


def _find_name(status: int) -> str:
    """Returns the name of the class for a status, e.g. `NotFoundError`."""
    name = pascal(ProblemError(status).title.replace("'", ""))
    return name if name.endswith("Error") else f"{name}Error"
