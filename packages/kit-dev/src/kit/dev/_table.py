# SPDX-License-Identifier: MIT
"""Shows columns, and the routes of an app in columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from kit.authoring.options import OptionChecks
from kit.authoring.terminal import supports_color
from kit.interface import App

from ._inspection import Inspection, RouteData, inspect_routes
from ._names import Place
from ._style import GREEN, YELLOW, painted

_SHOWN_UNCOVERED = 3
HEADER = ("METHOD", "PATH", "HANDLER")


def show_routes(app: App, *, verbose: bool = False, colorize: bool | None = None) -> None:
    """Prints a line for each method and path: the method, then the path, in columns.

    Args:
        app: The app.
        verbose: Whether to print the paths that only middleware has as well, and beneath each line
            the names of what is registered there, middleware in square brackets.
        colorize: Whether to colour the methods. Default: if standard output takes colours, see
            `kit.authoring.terminal.supports_color`.

    Raises:
        RuntimeError: If a decorator never got its function.
        TypeError: If an option isn't a bool.
    """
    check = OptionChecks("show_routes")
    check.flag("verbose", verbose)
    if colorize is not None:
        check.flag("colorize", colorize)
    else:
        colorize = supports_color(sys.stdout)
    names: dict[tuple[str, str], list[str]] = {}
    for route in inspect_routes(app):
        if verbose or not route.is_middleware:
            name = label(route.name, is_middleware=route.is_middleware)
            names.setdefault((route.method, route.path), []).append(name)
    indent = " " * (max((len(method) for method, _ in names), default=0) + 4)
    for (method, _), line, beneath in zip(names, columns([*names], 1), names.values(), strict=True):
        shown = painted(method, GREEN) + line.removeprefix(method) if colorize else line
        sys.stdout.write("\n".join([shown, *(indent + name for name in beneath if verbose)]) + "\n")


def columns(rows: Sequence[Sequence[str]], bounded: int) -> list[str]:
    """Lines of text whose columns are aligned.

    Args:
        rows: The cells of each row.
        bounded: How many columns are as wide as their widest cell; the rest is as it is.
    """
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(bounded)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, *row[bounded:]]).rstrip())
    return lines


def route_lines(
    routes: Sequence[Inspection], *, verbose: bool = False, colorize: bool = False
) -> list[str]:
    """The routes of an app in columns: method, path, handler, and what there is to be said.

    Args:
        routes: The routes.
        verbose: Whether to write also the middleware, where each handler is defined, and beneath
            each handler the middleware that runs before it.
        colorize: Whether to colour methods and remarks.
    """
    shown = [each for each in routes if verbose or is_listed(each)]
    if not shown:
        return ["There are no routes."]
    rows = []
    for each in shown:
        place = (shown_place(each.place),) if verbose else ()
        is_plain_middleware = each.data.is_middleware and not each.is_mounted
        name = label(each.data.name, is_middleware=is_plain_middleware)
        cells = (each.data.method, each.data.path, name, *place)
        rows.append((*cells, remark(each)) if remark(each) else cells)
    header = (*HEADER, *(("DEFINED AT",) if verbose else ()))
    lines = columns([header, *rows], len(header))
    indent = " " * (max(len(row[0]) for row in (header, *rows)) + 4)
    result = [lines[0]]
    for each, line in zip(shown, lines[1:], strict=True):
        result.append(_colored(line, each) if colorize else line)
        if verbose and each.data.middleware and not each.data.is_middleware:
            before = " ".join(label(name, is_middleware=True) for name in each.data.middleware)
            result.append(f"{indent}after {before}")
    return result


def label(name: str, *, is_middleware: bool) -> str:
    """The name of a handler as it is shown: that of middleware in square brackets."""
    return f"[{name}]" if is_middleware and not name.startswith("[") else name


def is_listed(route: Inspection) -> bool:
    """Whether a route is shown: it answers requests, or is middleware that misses some."""
    return route.is_mounted or not route.data.is_middleware or bool(route.uncovered)


def remark(route: Inspection) -> str:
    """What is to be said of a route, or nothing."""
    if route.shadow is not None:
        return f"never runs: {describe(route.shadow)} answers before it"
    if route.uncovered:
        names = [describe(each) for each in route.uncovered[:_SHOWN_UNCOVERED]]
        more = len(route.uncovered) - len(names)
        shown = ", ".join(names) + (f" and {more} more" if more else "")
        return f"doesn't run for {shown}: register it before what it should cover"
    return "mounted" if route.is_mounted else ""


def describe(route: RouteData) -> str:
    """A route in words: its method, path and handler."""
    return f"{route.method} {route.path} ({route.name})"


def shown_place(place: Place | None) -> str:
    """Where something is defined, as short as it is clear."""
    if place is None:
        return "-"
    path = Path(place.file)
    for folder in (Path.cwd(), *sorted(map(Path, sys.path), key=lambda f: -len(f.parts))):
        if folder.is_absolute() and path.is_relative_to(folder):
            path = path.relative_to(folder)
            break
    return f"{path}:{place.line}"


def _colored(line: str, route: Inspection) -> str:
    method, said = route.data.method, remark(route)
    line = painted(method, GREEN) + line.removeprefix(method)
    return line.removesuffix(said) + painted(said, YELLOW) if said else line
