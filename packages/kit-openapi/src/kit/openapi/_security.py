# SPDX-License-Identifier: MIT
"""Names security schemes, and writes what an operation requires of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any, TypeAlias

from ._operations import Operation

Requirement: TypeAlias = dict[str, list[str]]

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_CHOICES = 32


class Security:
    """The security schemes of a document.

    Args:
        given: Schemes that `openapi` was given, by name.

    Attributes:
        schemes: All schemes by name.
    """

    def __init__(self, given: Mapping[str, Mapping[str, Any]]) -> None:
        self.schemes: dict[str, dict[str, Any]] = {name: dict(each) for name, each in given.items()}

    def requirements(self, operation: Operation) -> list[Requirement] | None:
        """Returns what an operation requires; None if nothing is said of it.

        Each guard in front of it has to be satisfied, by one of the schemes that it knows.
        """
        described = operation.described.get("security")
        if described is not None:
            return [self._requirement(each) for each in described]
        guards = [facts.security for facts in operation.facts if facts.security]
        if not guards:
            return None
        found: list[Requirement] = []
        for choice in product(*guards):
            requirement: Requirement = {}
            for each in choice:  # several schemes are to be satisfied together
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


def _name(scheme: Mapping[str, Any]) -> str:
    name = scheme.get("scheme") or scheme.get("name") or scheme["type"]
    return _NOT_IN_NAMES.sub("_", str(name)).strip("_") or "key"
