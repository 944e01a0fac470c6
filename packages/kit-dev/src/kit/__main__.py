# SPDX-License-Identifier: MIT
"""`python -m kit` is the `kit` command."""

from kit.dev.cli import main

if __name__ == "__main__":
    main()
