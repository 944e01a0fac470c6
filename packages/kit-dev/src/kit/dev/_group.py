# SPDX-License-Identifier: MIT
"""The group of commands: those of Kit, of the project, and of installed distributions."""

from __future__ import annotations

import importlib
from typing import Any

import click

from kit.interface import plugins

from ._errors import AppError, SettingsError
from ._settings import Settings, find_settings

GROUP = "kit.commands"
# With their help, so that `kit --help` needs to import none of them.
OWN = {
    "dev": "Serves an app, and again whenever its code changes.",
    "new": "Makes a small project to start from.",
    "plugins": "Lists what is installed for Kit: routers, middleware, commands, servers.",
    "request": "Sends an app a request, without a server.",
    "routes": "Lists the routes of an app, or explains what answers a URL.",
    "serve": "Serves an app.",
    "shell": "Opens a Python shell with an app.",
}


class KitGroup(click.Group):
    """A group whose commands are imported when they are run.

    What a project or another distribution registers can't keep the commands of Kit from running:
    one that fails to load is shown with the reason.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of all commands, Kit's own first."""
        return list(dict.fromkeys([*OWN, *_project_commands(_project()), *_added()]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports a command.

        Args:
            ctx: The context of the group.
            cmd_name: Its name, or `distribution:name` where several distributions have one.

        Returns:
            The command; None if there is none of this name.
        """
        if cmd_name in OWN:
            module = importlib.import_module(f"kit.dev._commands.{cmd_name}")
            command: click.Command = module.command
            return command
        project = _project()
        if isinstance(project, Settings) and cmd_name in project.commands:
            return _load_from_project(project, cmd_name)
        found = _load_plugin(cmd_name)
        if found is None and isinstance(project, SettingsError):
            return _Broken(cmd_name, project)  # it may be there
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command of a command line; for an unknown one the nearest is named."""
        name = args[0]
        if name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name):
            return super().resolve_command(ctx, args)
        import difflib

        near = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"No such command {name!r}.{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(OWN.items()))
        project = _project()
        taken = {*OWN, *_project_commands(project)}
        if isinstance(project, SettingsError):
            with formatter.section("Commands of this project"):
                formatter.write_text(str(project))
        elif project is not None and project.commands:
            with formatter.section("Commands of this project"):
                formatter.write_dl(
                    [
                        (name, _short_help(_load_from_project(project, name)))
                        for name in project.commands
                    ]
                )
        added = [name for name in _added() if name not in taken]
        if added:
            with formatter.section("Commands of other distributions"):
                formatter.write_dl([(name, _short_help(_load_plugin(name))) for name in added])

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; an app that can't be loaded is told without a traceback of ours."""
        try:
            return super().invoke(ctx)
        except AppError as error:
            raise click.ClickException(str(error)) from error


class _Broken(click.Command):
    """Stands for a command that can't be loaded: shown in the help, an error when it is run."""

    def __init__(self, name: str, reason: object) -> None:
        super().__init__(name, context_settings={"ignore_unknown_options": True})
        self.reason = str(reason)
        self.params = [click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)]
        self.add_help_option = False

    def invoke(self, ctx: click.Context) -> Any:
        raise click.ClickException(self.reason)


def _load_from_project(settings: Settings, name: str) -> click.Command:
    from ._project_commands import load_command

    try:
        return load_command(settings, name, OWN)
    except AppError as error:
        return _Broken(name, error)


def _load_plugin(name: str) -> click.Command | None:
    from ._functions import NotACommandError, as_command

    try:
        return as_command(name, plugins.load(GROUP, name))
    except plugins.PluginNotFoundError:
        return None
    except (plugins.PluginError, NotACommandError) as error:
        return _Broken(name, error)


def _project() -> Settings | SettingsError | None:
    """The settings of the project; the error if they can't be read."""
    try:
        return find_settings()
    except SettingsError as error:
        return error


def _project_commands(project: Settings | SettingsError | None) -> list[str]:
    return list(project.commands) if isinstance(project, Settings) else []


def _added() -> list[str]:
    """The names of the commands that distributions add, each once."""
    return list(dict.fromkeys(plugin.name for plugin in plugins.installed(GROUP)))


def _short_help(command: click.Command | None) -> str:
    if isinstance(command, _Broken):
        # Of a traceback the last line: the exception.
        first, *others = command.reason.splitlines()
        return " ".join(["(broken)", first, *others[-1:]])
    return command.get_short_help_str(200) if command else ""
