# SPDX-License-Identifier: MIT
"""What can be wrong with the app that a command is given."""

from __future__ import annotations

import os

from kit.interface import KitError


class AppError(KitError):
    """Root of the errors of finding an app; commands print its text."""


class ImportStringError(AppError, ValueError):
    """What was asked for can't be the place of an app, whatever there is.

    Args:
        target: What was asked for.
        reason: Why not, and what is expected.
    """

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(target, reason)
        self.target = target
        self.reason = reason

    def __str__(self) -> str:
        return f"Can't load {self.target!r}: {self.reason}"


class AppNotFoundError(AppError, LookupError):
    """There is no module, file or folder of this name.

    Args:
        target: What was asked for.
        looked_for: The files or modules that were looked for.
        folder: The folder that was current then.
        near: What could be asked for instead: what there is that resembles it, the nearest first.
    """

    def __init__(
        self, target: str, looked_for: tuple[str, ...], folder: str, near: tuple[str, ...]
    ) -> None:
        super().__init__(target, looked_for, folder, near)
        self.target = target
        self.looked_for = looked_for
        self.folder = folder
        self.near = near

    def __str__(self) -> str:
        names = " and ".join(self.looked_for)
        text = f"There is no app at {self.target!r}: looked for {names}"
        if not os.path.isabs(self.looked_for[0]):
            text += f" in {self.folder}"
        return f"{text}. Did you mean {self.near[0]!r}?" if self.near else text


class AttributeNotFoundError(AppError, AttributeError):
    """The module has no such attribute, or none that is an app.

    Args:
        module: The file of the module, or its name.
        attribute: What was asked for, or None if the usual names were tried.
        near: Names in the module that resemble it, or that are apps.
    """

    def __init__(self, module: str, attribute: str | None, near: tuple[str, ...]) -> None:
        super().__init__(module, attribute, near)
        self.module = module
        self.attribute = attribute
        self.near = near

    def __str__(self) -> str:
        if self.attribute is not None:
            text = f"{self.module} has no attribute {self.attribute!r}"
            return f"{text}. Did you mean {self.near[0]!r}?" if self.near else text
        if self.near:
            names = " or ".join(repr(f":{name}") for name in self.near)
            return f"{self.module} has several apps: say which, by putting {names} behind it"
        return (
            f"{self.module} has no app: expected a Kit called 'app', "
            "or name another attribute with ':name'"
        )


class NotAnAppError(AppError, TypeError):
    """The attribute is there, but is neither a Kit app nor a function that returns one.

    Args:
        module: The file of the module, or its name.
        attribute: Name of the attribute.
        found: What it is, or what the function gave.
    """

    def __init__(self, module: str, attribute: str, found: str) -> None:
        super().__init__(module, attribute, found)
        self.module = module
        self.attribute = attribute
        self.found = found

    def __str__(self) -> str:
        return (
            f"{self.attribute!r} of {self.module} is {self.found}, "
            "expected a Kit app or a function without parameters that gives one"
        )


class AppFailedError(AppError, RuntimeError):
    """The user's own code raised while it was imported or called.

    Args:
        module: The file of the module, or its name.
        traceback: The traceback, from their code on.
    """

    def __init__(self, module: str, traceback: str) -> None:
        super().__init__(module, traceback)
        self.module = module
        self.traceback = traceback

    def __str__(self) -> str:
        return f"{self.module} can't be loaded:\n{self.traceback}"


class SettingsError(AppError, ValueError):
    """The settings in a pyproject.toml can't be used.

    Args:
        file: The file.
        key: The setting that is wrong; None if it is the file itself.
        reason: Why, and what is expected.
    """

    def __init__(self, file: str, key: str | None, reason: str) -> None:
        super().__init__(file, key, reason)
        self.file = file
        self.key = key
        self.reason = reason

    def __str__(self) -> str:
        place = self.file if self.key is None else f"{self.key} in {self.file}"
        return f"{place}: {self.reason}"


class EnvFileError(AppError, ValueError):
    """The file of environment variables can't be read.

    Args:
        file: The file.
        reason: Why not.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(file, reason)
        self.file = file
        self.reason = reason

    def __str__(self) -> str:
        return f"Can't read the environment variables in {self.file}: {self.reason}"
