# SPDX-License-Identifier: MIT
"""The `kit` command. Each of its commands is a module of its own."""

from __future__ import annotations

import click

from ._serve import serve

__all__ = ("main",)


@click.group()
@click.version_option(package_name="kit-dev", prog_name="kit")
def main() -> None:
    """Runs and inspects Kit apps."""


main.add_command(serve)

if __name__ == "__main__":
    main()
