# SPDX-License-Identifier: MIT
"""The command `kit new`."""

from __future__ import annotations

from pathlib import Path

import click

from .._project import TEMPLATES, ProjectError, Template, make_project, missing

_DEFAULT = "api"


@click.command("new", short_help="Makes a small project to start from.")
@click.argument("name")
@click.option(
    "--template",
    "chosen",
    type=click.Choice([*TEMPLATES]),
    help=f"What to make, see above.  [default: {_DEFAULT}]",
)
@click.option("--plain", is_flag=True, help="The same as --template plain.")
def command(name: str, chosen: str | None, plain: bool) -> None:
    """Makes a small project to start from, in a new folder."""
    if plain and chosen not in (None, "plain"):
        raise click.UsageError(f"--plain is a template of its own: leave out --template {chosen}")
    template = TEMPLATES["plain" if plain else chosen or _DEFAULT]
    try:
        files = make_project(name, Path.cwd(), template)
    except ProjectError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Made {name} with {', '.join(files)}. Next:\n")
    lines = [("cd " + name, ""), *_steps(name, template)]
    width = max(len(line) for line, meaning in lines if meaning)
    for line, meaning in lines:
        click.echo(f"  {line:<{width}}   {meaning}".rstrip())


def _steps(name: str, template: Template) -> list[tuple[str, str]]:
    if template.description is not None:
        return [
            ("python -m pip install -U pip", "updates pip: before 25.1, it has no --group"),
            ("pip install -e . --group dev", "installs it, and what its tests need"),
            ("pytest", "runs its tests"),
            ("kit dev", "serves example.py, which uses it"),
        ]
    lacking = missing((Path.cwd() / name / "pyproject.toml").read_text(encoding="utf-8"))
    quoted = " ".join(f"'{each}'" if "[" in each else each for each in lacking)
    meaning = f"serves it, and reloads it when its code changes{template.hint}"
    return [
        *([(f"pip install {quoted}", "")] if lacking else []),
        (" ".join(["kit dev", *(f"--watch {each}" for each in template.watched)]), meaning),
        ("pytest", "runs its tests"),
    ]


_shown = "\n".join(f"  {each.name:<18} {each.summary}" for each in TEMPLATES.values())
command.help = f"""{command.help}

It has tests, a pyproject.toml and a README. Nothing is ever overwritten. The templates:

\b
{_shown}
"""
