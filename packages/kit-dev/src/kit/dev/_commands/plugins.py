# SPDX-License-Identifier: MIT
"""The command `kit plugins`."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import click

from kit.authoring.terminal import supports_color
from kit.interface import plugins

from .._functions import NotACommandError, as_command
from .._group import OWN
from .._requirements import missing
from .._style import YELLOW, painted
from .._table import columns

_KINDS = {
    "kit.routers": "router",
    "kit.middleware": "middleware",
    "kit.commands": "command",
    "kit.servers": "server",
}
_HEADER = ("KIND", "NAME", "DISTRIBUTION", "VERSION")


@click.command("plugins", short_help="Lists what is installed for Kit.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def command(as_json: bool) -> None:
    """Lists what is installed for Kit: routers, middleware, commands, servers.

    Each is imported; one that can't be used is marked with the reason. What several distributions
    register under one name is asked for as distribution:name.
    """
    with contextlib.redirect_stdout(sys.stderr):  # what a plugin prints is none of this
        found = [_described(plugin) for group in _KINDS for plugin in plugins.installed(group)]
    for each in found:
        same = [e for e in found if (e["kind"], e["name"]) == (each["kind"], each["name"])]
        each["is_ambiguous"] = len(same) > 1
    if as_json:
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    rows = [(*_cells(each), *_remarks(each)) for each in found]
    lines = columns([_HEADER, *rows], len(_HEADER))
    colorize = supports_color(sys.stdout)
    if colorize:
        lines = [
            painted(line, YELLOW) if len(row) > len(_HEADER) else line
            for line, row in zip(lines, [_HEADER, *rows], strict=True)
        ]
    click.echo("\n".join(lines), color=colorize)


def _described(plugin: plugins.InstalledPlugin) -> dict[str, Any]:
    return {
        "kind": _KINDS[plugin.group],
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "target": plugin.target,
        "problem": _problem(plugin),
        "needs": _needs(plugin),
    }


def _needs(plugin: plugins.InstalledPlugin) -> str | None:
    """What a server of ours lacks, and how to get it; each is called as the module it needs."""
    is_ours = plugin.distribution == "kit-dev" and plugin.group == "kit.servers"
    return missing(plugin.name) if is_ours else None


def _problem(plugin: plugins.InstalledPlugin) -> str | None:
    """What keeps a plugin from being used; it is imported to tell, and a router is made."""
    try:
        value = plugins.load(plugin.group, f"{plugin.distribution}:{plugin.name}")
    except plugins.PluginLoadError as error:
        return f"{plugin.target} raised {error.reason}"
    except plugins.PluginError as error:  # it was removed just now
        return str(error)
    if plugin.group == "kit.commands":
        try:
            as_command(plugin.name, value)
        except NotACommandError as error:
            return str(error)
        return None
    if not callable(value):
        return _expected("something to call", value)
    return _problem_of_router(value) if plugin.group == "kit.routers" else None


def _problem_of_router(factory: Any) -> str | None:
    try:
        router = factory()
    except Exception as error:
        return f"called without arguments it raised {type(error).__name__}: {error}"
    lacking = [name for name in ("name", "add", "match") if not hasattr(router, name)]
    return f"what it gives has no {lacking[0]!r}, expected a router" if lacking else None


def _expected(what: str, value: Any) -> str:
    return f"it is an object of type {type(value).__name__}, expected {what}"


def _cells(plugin: dict[str, Any]) -> tuple[str, ...]:
    return plugin["kind"], plugin["name"], plugin["distribution"], plugin["version"]


def _remarks(plugin: dict[str, Any]) -> tuple[str, ...]:
    remarks = []
    if plugin["problem"]:
        remarks.append(f"broken: {plugin['problem']}")
    if plugin["needs"]:
        remarks.append(plugin["needs"])
    if plugin["kind"] == "command" and plugin["name"] in OWN:
        remarks.append(f"hidden by Kit's own: {plugin['distribution']}:{plugin['name']} runs it")
    elif plugin["is_ambiguous"]:
        remarks.append(f"ask for {plugin['distribution']}:{plugin['name']}")
    return ("; ".join(remarks),) if remarks else ()
