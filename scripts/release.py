# SPDX-License-Identifier: MIT
"""Bumps versions of packages, and checks that versions, changelogs and ranges agree.

    python scripts/release.py bump kit-logger minor
    python scripts/release.py bump kit-logger 1.0.0
    python scripts/release.py bump kit-hello 0.1.0
    python scripts/release.py check
    python scripts/release.py tag kit-logger-v0.2.0

`bump` writes the version, moves unreleased changes in the changelog under it, and widens the ranges
of packages that depend on it; a package without a release may be bumped to the version it has.
`check` prints one line per problem. `tag` checks whether a tag can be published, and prints its
package; `.github/workflows/release.yml` runs it.
"""

from __future__ import annotations

import argparse
import datetime
import difflib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
STEPS = ("major", "minor", "patch")
# SPEC: the core metadata that the page of a package index shows.
NEEDED = ("description", "readme", "license", "license-files", "keywords", "classifiers")
REQUIRES_PYTHON = ">=3.11"
LABELS = ("Homepage", "Documentation", "Repository", "Changelog", "Issues")
PAGES = (
    "*.md",
    "docs/**/*.md",
    "examples/*/*.md",
    "examples/*/pyproject.toml",
    "packages/*/*.md",
    "packages/*/pyproject.toml",
)
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
SECTION = re.compile(r"^## \[(?P<name>[^]]+)\](?: - (?P<date>\S+))?$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINKS = re.compile(r"(?:^\[[^]]+\]: \S+\n)+\Z", re.MULTILINE)
RANGE = re.compile(
    r"(?P<name>\bkit-[a-z0-9-]+)(?P<extra>\[[a-z0-9,-]+\])?>=(?P<low>[\d.]+),<(?P<high>[\d.]+)"
)


class Version(NamedTuple):
    """A version by Semantic Versioning, without pre-releases."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Version:
        found = VERSION.fullmatch(text)
        if not found:
            refuse(f"{text!r} is no version: expected three numbers, e.g. 1.2.3")
        return cls(*map(int, found.groups()))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def after(self, step: str) -> Version:
        """Returns the next major, minor or patch version."""
        place = STEPS.index(step)
        numbers = [*self[:place], self[place] + 1, 0, 0]
        return Version(*numbers[:3])

    def range(self) -> str:
        """Returns the range that a package developed with this version requires.

        Before 1.0.0 a minor version may break dependants, after that only a major version.
        """
        low = f">={self.major}.{self.minor}"
        return f"{low},<0.{self.minor + 1}" if self.major == 0 else f"{low},<{self.major + 1}"

    def is_within(self, low: str, high: str) -> bool:
        lowest, beyond = ([int(part) for part in bound.split(".")] for bound in (low, high))
        return lowest <= [*self] < beyond


class Package:
    """A package of the workspace, with the contents of its files."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.settings_file = folder / "pyproject.toml"
        self.changelog_file = folder / "CHANGELOG.md"
        self.settings = self.settings_file.read_text()
        self.changelog = self.changelog_file.read_text()
        self.readme = (folder / "README.md").read_text()
        self.project: dict[str, Any] = tomllib.loads(self.settings)["project"]
        self.version = Version.parse(self.project["version"])

    @property
    def repository(self) -> str:
        return str(self.project.get("urls", {}).get("Repository", ""))

    def tag(self, version: Version) -> str:
        return f"{self.name}-v{version}"

    def released(self) -> list[Version]:
        """Returns the versions in the changelog, in its order."""
        names = (match["name"] for match in SECTION.finditer(self.changelog))
        return [Version.parse(name) for name in names if name != "Unreleased"]

    def unreleased(self) -> str:
        """Returns the changelog's section of unreleased changes."""
        parts = SECTION.split(LINKS.sub("", self.changelog))
        # The parts are the title, then name, date and text of each section.
        sections = dict(zip(parts[1::3], parts[3::3], strict=True))
        return (sections.get("Unreleased") or "").strip()

    def links(self) -> str:
        """Returns the links that the changelog must end with."""
        versions = self.released()
        if not versions:
            return f"[Unreleased]: {self.repository}/commits/HEAD/packages/{self.name}\n"
        lines = [f"[Unreleased]: {self.repository}/compare/{self.tag(versions[0])}...HEAD"]
        for version, before in pairwise(versions):
            changes = f"{self.tag(before)}...{self.tag(version)}"
            lines.append(f"[{version}]: {self.repository}/compare/{changes}")
        first = versions[-1]
        lines.append(f"[{first}]: {self.repository}/releases/tag/{self.tag(first)}")
        return "".join(line + "\n" for line in lines)

    def write_version(self, version: Version, date: str) -> None:
        """Writes a new version, and moves unreleased changes under it."""
        self.settings = re.sub(
            rf'^version *= *"{re.escape(str(self.version))}"$',
            f'version = "{version}"',
            self.settings,
            count=1,
            flags=re.MULTILINE,
        )
        heading = f"## [Unreleased]\n\n## [{version}] - {date}"
        self.changelog = self.changelog.replace("## [Unreleased]", heading, 1)
        self.version = version
        self.write()

    def write_change(self, line: str) -> None:
        """Adds a line under Changed to the unreleased changes."""
        unreleased = self.unreleased()
        if "### Changed" in unreleased:
            changed = unreleased.replace("### Changed\n\n", f"### Changed\n\n{line}\n", 1)
        else:
            changed = f"{unreleased}\n\n### Changed\n\n{line}".strip()
        start = self.changelog.index("## [Unreleased]") + len("## [Unreleased]")
        rest = self.changelog[start:].lstrip().removeprefix(unreleased).lstrip()
        self.changelog = f"{self.changelog[:start]}\n\n{changed}\n\n{rest}"
        self.write()

    def write(self) -> None:
        text = LINKS.sub("", self.changelog).rstrip()
        self.changelog = f"{text}\n\n{self.links()}"
        self.changelog_file.write_text(self.changelog)
        self.settings_file.write_text(self.settings)


def refuse(text: str) -> NoReturn:
    """Exits with an error message."""
    sys.exit(f"error: {text}")


def git(*arguments: str) -> str:
    """Runs git in the repository and returns its output."""
    command = ["git", "-C", str(ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        refuse(f"git {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout


def packages() -> dict[str, Package]:
    """Returns the packages of the workspace by name."""
    folders = sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))
    return {folder.name: Package(folder) for folder in folders}


def find(name: str, among: dict[str, Package]) -> Package:
    """Returns the package of this name; exits with an error if there is none."""
    if name in among:
        return among[name]
    nearest = difflib.get_close_matches(name, among, n=1)
    hint = f". Did you mean {nearest[0]!r}?" if nearest else ""
    refuse(f"there is no package {name!r}: there are {', '.join(among)}{hint}")


def files_with_ranges() -> Iterator[Path]:
    """Yields the settings and pages that may contain a range of a package."""
    for pattern in PAGES:
        # A changelog describes the past, so its ranges stay as they are.
        yield from (path for path in sorted(ROOT.glob(pattern)) if path.name != "CHANGELOG.md")


def bump(name: str, step: str) -> None:
    """Bumps the version of a package; checks everything before it writes anything."""
    all_packages = packages()
    package = find(name, all_packages)
    old = package.version
    new = old.after(step) if step in STEPS else Version.parse(step)
    if new < old or (new == old and package.released()):
        refuse(f"{name} is at {old} already: {new} is not later")
    if not re.sub(r"^###.*$", "", package.unreleased(), flags=re.MULTILINE).strip():
        path = package.changelog_file.relative_to(ROOT)
        refuse(f"nothing is under [Unreleased] in {path}: say there what {new} changes")
    if changed := git("status", "--porcelain").splitlines():
        rest = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        names = ", ".join(line[3:] for line in changed[:3]) + rest
        refuse(f"there are changes that are not committed: {names}. Commit or undo them first")
    if git("tag", "--list", package.tag(new)):
        refuse(f"the tag {package.tag(new)} exists already")
    package.write_version(new, datetime.date.today().isoformat())
    widened = widen(package)
    for dependant in all_packages.values():
        if dependant.settings_file in widened and dependant is not package:
            dependant.settings = dependant.settings_file.read_text()
            dependant.write_change(f"- Asks for {name}{new.range()}.")
    print(f"{name} {new}, the first release" if new == old else f"{name} {old} -> {new}", end="")
    print(". Changed:")
    print(git("diff", "--stat").rstrip())
    print(f"Look at it, run .ci/run, and commit it as '{name} {new}'; CONTRIBUTING.md goes on.")


def widen(package: Package) -> list[Path]:
    """Updates ranges that don't allow a package's version; returns the changed files."""

    def renewed(found: re.Match[str]) -> str:
        is_other = found["name"] != package.name
        if is_other or package.version.is_within(found["low"], found["high"]):
            return found[0]
        return f"{found['name']}{found['extra'] or ''}{package.version.range()}"

    changed = []
    for path in files_with_ranges():
        text = path.read_text()
        if (new := RANGE.sub(renewed, text)) != text:
            path.write_text(new)
            changed.append(path)
    return changed


def problems() -> list[str]:
    """Lists all disagreements."""
    all_packages = packages()
    found: list[str] = []
    for package in all_packages.values():
        complaints = [
            *metadata_problems(package),
            *changelog_problems(package),
            *requirement_problems(package, all_packages),
        ]
        found += [f"{package.name}: {complaint}" for complaint in complaints]
    if len(repositories := {package.repository for package in all_packages.values()}) > 1:
        found.append(f"the packages name several repositories: {', '.join(sorted(repositories))}")
    for path in files_with_ranges():
        for match in RANGE.finditer(path.read_text()):
            named = all_packages.get(match["name"])
            if named and not named.version.is_within(match["low"], match["high"]):
                where = path.relative_to(ROOT)
                found.append(f"{where}: {match[0]} does not allow {named.name} {named.version}")
    return found


def metadata_problems(package: Package) -> Iterator[str]:
    """Yields what the page of a package index would lack."""
    project = package.project
    yield from (f"pyproject.toml: no {key}" for key in NEEDED if not project.get(key))
    if project.get("requires-python") != REQUIRES_PYTHON:
        yield f"pyproject.toml: requires-python is not {REQUIRES_PYTHON!r}"
    if "Typing :: Typed" not in project.get("classifiers", ()):
        yield "pyproject.toml: no classifier 'Typing :: Typed'"
    urls, repository = project.get("urls", {}), package.repository
    for label in (label for label in LABELS if label not in urls):
        yield f"pyproject.toml: no {label} in urls"
    for label, url in urls.items():
        if not url.startswith(repository):
            yield f"pyproject.toml: {label} {url} is not within {repository}"
    for target in re.findall(r"\]\(([^)]+)\)", CODE.sub("", package.readme)):
        if not re.match(r"https://|#", target):
            yield f"README.md: {target} leads nowhere on a package index"


def changelog_problems(package: Package) -> Iterator[str]:
    """Yields what the changelog lacks by the rules of Keep a Changelog."""
    sections = [*SECTION.finditer(package.changelog)]
    if not sections or sections[0]["name"] != "Unreleased":
        yield "CHANGELOG.md: the first section is not [Unreleased]"
    for section in sections[1:]:
        try:
            datetime.date.fromisoformat(section["date"] or "")
        except ValueError:
            yield f"CHANGELOG.md: [{section['name']}] has no date like 2026-12-31"
    versions = package.released()
    if not versions and not package.unreleased():
        yield "CHANGELOG.md: it has no version, and nothing under [Unreleased]"
    if versions and versions[0] != package.version:
        yield (
            f"CHANGELOG.md: its latest version is {versions[0]}, that of the package "
            f"{package.version}"
        )
    if versions != sorted(set(versions), reverse=True):
        yield "CHANGELOG.md: the versions are not in order, latest first"
    if not package.changelog.endswith(f"\n\n{package.links()}"):
        yield f"CHANGELOG.md: it does not end with these links:\n{package.links().rstrip()}"


def requirement_problems(package: Package, among: dict[str, Package]) -> Iterator[str]:
    """Yields requirements on other packages of the workspace that are not ranges."""
    project = package.project
    extras = project.get("optional-dependencies", {}).values()
    for line in [*project.get("dependencies", ()), *(line for lines in extras for line in lines)]:
        name = re.split(r"[^a-z0-9-]", line, maxsplit=1)[0]
        if name.startswith("kit-") and not (name in among and RANGE.fullmatch(line)):
            yield f"pyproject.toml: {line!r} is no range of a package, e.g. 'kit-core>=0.1,<0.2'"


def tag(name: str, repository: str | None) -> None:
    """Prints the package of a tag; exits with an error if the tag can't be published."""
    package_name, dash, version = name.rpartition("-v")
    if not dash:
        refuse(f"{name!r} is no tag of a package: expected one like kit-logger-v1.2.3")
    package = find(package_name, packages())
    if Version.parse(version) != package.version:
        refuse(f"the tag {name} is not that of {package.name} {package.version}")
    if package.unreleased():
        refuse(f"{package.name} has changes under [Unreleased]: bump its version first")
    if repository and package.repository != repository:
        refuse(f"{package.name} names the repository {package.repository}, this is {repository}")
    if found := problems():
        refuse("the packages do not agree:\n" + "\n".join(found))
    print(package.name)


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    bumping = commands.add_parser("bump", help="give a package a new version")
    bumping.add_argument("package")
    bumping.add_argument("step", help="major, minor, patch, or a version")
    commands.add_parser("check", help="tell whether versions, changelogs and ranges agree")
    tagging = commands.add_parser("tag", help="tell whether a tag can be published")
    tagging.add_argument("tag")
    tagging.add_argument("--repository", help="address that the metadata has to name")
    given = parser.parse_args()
    if given.command == "bump":
        bump(given.package, given.step)
    elif given.command == "tag":
        tag(given.tag, given.repository)
    elif found := problems():
        sys.exit("\n".join(found))
    else:
        print("versions, changelogs and ranges agree")


if __name__ == "__main__":
    main()
