# SPDX-License-Identifier: MIT
"""The command `kit routes`."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import asdict
from typing import Any

import click

from kit.authoring.terminal import supports_color
from kit.interface import METHOD_NAME_ALL, UnsupportedPathError

from .._explaining import Explanation, Refusal, Step, explain, has_own_path
from .._inspection import Inspection, RouteData, inspect_app
from .._loading import load_app
from .._options import app_argument
from .._style import GREEN, YELLOW, painted
from .._table import columns, is_listed, label, route_lines


@click.command("routes", short_help="Lists the routes of an app, or explains what answers a URL.")
@app_argument(is_required=False)
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Middleware as well, where each is defined, and what runs before each handler.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
@click.option("--path", default="", help="Only routes that have this in their path.")
@click.option("--method", "-X", help="Only routes that answer this method; for --explain, its own.")
@click.option(
    "--explain", "url", metavar="PATH", help="Tell what would run for a path, in which order."
)
def command(
    target: str, verbose: bool, as_json: bool, path: str, method: str | None, url: str | None
) -> None:
    """Lists the routes of an app, in the order in which they are tried.

    APP is module:attr, path/to/app.py, or a folder with an app.py; the default is KIT_APP, or the
    app that pyproject.toml names, or that of the current folder.
    A handler that never runs, because an earlier one answers all of its requests, is marked. So is
    middleware that doesn't run for handlers on its paths, because they were registered before it.
    """
    if url is not None and (path or verbose):
        other = "--path" if path else "--verbose"
        raise click.UsageError(f"--explain shows all that runs for one path: leave out {other}")
    with contextlib.redirect_stdout(sys.stderr):  # what the app prints is none of this
        app = load_app(target)
    colorize = supports_color(sys.stdout)
    if url is not None:
        try:
            found = explain(app, (method or "GET").upper(), url)
        except UnsupportedPathError as error:
            raise click.ClickException(str(error)) from error
        if as_json:
            _write_json(asdict(found))
        else:
            _write(_explained(found, colorize, has_own_path(app)), colorize)
        return
    routes = [each for each in inspect_app(app) if verbose or is_listed(each)]
    wanted = [each for each in routes if _is_wanted(each, path, method)]
    if as_json:
        _write_json([_as_dict(each) for each in wanted])
    elif routes and not wanted:
        _write(["There are no such routes."], colorize)
    else:
        _write(route_lines(wanted, verbose=verbose, colorize=colorize), colorize)


def _is_wanted(route: Inspection, path: str, method: str | None) -> bool:
    methods = (METHOD_NAME_ALL, method.upper()) if method else (route.data.method,)
    return path in route.data.path and route.data.method in methods


def _as_dict(route: Inspection) -> dict[str, Any]:
    place = route.place
    return {
        **asdict(route.data),
        "is_mounted": route.is_mounted,
        "file": place and place.file,
        "line": place and place.line,
        "shadowed_by": route.shadow and _identity(route.shadow),
        "uncovered": [_identity(each) for each in route.uncovered],
    }


def _identity(route: RouteData) -> dict[str, str]:
    return {"path": route.path, "method": route.method, "name": route.name}


def _explained(found: Explanation, colorize: bool, has_path: bool) -> list[str]:
    lines = [f"{found.method} {found.path}"]
    if has_path:
        lines += ["The app has a get_path of its own: this is taken for what that gives."]
    lines += ["", _router(found), *map(_refused, found.refusals), ""]
    rows = [
        (str(number), step.method, step.path, _name(step), _remarks(step, found.steps))
        for number, step in enumerate(found.steps, 1)
    ]
    lines += [f"  {line}" for line in columns(rows, 4)]
    for step in found.steps:
        if step.source and step.runs:
            lines += ["", f"Where the arguments of {step.name} come from:", ""]
            lines += [f"  {line}" for line in step.source.splitlines()]
    if not found.is_answered:
        lines += [*([""] if rows else []), *_unanswered(found)]
    if colorize:
        lines[0] = lines[0].replace(found.method, painted(found.method, GREEN), 1)
        lines = [painted(line, YELLOW) if "not reached" in line else line for line in lines]
    return lines


def _router(found: Explanation) -> str:
    uses = f", which uses {found.active_router}" if found.active_router else ""
    return f"Router: {found.router}{uses}"


def _refused(refusal: Refusal) -> str:
    method = f"{refusal.method} " if refusal.method else ""
    at = "" if refusal.position is None else f" at position {refusal.position}"
    return f"  {refusal.router} refused {method}{refusal.path!r}{at}: {refusal.reason}"


def _name(step: Step) -> str:
    return label(step.name, is_middleware=step.is_middleware and not step.is_mounted)


def _remarks(step: Step, steps: list[Step]) -> str:
    if not step.runs:
        answering = next(each for each in steps if not each.is_middleware)
        return f"not reached: {answering.name} answers before it"
    remarks = [f"{name}={value!r}" for name, value in step.params.items()]
    return " ".join([*remarks, *(["mounted"] if step.is_mounted else [])])


def _unanswered(found: Explanation) -> list[str]:
    if found.other_methods:
        return [
            f"No handler answers {found.method}; there are some for "
            f"{', '.join(found.other_methods)}."
        ]
    near = f" Near it: {', '.join(found.near)}." if found.near else ""
    return [f"No handler answers this path.{near}"]


def _write(lines: list[str], colorize: bool) -> None:
    click.echo("\n".join(lines), color=colorize)


def _write_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
