# SPDX-License-Identifier: MIT
"""The `kit` command. Each of its commands is a module of its own, imported when it is asked for."""

from __future__ import annotations

import click

from ._group import KitGroup

__all__ = ("main",)


@click.group(cls=KitGroup)
@click.version_option(package_name="kit-dev", prog_name="kit")
def main() -> None:
    """Runs and inspects Kit apps."""


if __name__ == "__main__":
    main()
