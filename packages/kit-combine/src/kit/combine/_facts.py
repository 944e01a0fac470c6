# SPDX-License-Identifier: MIT
"""Merges the metadata of parts, for tools such as OpenAPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from kit.interface.metadata import Facts, combine_security, get_facts, merge_descriptions

from ._parts import Part

__all__ = ("facts_of_every", "facts_of_some")

_UNMET = {403: "A condition isn't met"}


def facts_of_every(parts: Sequence[Part]) -> dict[str, Any]:
    """Returns the facts of parts that all run, as arguments of `attach`."""
    facts = [get_facts(part.function) for part in parts]
    merged = _merged(facts, ("provides", "responses", "validates"))
    described = merge_descriptions(each.describes for each in facts)
    if described:
        merged["describes"] = described
    if any(part.is_condition for part in parts):
        merged["responses"] = _UNMET | merged.get("responses", {})
    security = combine_security(part.function for part in parts)
    if security:
        merged["security"] = security
    validates = [validated for each in facts for validated in find_validated(each)]
    if len(validates) > 1:  # several parts may read different names of the same target
        merged["combine_validates"] = tuple(validates)
    return merged | _calls(facts)


def facts_of_some(parts: Sequence[Part]) -> dict[str, Any]:
    """Returns the facts of parts if one of them suffices, as arguments of `attach`."""
    facts = [get_facts(part.function) for part in parts]
    merged = _merged(facts, ("responses",))
    if parts[-1].is_condition:  # otherwise a condition's error is never the response
        merged["responses"] = _UNMET | merged.get("responses", {})
    provides: dict[str, Any] = {}
    for name in {name: None for each in facts for name in each.provides}:
        types = [each.provides.get(name) for each in facts]  # None where a part doesn't set it
        provides[name] = _union(types)
    if provides:
        merged["provides"] = provides
    if any(each.security for each in facts):
        # A part without a scheme lets requests through that satisfy no scheme.
        choices = [choice for each in facts for choice in each.security or ((),)]
        merged["security"] = [
            choice for number, choice in enumerate(choices) if choice not in choices[:number]
        ]
    return merged | _calls(facts)


def find_validated(facts: Facts) -> tuple[Mapping[Any, Any], ...]:
    """Returns what the parts of a combination validate, or any other middleware."""
    own = (facts.validates,) if facts.validates else ()
    found: tuple[Mapping[Any, Any], ...] = facts.others.get("combine_validates", own)
    return found


def _calls(facts: Sequence[Facts]) -> dict[str, Any]:
    """Returns the functions that typed guards call, whose exceptions are documented."""
    calls = tuple(call for each in facts for call in each.others.get("typed_calls", ()))
    return {"typed_calls": calls} if calls else {}


def _merged(facts: Sequence[Facts], names: Sequence[str]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name in names:
        value: dict[Any, Any] = {}
        for each in facts:
            value.update(getattr(each, name))
        if value:
            merged[name] = value
    return merged


def _union(types: Sequence[Any]) -> Any:
    try:
        return Union[tuple(types)]  # noqa: UP007 - of types that are known at run time
    except TypeError:  # something that is not a type
        return Any
