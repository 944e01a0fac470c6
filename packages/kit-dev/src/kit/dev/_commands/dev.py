# SPDX-License-Identifier: MIT
"""The command `kit dev`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .._env_file import load_env_file
from .._listening import listen, shown_address
from .._loading import locate
from .._options import app_argument, host_option, port_option, serving_options
from .._requirements import require
from .._serving import checked


@click.command("dev", short_help="Serves an app, and again whenever its code changes.")
@app_argument(is_required=False)
@host_option
@port_option
@click.option(
    "--watch",
    "others",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="Another file or folder, e.g. of templates; may be given several times.",
)
@serving_options
@click.option(
    "--access-log/--no-access-log",
    default=None,
    help="Whether to write a line for each request.  [default: unless the app uses kit-logger]",
)
@click.option(
    "--browser-reload/--no-browser-reload",
    default=True,
    show_default=True,
    help="Whether pages in browsers are reloaded after a change.",
)
def command(
    target: str,
    host: str,
    port: int,
    others: tuple[Path, ...],
    env_file: Path | None,
    root_path: str,
    tls_cert: Path | None,
    tls_key: Path | None,
    access_log: bool | None,
    browser_reload: bool,
) -> None:
    """Serves an app, and again whenever its code changes.

    APP is module:attr, path/to/app.py, or a folder with an app.py; by default KIT_APP, the app
    that pyproject.toml names, or the current folder. The Python files of its folder are watched. A
    handler that holds the event loop for more than 50 ms is reported.
    """
    require("kit dev", "uvicorn", "watchfiles")
    serving = checked(root_path, tls_cert, tls_key)
    if env_file is not None:
        require("kit dev --env-file", "dotenv")
        load_env_file(env_file, sets=False)
    from .._dev_worker import DevOptions
    from .._reloading import Reloader

    place = locate(target)
    options = DevOptions(
        target, place.folder, others, serving, env_file, access_log, browser_reload, host
    )
    with listen(host, port) as listener:
        address = shown_address(host, listener, serving.scheme)
        greeting = f"Serving {place.shown} at {address} (Ctrl-C ends it)"
        code = Reloader(options, listener, greeting).run()
    sys.exit(code)
