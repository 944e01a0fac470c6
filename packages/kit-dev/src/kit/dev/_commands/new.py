# SPDX-License-Identifier: MIT
"""The command `kit new`."""

from __future__ import annotations

from pathlib import Path

import click

from .._project import PLAIN, TYPED, ProjectError, make_project, missing


@click.command("new", short_help="Makes a small project to start from.")
@click.argument("name")
@click.option(
    "--plain", is_flag=True, help="Handlers of a context, without kit-typed and kit-openapi."
)
def command(name: str, plain: bool) -> None:
    """Makes a small project to start from, in a new folder.

    It has an app with typed endpoints and its documentation at /docs, tests, a pyproject.toml and a
    README. Nothing is ever overwritten.
    """
    template = PLAIN if plain else TYPED
    try:
        files = make_project(name, Path.cwd(), template)
    except ProjectError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Made {name} with {', '.join(files)}. Next:\n")
    lacking = " ".join(f"'{each}'" if "[" in each else each for each in missing(template))
    shown = "" if plain else "; open http://127.0.0.1:8000/docs"
    for line, meaning in (
        *([(f"pip install {lacking}", "")] if lacking else []),
        (f"cd {name}", ""),
        ("kit dev", f"serves it, and reloads it when its code changes{shown}"),
        ("pytest", "runs its tests"),
    ):
        click.echo(f"  {line:<10}{meaning}".rstrip())
