# SPDX-License-Identifier: MIT
"""The command `kit dev`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .._listening import listen, shown_address
from .._loading import locate
from .._options import app_argument, host_option, port_option
from .._requirements import require


@click.command("dev", short_help="Serves an app, and again whenever its code changes.")
@app_argument(is_required=False)
@host_option
@port_option
@click.option(
    "--watch",
    "others",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="Another file or folder, of templates say; may be given several times.",
)
def command(target: str, host: str, port: int, others: tuple[Path, ...]) -> None:
    """Serves an app, and again whenever its code changes.

    APP is module:attr, path/to/app.py, or a folder with an app.py; by default the current folder.
    The Python files of its folder are watched. A handler that holds the event loop for more than
    50 ms is told of.
    """
    require("kit dev", "uvicorn", "watchfiles")
    from .._reloading import Reloader

    place = locate(target)
    with listen(host, port) as listener:
        greeting = f"Serving {place.shown} at {shown_address(host, listener)} (Ctrl-C ends it)"
        code = Reloader(target, listener, greeting, place.folder, others).run()
    sys.exit(code)
