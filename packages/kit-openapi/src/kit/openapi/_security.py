# SPDX-License-Identifier: MIT
"""Names security schemes, and writes the requirements of operations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice, product
from typing import Any, TypeAlias

from ._operations import Operation

Requirement: TypeAlias = dict[str, list[str]]

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_CHOICES = 32
_MOST_TRIED = 4096


class Security:
    """The security schemes of a document.

    Args:
        given: Schemes passed to `openapi`, by name.
        notes: Receives the unknown schemes.

    Attributes:
        schemes: All schemes by name.
    """

    def __init__(self, given: Mapping[str, Mapping[str, Any]], notes: list[str]) -> None:
        self._given = given
        self._notes = notes
        self.schemes: dict[str, dict[str, Any]] = {name: dict(each) for name, each in given.items()}

    def requirements(self, operation: Operation) -> list[Requirement] | None:
        """Returns the requirements of an operation; None if unspecified.

        A request must satisfy each guard before it, with one of the schemes of that guard.
        """
        described = operation.described.get("security")
        if described is not None:
            for name in {name: 0 for each in described if "type" not in each for name in each}:
                if name not in self._given:
                    self._notes.append(
                        f"{operation.method} {operation.shown.path} requires the security scheme "
                        f"{name!r:.100}, which openapi(security_schemes=...) doesn't have"
                    )
            return [self._requirement(each) for each in described]
        guards = [facts.security for facts in operation.facts if facts.security]
        if not guards:
            return None
        found: list[Requirement] = []
        for choice in islice(product(*guards), _MOST_TRIED):
            requirement: Requirement = {}
            for each in choice:  # a request must satisfy several schemes together
                for scheme in (each,) if isinstance(each, Mapping) else each:
                    requirement |= self._requirement(scheme)
            if requirement not in found:
                found.append(requirement)
        return found[:_MOST_CHOICES]

    def _requirement(self, value: Mapping[str, Any]) -> Requirement:
        if "type" not in value:
            return {name: list(scopes) for name, scopes in value.items()}
        scheme = dict(value)
        name = base = _name(scheme)
        number = 1
        while self.schemes.setdefault(name, scheme) != scheme:
            number += 1
            name = f"{base}_{number}"
        return {name: []}


def mark_open_operations(paths: Mapping[str, Mapping[str, Any]]) -> None:
    """Says of operations without a guard that they are open, if others have one.

    The default is the same, but linters and scanners take it for an omission.

    Args:
        paths: The Paths Object; changed in place.
    """
    operations = [operation for item in paths.values() for operation in item.values()]
    if any(each.get("security") for each in operations):
        for each in operations:
            each.setdefault("security", [])


def _name(scheme: Mapping[str, Any]) -> str:
    name = scheme.get("scheme") or scheme.get("name") or scheme["type"]
    return _NOT_IN_NAMES.sub("_", str(name)).strip("_") or "key"
