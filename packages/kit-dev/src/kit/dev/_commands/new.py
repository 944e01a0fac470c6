# SPDX-License-Identifier: MIT
"""The command `kit new`."""

from __future__ import annotations

from pathlib import Path

import click

from .._project import ProjectError, make_project


@click.command("new", short_help="Makes a small project to start from.")
@click.argument("name")
def command(name: str) -> None:
    """Makes a small project to start from, in a new folder.

    It has an app, tests, a pyproject.toml and a README. Nothing is ever overwritten.
    """
    try:
        files = make_project(name, Path.cwd())
    except ProjectError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Made {name} with {', '.join(files)}. Next:\n")
    for line, meaning in (
        (f"cd {name}", ""),
        ("kit dev", "serves it, and reloads it when its code changes"),
        ("pytest", "runs its tests"),
    ):
        click.echo(f"  {line:<10}{meaning}".rstrip())
