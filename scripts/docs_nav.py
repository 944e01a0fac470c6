# SPDX-License-Identifier: MIT
"""Lists the pages of the reference in the navigation of the site; mkdocs.yml names it as a hook."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

FOLDER = "reference"


def on_config(config: MutableMapping[str, Any]) -> None:
    """Puts each page of `docs/reference` behind the index, by the name of its module.

    Args:
        config: The settings of MkDocs.
    """
    pages = sorted(path.stem for path in Path(config["docs_dir"], FOLDER).glob("*.md"))
    [entries] = [section["Reference"] for section in config["nav"] if "Reference" in section]
    entries += [{page: f"{FOLDER}/{page}.md"} for page in pages if page != "index"]
