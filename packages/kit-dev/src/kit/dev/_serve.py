# SPDX-License-Identifier: MIT
"""The command `kit serve`."""

from __future__ import annotations

import sys

import click

from ._errors import AppError
from ._listening import listen, shown_address
from ._loading import load_app


@click.command()
@click.argument("target", metavar="APP")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes any free one.",
)
def serve(target: str, host: str, port: int) -> None:
    """Serves an app with uvicorn.

    APP is module:attr, path/to/app.py, or a folder with an app.py. The attribute is `app` if none
    is given.
    """
    if not host:  # the system would take it for all addresses of this machine
        raise click.BadParameter("expected a name or an address, not ''", param_hint="'--host'")
    try:
        app = load_app(target)
    except AppError as error:
        raise click.ClickException(str(error)) from error
    try:
        import uvicorn  # noqa: F401 - only whether it is there
    except ModuleNotFoundError as error:
        if error.name != "uvicorn":
            raise
        raise click.ClickException(
            "kit serve needs uvicorn, which is not installed: pip install 'kit-dev[serve]'"
        ) from None
    from ._server import run

    # Bound here, so that a port that is taken is told before the app is started.
    listener = listen(host, port)
    where = shown_address(host, listener)
    sys.exit(run(app, listener, f"Serving {target} at {where} (Ctrl-C ends it)"))
