# SPDX-License-Identifier: MIT
"""MkDocs hook that adds the pages of packages and the reference to the site's navigation."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

SECTIONS = {"Packages": "packages", "Reference": "reference"}


def on_config(config: MutableMapping[str, Any]) -> None:
    """Adds each page of `docs/packages` and `docs/reference` after the index, sorted by name.

    Args:
        config: The settings of MkDocs.
    """
    for section, folder in SECTIONS.items():
        pages = sorted(path.stem for path in Path(config["docs_dir"], folder).glob("*.md"))
        [entries] = [each[section] for each in config["nav"] if section in each]
        # A page of the reference is named after its module, one of a package by its own title.
        entries += [
            {page: f"{folder}/{page}.md"} if folder == "reference" else f"{folder}/{page}.md"
            for page in pages
            if page != "index"
        ]
