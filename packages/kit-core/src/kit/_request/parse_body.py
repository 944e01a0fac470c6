# SPDX-License-Identifier: MIT
"""Builds the dict that `parse_body` returns from a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from kit.web import FormData
from kit.web._forms.form_data import FormValue, get_entries

_MOST_STEPS = 100
"""The maximum nesting depth of dotted names; the rest of a longer name is a single step."""


def collect(form: FormData, *, all: bool) -> dict[str, Any]:
    """Returns a form as a dict. Names ending in `[]`, and with `all` repeated names, get lists."""
    values: dict[str, Any] = {}
    if not all:
        values = dict(get_entries(form))
        if "[]" not in "".join(values):  # PERF: true of most forms
            return values
        values = {}
    for name, value in get_entries(form):
        if all or name.endswith("[]"):
            _collect(values, name, value)
        else:
            values[name] = value
    return values


def _collect(values: dict[str, Any], name: str, value: FormValue) -> None:
    earlier = values.get(name)
    if isinstance(earlier, list):
        earlier.append(value)
    elif earlier is not None:
        values[name] = [earlier, value]
    else:
        values[name] = [value] if name.endswith("[]") else value


def nest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Turns dotted names into nested dicts; a plain value in the way is replaced."""
    nested = {name: value for name, value in values.items() if "." not in name}
    for name, value in values.items():
        steps = name.split(".", _MOST_STEPS)
        # Hono drops this name, which would change the prototype. Dropped here for parity.
        if len(steps) == 1 or "__proto__" in steps[:-1]:
            continue
        place = nested
        for step in steps[:-1]:
            if not isinstance(place.get(step), dict):
                place[step] = {}
            place = cast("dict[str, Any]", place[step])
        place[steps[-1]] = value
    return nested
