# SPDX-License-Identifier: MIT
"""The table `[tool.kit]` of the project's pyproject.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ._errors import SettingsError

FILE = "pyproject.toml"


class Settings(NamedTuple):
    """The settings of a project.

    Attributes:
        folder: The folder of the project.
        app: The import string of its app, relative to that folder.
        commands: Its commands by name, each as `module:attr`.
    """

    folder: Path
    app: str | None
    commands: dict[str, str]

    @property
    def file(self) -> Path:
        """The file that has the settings."""
        return self.folder / FILE


def find_settings() -> Settings | None:
    """Reads the settings of the project that the current folder belongs to.

    Returns:
        The settings in the pyproject.toml of the current folder, or of the nearest folder above it
        that has one; None if there is none.

    Raises:
        SettingsError: If the file can't be read, or a setting has the wrong type.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            return _read(folder)
    return None


def _read(folder: Path) -> Settings:
    import tomllib

    file = folder / FILE
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(str(file), None, str(reason)) from error
    table = _table(file, document.get("tool", {}), "kit", "tool")
    app = table.get("app")
    if app is not None and (not isinstance(app, str) or not app):
        raise SettingsError(str(file), "tool.kit.app", f"expected e.g. 'shop:app', not {app!r}")
    commands = _table(file, table, "commands", "tool.kit")
    for name, value in commands.items():
        if not isinstance(value, str):
            reason = f"expected e.g. 'shop.commands:seed', not {value!r}"
            raise SettingsError(str(file), f"tool.kit.commands.{name}", reason)
    return Settings(folder, app, commands)


def _table(file: Path, parent: dict[str, Any], key: str, above: str) -> dict[str, Any]:
    table = parent.get(key, {})
    if not isinstance(table, dict):
        raise SettingsError(str(file), f"{above}.{key}", f"expected a table, not {table!r}")
    return table
