# SPDX-License-Identifier: MIT
"""A form as a dict, the way `parse_body` gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from kit.web import FormData
from kit.web._forms.form_data import FormValue, entries_of

_MOST_STEPS = 100
"""How deep names with dots nest; what a name has beyond is one step."""


def collect(form: FormData, *, all: bool) -> dict[str, Any]:
    """Turns a form into a dict in which names that end in `[]`, or all, may have a list."""
    values: dict[str, Any] = {}
    if not all:
        values = dict(entries_of(form))
        if "[]" not in "".join(values):  # PERF: as in most forms
            return values
        values = {}
    for name, value in entries_of(form):
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
    """Turns names with dots into nested dicts; a plain value in the way gives way."""
    nested = {name: value for name, value in values.items() if "." not in name}
    for name, value in values.items():
        steps = name.split(".", _MOST_STEPS)
        # The name that would change the prototype in Hono; dropped here too.
        if len(steps) == 1 or "__proto__" in steps[:-1]:
            continue
        place = nested
        for step in steps[:-1]:
            if not isinstance(place.get(step), dict):
                place[step] = {}
            place = cast("dict[str, Any]", place[step])
        place[steps[-1]] = value
    return nested
