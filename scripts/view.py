# SPDX-License-Identifier: MIT
"""Creates `.view/kit`, with links to all packages in one folder, for editors and type checkers.

    python scripts/view.py

Pyright finds it by `extraPaths` in pyproject.toml. Git ignores it; run this again after adding a
module to kit-core or a package.
"""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Recreates the folder."""
    view = ROOT / ".view" / "kit"
    shutil.rmtree(view, ignore_errors=True)
    view.mkdir(parents=True)
    for source in sorted(ROOT.glob("packages/*/src/kit/*")):
        if source.name != "__pycache__":
            (view / source.name).symlink_to(source)
    print(f"{len(list(view.iterdir()))} links in {view.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
