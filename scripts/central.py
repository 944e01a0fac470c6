# SPDX-License-Identifier: MIT
"""Checks and updates the central files that list every package.

Everything else finds packages by globbing. `check_tree.py` runs the checks, and with `--write` the
updates; `new_package.py` runs the updates, too.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import release
from workspace import CORE, ROOT, Package

Packages = dict[str, Package]

REFERENCE = "docs/reference"
CHANGELOGS = "https://github.example/kit/kit/blob/main/packages"
PAGE = """\
# {module}

<!-- reference: {module} -->
<!-- end of reference -->
"""
# Paths in mypy_path that aren't the sources of a package.
_OTHER_PATHS = re.compile(r'^    "(?!packages/[^/]+/src").*\n', re.MULTILINE)
_IMPORTS = re.compile(r"^`kit[\w.]*`(?:, `kit[\w.]*`)*: ")


def uv_sources(text: str, packages: Packages) -> str:
    """Returns pyproject.toml with each package as a uv source; uv doesn't support globs there."""
    lines = "".join(f"{name} = {{ workspace = true }}\n" for name in packages)
    return _replaced(text, r"^\[tool\.uv\.sources\]\n", r"(?:.+\n)*", lines)


def mypy_path(text: str, packages: Packages) -> str:
    """Returns pyproject.toml with the folder of each package in `mypy_path`, without globs, too."""
    start, body = r"^mypy_path = \[\n", r"(?:    .+\n)*"
    found = re.search(f"(?:{start})({body})", text, re.MULTILINE)
    others = "".join(_OTHER_PATHS.findall(found[1])) if found else ""
    lines = "".join(f'    "packages/{name}/src",\n' for name in packages)
    return _replaced(text, start, body, lines + others)


def extra_of_all(text: str, packages: Packages) -> str:
    """Returns the pyproject.toml of kit-core with each package, and its extras, in `all`."""
    lines = "".join(
        f'    "{_requirement(each)}",\n' for each in packages.values() if each.name != CORE
    )
    return _replaced(text, r"^all = \[\n", r"(?:    .+\n)*", lines)


def changelog_list(text: str, packages: Packages) -> str:
    """Returns docs/changelog.md with a link to the changelog of each package."""
    lines = "".join(f"- [{name}]({CHANGELOGS}/{name}/CHANGELOG.md)\n" for name in packages)
    return _replaced(text, r"\n\n(?=- \[kit-)", r"(?:- .+\n)*", lines)


def readme_table(text: str, packages: Packages) -> str:
    """Returns the README with its table: kit-core, other parts of the framework, middleware."""
    order = sorted(packages.values(), key=lambda each: (each.name != CORE, each.is_middleware))
    rows = "".join(
        f"| [{package.name}](packages/{package.name}) | {_imports(package)}: {package.summary} |\n"
        for package in order
    )
    return _replaced(text, _table("distribution", "what is in it"), r"(?:\|.+\n)*", rows)


def packages_table(text: str, packages: Packages) -> str:
    """Returns docs/packages/index.md with a row for each package.

    The last column is written by hand, but for the import names that it begins with.
    """
    start = _table("distribution", "what is in it")
    summaries = {name: each.summary for name, each in packages.items()}
    for cells in _rows(text, start):
        summaries[cells[0].strip("`")] = _IMPORTS.sub("", cells[1])
    found = [name for cells in _rows(text, start) if (name := cells[0].strip("`")) in packages]
    rows = [
        (f"`{name}`", f"{_imports(packages[name])}: {summaries[name]}")
        for name in dict.fromkeys([*found, *packages])
    ]
    return _replaced(text, start, r"(?:\|.+\n)*", _lines(rows))


def reference_table(text: str, packages: Packages) -> str:
    """Returns the reference's index with a row for each import name and page, in order.

    The last column is written by hand.
    """
    start = _table("module", "distribution", "what is in it")
    owners = {module: each.name for each in packages.values() for module in each.modules}
    owners |= {leaf: each.name for each in packages.values() for leaf in each.leaves}
    summaries = {leaf: each.summary for each in packages.values() for leaf in each.leaves}
    for cells in _rows(text, start):
        module = re.sub(r"\[`(.+)`\].*", r"\1", cells[0])
        if module in owners:
            summaries[module] = cells[2]
    rows = [
        (f"[`{module}`]({module}.md)", owners[module], summaries[module])
        for module in sorted(summaries)
    ]
    return _replaced(text, start, r"(?:\|.+\n)*", _lines(rows))


WRITERS: dict[str, tuple[Callable[[str, Packages], str], ...]] = {
    "docs/changelog.md": (changelog_list,),
    f"packages/{CORE}/pyproject.toml": (extra_of_all,),
    "pyproject.toml": (uv_sources, mypy_path),
    "README.md": (readme_table,),
    "docs/packages/index.md": (packages_table,),
    f"{REFERENCE}/index.md": (reference_table,),
}


def problems(packages: Packages) -> Iterator[str]:
    """Yields missing and unexpected lines of the central files."""
    for path, expected in _expected(packages).items():
        name = path.relative_to(ROOT)
        if not path.exists():
            yield f"{name}: no such page; each import name of a package has one"
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        differences = [*difflib.ndiff(lines, expected.splitlines())]
        lacking = [line[2:].strip() for line in differences if line.startswith("+ ")]
        odd = [line[2:].strip() for line in differences if line.startswith("- ")]
        for line in lacking:
            yield f"{name}: {'line out of order' if line in odd else 'missing line'}: {line!r}"
        for line in odd:
            if line not in lacking:
                yield f"{name}: unexpected line: {line!r}"


def write(packages: Packages) -> list[Path]:
    """Updates the central files; returns those that changed."""
    changed = []
    for path, expected in _expected(packages).items():
        if not path.exists() or path.read_text(encoding="utf-8") != expected:
            path.write_text(expected, encoding="utf-8")
            changed.append(path)
    return changed


def _expected(packages: Packages) -> dict[Path, str]:
    """Returns the expected contents of the central files."""
    files = {}
    for name, writers in WRITERS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for writer in writers:
            try:
                text = writer(text, packages)
            except LookupError as error:
                sys.exit(f"error: {name}: {error}")
        files[ROOT / name] = text
    for leaf in (leaf for package in packages.values() for leaf in package.leaves):
        page = ROOT / REFERENCE / f"{leaf}.md"
        # Text on a page other than the docstrings is written by hand.
        is_there = page.exists()
        files[page] = page.read_text(encoding="utf-8") if is_there else PAGE.format(module=leaf)
    return files


def _imports(package: Package) -> str:
    return ", ".join(f"`{leaf}`" for leaf in package.leaves)


def _requirement(package: Package) -> str:
    """Returns a package with its extras for apps, in the range that is developed with it."""
    extras = [
        name for name in package.project.get("optional-dependencies", {}) if name != "testing"
    ]
    listed = f"[{','.join(sorted(extras))}]" if extras else ""
    return f"{package.name}{listed}{release.Version.parse(package.project['version']).range()}"


def _table(*titles: str) -> str:
    """Returns a regular expression for the first two lines of a table."""
    return rf"^\| {re.escape(' | '.join(titles))} \|\n\|[-|]+\|\n"


def _rows(text: str, start: str) -> list[list[str]]:
    found = re.search(f"(?:{start})((?:\\|.+\n)*)", text, re.MULTILINE)
    lines = found[1].splitlines() if found else []
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def _lines(rows: Sequence[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _replaced(text: str, start: str, body: str, new: str) -> str:
    """Replaces the text that `body` matches, after `start`, with `new`.

    Raises:
        LookupError: If nothing matches `start`.
    """
    found = re.search(f"({start}){body}", text, re.MULTILINE)
    if found is None:
        raise LookupError(f"expected lines that match {start!r}")
    return f"{text[: found.end(1)]}{new}{text[found.end() :]}"
