# SPDX-License-Identifier: MIT
"""The commands of a project: the table `[tool.kit.commands]` of its pyproject.toml."""

from __future__ import annotations

from collections.abc import Collection

import click

from ._errors import SettingsError
from ._functions import NotACommandError, as_command
from ._importing import import_from
from ._settings import Settings


def load_command(settings: Settings, name: str, reserved: Collection[str]) -> click.Command:
    """Imports a command of a project.

    Args:
        settings: The settings of the project, which have the command.
        name: The name of the command.
        reserved: The names that no command of a project may have.

    Returns:
        The command.

    Raises:
        SettingsError: If the setting is wrong, or there is no such function.
        AppFailedError: If the user's own code raised.
    """

    def wrong(reason: str) -> SettingsError:
        return SettingsError(str(settings.file), f"tool.kit.commands.{name}", reason)

    if name in reserved:
        raise wrong(f"{name!r} is a command of Kit: choose another name")
    target = settings.commands[name]
    place, colon, attribute = target.partition(":")
    parts = [*place.split("."), *attribute.split(".")]
    if not colon or not all(part.isidentifier() for part in parts):
        raise wrong(f"expected e.g. 'shop.commands:seed', not {target!r}")
    module = import_from(settings.folder, place)
    if module is None:
        raise wrong(f"there is no module {place!r} in {settings.folder}, and none is installed")
    value: object = module
    for part in attribute.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise wrong(f"{place!r} has no attribute {attribute!r}") from None
    try:
        return as_command(name, value)
    except NotACommandError as error:
        raise wrong(str(error)) from error
