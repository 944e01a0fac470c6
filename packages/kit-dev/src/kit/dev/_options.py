# SPDX-License-Identifier: MIT
"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ._loading import default_app


def complete_files(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Lets the shell complete an argument to the names of files."""
    return [CompletionItem(incomplete, type="file")]


def app_argument(*, is_required: bool) -> Callable[[Any], Any]:
    """The argument APP, which completes to files; `default_app` if it may be left out."""
    if is_required:
        return click.argument("target", metavar="APP", shell_complete=complete_files)
    return click.argument(
        "target", metavar="[APP]", default=default_app, shell_complete=complete_files
    )


def _check_host(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value:  # the system would take it for all addresses of this machine
        raise click.BadParameter("expected a name or an address, not ''")
    return value


host_option = click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    callback=_check_host,
    help="Address to listen on.",
)
port_option = click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes any free one.",
)
_SERVING = (
    click.option(
        "--env-file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="File of environment variables, e.g. .env; those that are set already win.",
    ),
    click.option(
        "--root-path",
        default="",
        metavar="PATH",
        help="Path below which a proxy serves the app, e.g. /shop, and which it removes.",
    ),
    click.option(
        "--tls-cert",
        type=click.Path(path_type=Path),
        help="File of a certificate in PEM, to serve over HTTPS; needs --tls-key.",
    ),
    click.option(
        "--tls-key",
        type=click.Path(path_type=Path),
        help="File of the private key of the certificate, in PEM, not encrypted.",
    ),
)


def serving_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that `kit dev` and `kit serve` share: environment, root path and TLS."""
    for option in reversed(_SERVING):
        function = option(function)
    return function
