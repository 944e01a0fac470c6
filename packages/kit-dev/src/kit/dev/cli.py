# SPDX-License-Identifier: MIT
"""The `kit` command."""

from __future__ import annotations

import click

from ._errors import AppError
from ._loading import load_app
from ._serve import serve_app

__all__ = ("main",)


@click.group()
@click.version_option(package_name="kit-dev", prog_name="kit")
def main() -> None:
    """Runs and inspects Kit apps."""


@main.command()
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
    try:
        app = load_app(target)
    except AppError as error:
        raise click.ClickException(str(error)) from error
    serve_app(app, target, host, port)


if __name__ == "__main__":
    main()
