# SPDX-License-Identifier: MIT
"""MkDocs hook that adds the pages of the reference to the navigation of the site."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

FOLDER = "reference"


def on_config(config: MutableMapping[str, Any]) -> None:
    """Adds each page of `docs/reference` after the index, sorted by module name.

    Args:
        config: The settings of MkDocs.
    """
    pages = sorted(path.stem for path in Path(config["docs_dir"], FOLDER).glob("*.md"))
    [entries] = [section["Reference"] for section in config["nav"] if "Reference" in section]
    entries += [{page: f"{FOLDER}/{page}.md"} for page in pages if page != "index"]
