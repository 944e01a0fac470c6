# SPDX-License-Identifier: MIT
"""Finds the plugins of installed distributions through entry points.

Nothing is looked up at import or by a bare `Kit()`: installing a distribution never changes the
behavior of an app.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ._errors import KitError

__all__ = (
    "InstalledPlugin",
    "PluginConflictError",
    "PluginError",
    "PluginLoadError",
    "PluginNotFoundError",
    "installed",
    "load",
)


class InstalledPlugin(NamedTuple):
    """One entry point of an installed distribution.

    Attributes:
        group: Group of the entry point, e.g. `kit.routers`.
        name: Name within the group, e.g. `trie`.
        distribution: Name of the distribution that registers it.
        version: Version of that distribution.
        target: The object reference, `module:attribute`.
    """

    group: str
    name: str
    distribution: str
    version: str
    target: str


class PluginError(KitError):
    """Base class of errors in plugin lookup."""


class PluginNotFoundError(PluginError, LookupError):
    """No installed distribution registers the name; `available` are the names in the group."""

    def __init__(self, group: str, name: str, available: tuple[str, ...]) -> None:
        super().__init__(group, name, available)
        self.group = group
        self.name = name
        self.available = available

    def __str__(self) -> str:
        import difflib

        text = f"No plugin {self.name!r} in the group {self.group!r}"
        if not self.available:
            return f"{text}: none is installed"
        text += ": installed are " + ", ".join(repr(name) for name in self.available)
        nearest = difflib.get_close_matches(self.name, self.available, n=1)
        return f"{text}. Did you mean {nearest[0]!r}?" if nearest else text


class PluginConflictError(PluginError):
    """Several distributions register the same name; `distributions` are their names."""

    def __init__(self, group: str, name: str, distributions: tuple[str, ...]) -> None:
        super().__init__(group, name, distributions)
        self.group = group
        self.name = name
        self.distributions = distributions

    def __str__(self) -> str:
        choices = " or ".join(repr(f"{d}:{self.name}") for d in self.distributions)
        return (
            f"The plugin {self.name!r} of the group {self.group!r} is registered by "
            f"{' and '.join(self.distributions)}: ask for {choices}"
        )


class PluginLoadError(PluginError):
    """An entry point could not be imported; the cause is chained, and `reason` is its text."""

    def __init__(self, group: str, name: str, distribution: str, target: str, reason: str) -> None:
        super().__init__(group, name, distribution, target, reason)
        self.group = group
        self.name = name
        self.distribution = distribution
        self.target = target
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"The plugin {self.name!r} of the group {self.group!r} can't be loaded: "
            f"{self.target!r} of the distribution {self.distribution!r} raised {self.reason}"
        )


def installed(group: str) -> list[InstalledPlugin]:
    """Lists the plugins of a group, without importing any.

    Args:
        group: `kit.routers`, `kit.middleware`, `kit.commands` or `kit.servers`.

    Returns:
        One entry for each name and distribution, sorted by name.
    """
    return [plugin for plugin, _ in _entry_points(group)]


def load(group: str, name: str) -> Any:
    """Imports a plugin.

    Args:
        group: The group to look in.
        name: Its name, or `distribution:name` if several distributions register it.

    Returns:
        The object that the entry point refers to.

    Raises:
        PluginNotFoundError: If there is no such name; the message lists the available ones.
        PluginConflictError: If several distributions register the name.
        PluginLoadError: If importing it failed.
    """
    distribution, colon, wanted = name.rpartition(":")
    entries = _entry_points(group)
    found = [each for each in entries if each[0].name == name]
    if not found and colon:
        found = [
            (plugin, entry)
            for plugin, entry in entries
            if plugin.name == wanted
            and _normalized(plugin.distribution) == _normalized(distribution)
        ]
    if not found:
        names = (f"{p.distribution}:{p.name}" if distribution else p.name for p, _ in entries)
        raise PluginNotFoundError(group, name, tuple(dict.fromkeys(names)))
    if len(found) > 1:
        raise PluginConflictError(group, found[0][0].name, tuple(p.distribution for p, _ in found))
    plugin, entry = found[0]
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise PluginLoadError(
            group, plugin.name, plugin.distribution, plugin.target, reason
        ) from error


def _entry_points(group: str) -> list[tuple[InstalledPlugin, Any]]:
    # Imported here, since it takes longer than all of kit.interface, and is rarely needed.
    from importlib.metadata import entry_points

    found: dict[tuple[str, str], tuple[InstalledPlugin, Any]] = {}
    for entry in entry_points(group=group):
        # With `get`, since a partly removed distribution has no metadata.
        metadata: Any = entry.dist.metadata if entry.dist else {}
        distribution = metadata.get("Name") or "?"
        version = metadata.get("Version") or "?"
        plugin = InstalledPlugin(group, entry.name, distribution, version, entry.value)
        # With an editable install, a distribution can be on the path twice.
        found.setdefault((plugin.name, _normalized(distribution)), (plugin, entry))
    return [found[key] for key in sorted(found)]


def _normalized(distribution: str) -> str:
    """The name normalized per the packaging specifications (`-_.` are equivalent)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
