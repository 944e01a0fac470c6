# SPDX-License-Identifier: MIT
"""The commands `kit openapi` and `kit client`, which kit-dev finds through entry points."""

from __future__ import annotations

import contextlib
import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ._document import Documentation
    from ._versions import Version


def _default_app() -> str:
    from kit.dev import default_app  # installed wherever the command runs

    return default_app()


_APP = click.argument("target", metavar="[APP]", default=_default_app)
_PATH = click.option(
    "--path",
    help="Path of the document, if the app has several.  [default: the first one]",
)
_OUTPUT = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write to, instead of standard output.",
)
_CHECK = click.option(
    "--check",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to compare with: if it is out of date, print the difference and exit with 1.",
)


@click.command("openapi", short_help="Prints the OpenAPI document of an app.")
@_APP
@_PATH
@_OUTPUT
@_CHECK
@click.option(
    "--version",
    type=click.Choice(["3.1", "3.2"]),
    help="Version of OpenAPI.  [default: that of the app's document]",
)
def openapi(
    target: str, path: str | None, output: Path | None, check: Path | None, version: Version | None
) -> None:
    """Prints the OpenAPI document of an app, or writes it to a file.

    APP is module:attr, path/to/app.py, or a folder with an app.py; the default is KIT_APP, or the
    app that pyproject.toml names, or that of the current folder.
    What can't be part of the document is named on standard error.
    """
    import msgspec  # here and below: `kit --help` imports this module only for its help

    documented = _load(target, path)
    if version is not None:
        documented = documented.in_version(version)
    encoded = msgspec.json.encode(documented.document())
    _tell(documented)
    _put(msgspec.json.format(encoded, indent=2).decode() + "\n", output, check)


@click.command("client", short_help="Writes a typed client for an app.")
@_APP
@_PATH
@_OUTPUT
@_CHECK
@click.option(
    "--lang",
    type=click.Choice(["python", "typescript"]),
    default="python",
    show_default=True,
    help="Language of the client.",
)
def client(
    target: str, path: str | None, output: Path | None, check: Path | None, lang: str
) -> None:
    """Prints a typed client for an app, or writes it to a file.

    APP is as for kit openapi. The client is one file: a Python module that needs httpx and msgspec,
    or a TypeScript module that needs nothing.
    """
    from ._client import LANGUAGES

    # OpenAPI 3.2 has a place for all that clients can call.
    documented = _load(target, path).in_version("3.2")
    text = LANGUAGES[lang](documented.document())
    _tell(documented)
    _put(text, output, check)


def _load(target: str, path: str | None) -> Documentation:
    # The command requires kit-dev; the package itself doesn't.
    from kit.dev import AppError, load_app

    try:
        with contextlib.redirect_stdout(sys.stderr):  # the output mustn't include app prints
            app = load_app(target)
    except AppError as error:
        raise click.ClickException(str(error)) from error
    return _find(app, path)


def _find(app: Any, path: str | None) -> Documentation:
    from ._options import documentation
    from ._setup import documentations

    found = documentations(app)
    if path is not None:
        for each, documented in found:
            if each == path:
                return documented
        there_is = ", ".join(each for each, _ in found) or "none"
        raise click.BadParameter(
            f"the app has no document at {path!r}; there is {there_is}", param_hint="'--path'"
        )
    if found:
        return found[0][1]
    return documentation(
        "openapi", app, info=None, servers=(), tags=(), errors=None, security_schemes=None
    )


def _tell(documented: Documentation) -> None:
    for note in documented.notes:
        click.echo(f"Note: {note}", err=True)


def _put(text: str, output: Path | None, check: Path | None) -> None:
    if output is not None:
        try:
            output.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise click.ClickException(f"can't write {str(output)!r}: {error.strerror}") from error
    elif check is None:
        click.echo(text, nl=False)
    if check is not None:
        _compare(text, check)


def _compare(text: str, check: Path) -> None:
    try:
        old = check.read_text(encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"can't read {str(check)!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.ClickException(f"can't read {str(check)!r}: it is not UTF-8") from error
    if old == text:
        return
    lines = difflib.unified_diff(
        old.splitlines(), text.splitlines(), str(check), "the app", lineterm=""
    )
    click.echo("\n".join(lines))
    click.echo(f"{check} is out of date: update it with --output {check}", err=True)
    sys.exit(1)
