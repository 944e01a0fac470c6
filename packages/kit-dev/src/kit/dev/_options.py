# SPDX-License-Identifier: MIT
"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from ._loading import default_app


def _files(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def app_argument(*, is_required: bool) -> Callable[[Any], Any]:
    """The argument APP, which completes to files; `default_app` if it may be left out."""
    if is_required:
        return click.argument("target", metavar="APP", shell_complete=_files)
    return click.argument("target", metavar="[APP]", default=default_app, shell_complete=_files)


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
