# SPDX-License-Identifier: MIT
"""The command `kit shell`."""

from __future__ import annotations

import platform
import sys

import click

from .._loading import load
from .._options import app_argument
from .._tracebacks import cut_in_log, from_their_code


@click.command("shell", short_help="Opens a Python shell with an app.")
@app_argument(is_required=False)
@click.option("--code", "-c", "source", metavar="CODE", help="Run this code, and exit.")
def command(target: str, source: str | None) -> None:
    """Opens a Python shell with an app, which is started before and shut down after it.

    APP is module:attr, path/to/app.py, or a folder with an app.py; the default is KIT_APP, or the
    app that pyproject.toml names, or that of the current folder.

    The shell has `app`, `request("/path")`, `client` of kit-testing if it is installed, and the
    names of the app's module; `await` works. It is that of IPython if it is installed. Code that is
    piped in is run like that of --code.
    """
    from .._shell import interact, names_for, run_source, running

    file = "<string>"
    loaded = load(target)
    if source is None and not _is_interactive():
        source, file = sys.stdin.read(), "<stdin>"
    is_fine = True
    try:
        with cut_in_log(), running(loaded.app) as running_app:
            names = names_for(running_app, loaded.module)
            if source is None:
                interact(running_app, names, _banner(loaded.shown, "client" in names))
            else:
                is_fine = run_source(source, file, running_app, names)
    except Exception as error:  # of the lifespan
        click.echo(from_their_code(error), err=True)
        is_fine = False
    if not is_fine:
        sys.exit(1)


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _banner(shown: str, has_client: bool) -> str:
    own = 'app, client, request("/path")' if has_client else 'app, request("/path")'
    return f"Python {platform.python_version()} with {shown}: {own}, and await. Ctrl-D ends it."
