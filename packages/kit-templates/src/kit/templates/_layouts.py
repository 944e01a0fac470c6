# SPDX-License-Identifier: MIT
"""The layouts around a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from kit.authoring.options import OptionChecks
from kit.http.vary import add_vary
from kit.interface import Context

Layouts: TypeAlias = tuple[str, ...]
"""Names of templates, from the innermost outwards."""

_VARIABLE = "kit.templates.layouts"
# Request headers of htmx (https://htmx.org/reference/#request_headers): a page loaded by a boosted
# link, or because it is missing from the browser's history, replaces the whole page.
_HTMX = ("HX-Request", "HX-Boosted", "HX-History-Restore-Request")


def check_layouts(check: OptionChecks, layout: str | Iterable[str] | None) -> Layouts:
    """Checks the option `layout`, or the argument with that name.

    Raises:
        TypeError: If it isn't a str, a sequence of str, or None.
        ValueError: If a name is empty.
    """
    names = () if layout is None else check.texts("layout", layout)
    if not all(names):
        check.unusable("layout", layout, "names of templates")
    return names


def begin(c: Context[Any, Any], layouts: Layouts) -> None:
    """Sets the layouts of a request, replacing earlier ones."""
    c.set(_VARIABLE, layouts)


def nest(c: Context[Any, Any], name: str) -> None:
    """Adds a layout inside the existing ones."""
    c.set(_VARIABLE, (name, *(c.get(_VARIABLE) or ())))


def current(c: Context[Any, Any]) -> Layouts:
    """Returns the layouts of a request."""
    return c.get(_VARIABLE) or ()


def wants_part(c: Context[Any, Any]) -> bool:
    """Returns whether htmx requests a partial page, since its page already has the layout."""
    header = c.req.header
    return header(_HTMX[0]) == "true" and header(_HTMX[1]) != "true" and header(_HTMX[2]) != "true"


def vary_by_htmx(headers: Any) -> None:
    """Adds the headers that `wants_part` reads to Vary."""
    add_vary(headers, *_HTMX)
