# SPDX-License-Identifier: MIT
"""The command `kit serve`."""

from __future__ import annotations

import inspect
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kit.interface import plugins

from .._env_file import load_env_file
from .._options import app_argument, host_option, port_option, serving_options
from .._requirements import require
from .._serving import checked

GROUP = "kit.servers"
_OWN = "kit-dev"


def _servers(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    names = sorted({plugin.name for plugin in plugins.installed(GROUP)})
    return [name for name in names if name.startswith(incomplete)]


@click.command("serve", short_help="Serves an app.")
@app_argument(is_required=False)
@host_option
@port_option
@click.option(
    "--uds",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of a Unix domain socket to listen at in place of host and port.",
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="In how many processes to serve it.",
)
@click.option(
    "--server",
    default="uvicorn",
    show_default=True,
    shell_complete=_servers,
    help="uvicorn, granian, or another one that is installed (see kit plugins).",
)
@click.option(
    "--interface",
    default="asgi",
    show_default=True,
    type=click.Choice(["asgi", "rsgi"]),
    help="What the server calls the app by; rsgi is granian's own.",
)
@serving_options
@click.pass_context
def command(
    ctx: click.Context,
    target: str,
    host: str,
    port: int,
    uds: Path | None,
    workers: int,
    server: str,
    interface: str,
    env_file: Path | None,
    root_path: str,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Serves an app.

    APP is module:attr, path/to/app.py, or a folder with an app.py; by default KIT_APP, the app
    that pyproject.toml names, or the current folder. The attribute is `app` if none is given.
    """
    if uds is not None:
        given = [name for name in ("host", "port") if _is_given(ctx, name)]
        if given:
            raise click.UsageError(f"--uds stands in place of --{given[0]}: give one of the two")
    options: dict[str, Any] = {}
    if interface == "rsgi":
        if server != "granian":
            raise click.UsageError("--interface rsgi is for --server granian alone")
        options["interface"] = interface
    serving = checked(root_path, tls_cert, tls_key)
    # Those that aren't used aren't handed on: not every server has them.
    options |= {name: value for name, value in asdict(serving).items() if value}
    run = _find(server)
    _check_options(server, run, options)
    if env_file is not None:
        require("kit serve --env-file", "dotenv")
        load_env_file(env_file)
    sys.exit(run(target, host=host, port=port, uds=uds, workers=workers, **options))


def _find(name: str) -> Any:
    """The server of a name. Those of kit-dev go first: installing another changes nothing."""
    try:
        own = any(
            each.name == name for each in plugins.installed(GROUP) if each.distribution == _OWN
        )
        return plugins.load(GROUP, f"{_OWN}:{name}" if own else name)
    except plugins.PluginNotFoundError as error:
        raise click.BadParameter(str(error), param_hint="'--server'") from error
    except plugins.PluginError as error:
        raise click.ClickException(str(error)) from error


def _check_options(name: str, run: Any, options: dict[str, Any]) -> None:
    taken = inspect.signature(run).parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in taken):
        return
    for option in options:
        if option not in {each.name for each in taken}:
            raise click.UsageError(f"--server {name} has no --{option.replace('_', '-')}")


def _is_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
