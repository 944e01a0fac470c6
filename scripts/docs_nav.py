# SPDX-License-Identifier: MIT
"""MkDocs hook for what the site finds in the repository by itself.

It adds the pages of packages and the reference to the navigation, puts the changelogs of all
packages on one page, and sets how much pages count in the search.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

SECTIONS = {"Packages": "packages", "Reference": "reference"}
CHANGELOG = "changelog.md"
# Where the changelogs come on that page, in place of the list of links.
LIST = re.compile(r"^(?:- \[kit-.*\n)+", re.MULTILINE)
LINK = re.compile(r"^\[([^]]+)\]: (\S+)\n", re.MULTILINE)


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


def on_page_markdown(
    markdown: str, page: Any, config: MutableMapping[str, Any], **others: object
) -> str:
    """Sets the weight of a page in the search, and fills the page of changelogs.

    Args:
        markdown: The source of the page.
        page: The page.
        config: The settings of MkDocs; `extra.search_boost` has patterns of paths, with weights.
        others: What else MkDocs passes.

    Returns:
        The source to render.
    """
    path = page.file.src_uri
    for pattern, boost in config["extra"]["search_boost"].items():
        if fnmatch(path, pattern):
            page.meta.setdefault("search", {"boost": boost})
            break
    if path != CHANGELOG:
        return markdown
    files = Path(config["docs_dir"]).parent.glob("packages/*/CHANGELOG.md")
    parts = [changes(file.parent.name, file.read_text()) for file in files]
    return LIST.sub(lambda _: "\n".join(sorted(parts)), markdown)


def changes(package: str, changelog: str) -> str:
    """Returns a changelog as a section of the page of all changelogs.

    Args:
        package: The name of the package.
        changelog: Its changelog.

    Returns:
        Markdown: a heading for the package, below it one for each version.
    """
    links = dict(LINK.findall(changelog))
    _, found, versions = LINK.sub("", changelog).partition("\n## ")
    text = re.sub(r"^### (.+)", r"**\1**", found + versions, flags=re.MULTILINE)

    def heading(match: re.Match[str]) -> str:
        name, date = match.groups()
        anchor = f"{package}-{name}".lower().replace(".", "")
        return f"### [{name}]({links[name]}){date} {{#{anchor}}}"

    text = re.sub(r"^## \[([^]]+)\](.*)", heading, text, flags=re.MULTILINE)
    return f"## {package}\n{text}\n"
