# SPDX-License-Identifier: MIT
"""What only some commands need, and how to get it."""

from __future__ import annotations

import importlib.util

import click

_PIP = {"granian": "granian", "kit.rsgi": "kit-rsgi"}


def missing(*modules: str) -> str | None:
    """Lists the requirements that are not installed.

    Args:
        *modules: Names of modules.

    Returns:
        Which is the first one that is missing, and the pip command; None if all are there.
    """
    for name in modules:
        if importlib.util.find_spec(name) is None:
            install = _PIP.get(name, "'kit-dev[serve]'")
            return f"needs {name}, which is not installed: pip install {install}"
    return None


def require(command: str, *modules: str) -> None:
    """Refuses to go on without a module.

    Args:
        command: What needs it.
        *modules: Their names; the first one that is missing is told.

    Raises:
        ClickException: If one is not installed; the text names the pip command.
    """
    reason = missing(*modules)
    if reason is not None:
        raise click.ClickException(f"{command} {reason}")
