# SPDX-License-Identifier: MIT
"""Where the modules of Kit that this process has loaded came from."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "KIT_BENCHMARKS_FOLDER"


class OriginError(ImportError):
    """A module of Kit was loaded from a folder that is not the expected one."""


def check_origins(folder: str) -> int:
    """Checks that every loaded module of Kit comes from one folder.

    Args:
        folder: The folder that holds `kit/`, without symbolic links.

    Returns:
        How many modules of Kit are loaded.

    Raises:
        OriginError: If one comes from elsewhere, or `kit` would search another folder, too.
    """
    root = Path(folder) / "kit"
    modules = {
        name: module
        for name, module in sorted(sys.modules.items())
        if name == "kit" or name.startswith("kit.")
    }
    if "kit" not in modules:
        raise OriginError(f"kit is not loaded, expected it from {str(root)!r}")
    searched = list(modules["kit"].__path__)
    if searched != [str(root)]:
        raise OriginError(f"kit.__path__ is {searched!r}, expected [{str(root)!r}]")
    for name, module in modules.items():
        for place in (module.__file__, *getattr(module, "__path__", ())):
            # Namespace packages have no file.
            if place is not None and not Path(place).is_relative_to(root):
                raise OriginError(f"{name} is loaded from {place!r}, expected below {str(root)!r}")
    return len(modules)


def checked_app() -> Any:
    """Makes Kit's app for a server, after checking that Kit comes from `$KIT_BENCHMARKS_FOLDER`."""
    from .peers import app_of_environment

    app = app_of_environment()
    check_origins(os.environ[FOLDER_VARIABLE])
    return app
