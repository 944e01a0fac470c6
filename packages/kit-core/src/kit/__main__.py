# SPDX-License-Identifier: MIT
"""`python -m kit` is the `kit` command, which is part of kit-dev."""

import sys
from importlib import import_module


def main() -> None:
    """Runs the command, or says what to install."""
    try:
        command = import_module("kit.dev.cli")
    except ModuleNotFoundError as error:
        if error.name != "kit.dev":
            raise
        sys.exit(
            "The kit command is part of kit-dev, which is not installed here. "
            "Install it with: pip install 'kit-dev[serve]'"
        )
    command.main()


if __name__ == "__main__":
    main()
