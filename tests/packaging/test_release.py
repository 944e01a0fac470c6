# SPDX-License-Identifier: MIT
"""`scripts/release.py` as a maintainer uses it, on a small workspace that each test makes."""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import clean_environment, run
from workspace import ROOT

pytestmark = pytest.mark.once

SCRIPT = ROOT / "scripts" / "release.py"
REPOSITORY = "https://code.example/kit"
PROJECT = """\
[project]
name = "{name}"
version = "{version}"
description = "A part of Kit."
readme = "README.md"
requires-python = ">=3.11"
license = "MIT"
license-files = ["LICENSE"]
keywords = ["kit"]
classifiers = ["Typing :: Typed"]
dependencies = {dependencies}

[project.urls]
Homepage = "{repository}"
Documentation = "{repository}/docs"
Repository = "{repository}"
Changelog = "{repository}/{name}/CHANGELOG.md"
Issues = "{repository}/issues"

[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["src/kit"]
"""
CHANGELOG = """\
# Changelog of {name}

## [Unreleased]
{unreleased}
## [{version}] - 2026-01-31

### Added

- The beginning.

[Unreleased]: {repository}/compare/{name}-v{version}...HEAD
[{version}]: {repository}/releases/tag/{name}-v{version}
"""
NEWS = """
### Added

- A second line.

### Fixed

- The first line.
"""
TODAY = datetime.date.today().isoformat()


class Workspace:
    """Three packages and an example in a repository; kit-logger and kit-core have news."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.make("kit-interface", "0.3.1", [])
        self.make("kit-logger", "0.1.0", ["kit-interface>=0.3,<0.4"], NEWS)
        self.make("kit-core", "1.4.2", ["kit-interface>=0.3,<0.4", "anyio>=4"], NEWS)
        self.write(
            "pyproject.toml",
            '[project]\nname = "workspace"\nversion = "0"\nrequires-python = ">=3.11"\n'
            '[tool.uv]\npackage = false\n[tool.uv.workspace]\nmembers = ["packages/*"]\n',
        )
        self.write("examples/plugin/README.md", 'asks for "kit-interface[x]>=0.3,<0.4" there\n')
        self.write("scripts/release.py", SCRIPT.read_text())
        self.git("init", "--quiet", "--initial-branch", "main")
        self.commit()

    def make(self, name: str, version: str, dependencies: list[str], unreleased: str = "") -> None:
        values = {"name": name, "version": version, "repository": REPOSITORY}
        folder = f"packages/{name}"
        settings = PROJECT.format(**values, dependencies=str(dependencies).replace("'", '"'))
        self.write(f"{folder}/pyproject.toml", settings)
        self.write(f"{folder}/CHANGELOG.md", CHANGELOG.format(**values, unreleased=unreleased))
        self.write(f"{folder}/README.md", f"# {name}\n")
        self.write(f"{folder}/LICENSE", "MIT\n")
        self.write(f"{folder}/src/kit/{name.partition('-')[2]}/__init__.py", "")

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert old in text
        self.write(name, text.replace(old, new))

    def git(self, *arguments: str) -> str:
        author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        return run("git", "-C", self.root, *author, *arguments)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a change")

    def release(self, *arguments: str, code: int = 0) -> str:
        """Runs the script; gives what it printed, or its error."""
        return run(sys.executable, self.root / "scripts" / "release.py", *arguments, code=code)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "workspace")


def test_bump_writes_version_and_changelog(workspace: Workspace) -> None:
    said = workspace.release("bump", "kit-logger", "minor")
    assert said.startswith("kit-logger 0.1.0 -> 0.2.0. Changed:\n")
    assert 'version = "0.2.0"\n' in workspace.read("packages/kit-logger/pyproject.toml")
    assert workspace.read("packages/kit-logger/CHANGELOG.md") == (
        "# Changelog of kit-logger\n\n## [Unreleased]\n\n"
        f"## [0.2.0] - {TODAY}\n{NEWS}\n"
        "## [0.1.0] - 2026-01-31\n\n### Added\n\n- The beginning.\n\n"
        f"[Unreleased]: {REPOSITORY}/compare/kit-logger-v0.2.0...HEAD\n"
        f"[0.2.0]: {REPOSITORY}/compare/kit-logger-v0.1.0...kit-logger-v0.2.0\n"
        f"[0.1.0]: {REPOSITORY}/releases/tag/kit-logger-v0.1.0\n"
    )
    changed = workspace.git("diff", "--name-only").split()
    assert changed == ["packages/kit-logger/CHANGELOG.md", "packages/kit-logger/pyproject.toml"]
    assert workspace.release("check") == "versions, changelogs and ranges agree\n"


@pytest.mark.parametrize(
    ("package", "step", "version"),
    [
        ("kit-logger", "patch", "0.1.1"),
        ("kit-logger", "major", "1.0.0"),
        ("kit-logger", "0.1.10", "0.1.10"),
        ("kit-core", "minor", "1.5.0"),
        ("kit-core", "major", "2.0.0"),
    ],
)
def test_steps(workspace: Workspace, package: str, step: str, version: str) -> None:
    workspace.release("bump", package, step)
    assert f'version = "{version}"\n' in workspace.read(f"packages/{package}/pyproject.toml")
    workspace.release("check")


def test_ranges_that_name_it_follow(workspace: Workspace) -> None:
    news = "## [Unreleased]\n\n### Changed\n\n- Another thing.\n"
    workspace.edit("packages/kit-interface/CHANGELOG.md", "## [Unreleased]\n", news)
    workspace.edit("packages/kit-core/CHANGELOG.md", "### Fixed", "### Changed")
    workspace.commit()
    workspace.release("bump", "kit-interface", "minor")
    for name in ("kit-logger", "kit-core"):
        settings = workspace.read(f"packages/{name}/pyproject.toml")
        assert '"kit-interface>=0.4,<0.5"' in settings
    assert '"kit-interface[x]>=0.4,<0.5"' in workspace.read("examples/plugin/README.md")
    line = "- Asks for kit-interface>=0.4,<0.5.\n"
    core, logger = (
        workspace.read(f"packages/{name}/CHANGELOG.md") for name in ("kit-core", "kit-logger")
    )
    assert f"### Changed\n\n{line}- The first line.\n" in core
    assert f"- The first line.\n\n### Changed\n\n{line}\n## [0.1.0] - 2026-01-31\n" in logger
    assert workspace.release("check") == "versions, changelogs and ranges agree\n"


def test_ranges_that_allow_it_stay(workspace: Workspace) -> None:
    news = "## [Unreleased]\n\n- Another thing.\n"
    workspace.edit("packages/kit-interface/CHANGELOG.md", "## [Unreleased]\n", news)
    workspace.commit()
    workspace.release("bump", "kit-interface", "patch")
    changed = workspace.git("diff", "--name-only").split()
    assert changed == [
        "packages/kit-interface/CHANGELOG.md",
        "packages/kit-interface/pyproject.toml",
    ]
    workspace.release("check")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("kit-loger", "minor"),
            "error: there is no package 'kit-loger': there are kit-core, kit-interface, "
            "kit-logger. Did you mean 'kit-logger'?\n",
        ),
        (
            ("kit-interface", "minor"),
            "error: nothing is under [Unreleased] in packages/kit-interface/CHANGELOG.md: say "
            "there what 0.4.0 changes\n",
        ),
        (
            ("kit-core", "1.4.2"),
            "error: kit-core is at 1.4.2 already: 1.4.2 is not later\n",
        ),
        (("kit-core", "1.3.9"), "error: kit-core is at 1.4.2 already: 1.3.9 is not later\n"),
        (
            ("kit-core", "1.5"),
            "error: '1.5' is no version: expected three numbers, e.g. 1.2.3\n",
        ),
        (
            ("kit-core", "v2.0.0"),
            "error: 'v2.0.0' is no version: expected three numbers, e.g. 1.2.3\n",
        ),
    ],
)
def test_bump_refuses(workspace: Workspace, arguments: tuple[str, ...], text: str) -> None:
    assert workspace.release("bump", *arguments, code=1) == text
    assert workspace.git("status", "--porcelain") == ""


def test_the_first_release_is_of_the_version_that_there_is(workspace: Workspace) -> None:
    workspace.make("kit-hello2", "0.1.0", ["kit-interface>=0.3,<0.4"])
    begun = (
        "# Changelog of kit-hello2\n\n## [Unreleased]\n{news}\n"
        f"[Unreleased]: {REPOSITORY}/commits/HEAD/packages/kit-hello2\n"
    )
    workspace.write("packages/kit-hello2/CHANGELOG.md", begun.format(news=""))
    assert workspace.release("check", code=1) == (
        "kit-hello2: CHANGELOG.md: it has no version, and nothing under [Unreleased]\n"
    )
    workspace.write("packages/kit-hello2/CHANGELOG.md", begun.format(news=NEWS))
    workspace.write("examples/plugin/pyproject.toml", '"kit-hello2[a2]>=0.1,<0.2"')
    workspace.commit()
    workspace.release("check")
    assert workspace.release("tag", "kit-hello2-v0.1.0", code=1) == (
        "error: kit-hello2 has changes under [Unreleased]: bump its version first\n"
    )
    assert workspace.release("bump", "kit-hello2", "0.0.9", code=1) == (
        "error: kit-hello2 is at 0.1.0 already: 0.0.9 is not later\n"
    )
    said = workspace.release("bump", "kit-hello2", "0.1.0")
    assert said.startswith("kit-hello2 0.1.0, the first release. Changed:\n")
    assert workspace.git("diff", "--name-only").split() == ["packages/kit-hello2/CHANGELOG.md"]
    assert workspace.read("packages/kit-hello2/CHANGELOG.md") == (
        f"# Changelog of kit-hello2\n\n## [Unreleased]\n\n## [0.1.0] - {TODAY}\n{NEWS}\n"
        f"[Unreleased]: {REPOSITORY}/compare/kit-hello2-v0.1.0...HEAD\n"
        f"[0.1.0]: {REPOSITORY}/releases/tag/kit-hello2-v0.1.0\n"
    )
    workspace.commit()
    assert workspace.release("tag", "kit-hello2-v0.1.0") == "kit-hello2\n"
    workspace.write("packages/kit-hello2/CHANGELOG.md", begun.format(news=NEWS))
    workspace.edit("packages/kit-hello2/pyproject.toml", '"0.1.0"', '"0.2.0"')
    assert workspace.release("check", code=1) == (
        "examples/plugin/pyproject.toml: kit-hello2[a2]>=0.1,<0.2 does not allow kit-hello2 0.2.0\n"
    )


def test_headings_alone_are_nothing(workspace: Workspace) -> None:
    news = "## [Unreleased]\n\n### Added\n\n### Fixed\n"
    workspace.edit("packages/kit-interface/CHANGELOG.md", "## [Unreleased]\n", news)
    workspace.commit()
    said = workspace.release("bump", "kit-interface", "patch", code=1)
    assert said.startswith("error: nothing is under [Unreleased]")


def test_bump_refuses_with_changes_about(workspace: Workspace) -> None:
    for number in range(5):
        workspace.write(f"note-{number}", "new")
    assert workspace.release("bump", "kit-logger", "minor", code=1) == (
        "error: there are changes that are not committed: note-0, note-1, note-2 and 2 more. "
        "Commit or undo them first\n"
    )
    assert 'version = "0.1.0"' in workspace.read("packages/kit-logger/pyproject.toml")


def test_bump_refuses_a_version_that_was_released(workspace: Workspace) -> None:
    workspace.git("tag", "kit-logger-v0.2.0")
    said = workspace.release("bump", "kit-logger", "minor", code=1)
    assert said == "error: the tag kit-logger-v0.2.0 exists already\n"


LOGGER = "packages/kit-logger"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            f"{LOGGER}/pyproject.toml",
            'version = "0.1.0"',
            'version = "0.1.1"',
            "kit-logger: CHANGELOG.md: its latest version is 0.1.0, that of the package 0.1.1",
        ),
        (
            f"{LOGGER}/CHANGELOG.md",
            " - 2026-01-31",
            "",
            "kit-logger: CHANGELOG.md: [0.1.0] has no date like 2026-12-31",
        ),
        (
            f"{LOGGER}/CHANGELOG.md",
            "## [Unreleased]",
            "## [0.0.1] - 2026-01-01",
            "kit-logger: CHANGELOG.md: the first section is not [Unreleased]",
        ),
        (
            f"{LOGGER}/CHANGELOG.md",
            "## [0.1.0]",
            "## [0.1.0] - 2026-01-31\n\n## [0.2.0]",
            "kit-logger: CHANGELOG.md: the versions are not in order, latest first",
        ),
        (
            f"{LOGGER}/CHANGELOG.md",
            "releases/tag",
            "tags",
            "kit-logger: CHANGELOG.md: it does not end with these links:\n"
            f"[Unreleased]: {REPOSITORY}/compare/kit-logger-v0.1.0...HEAD\n"
            f"[0.1.0]: {REPOSITORY}/releases/tag/kit-logger-v0.1.0",
        ),
        (
            f"{LOGGER}/pyproject.toml",
            "kit-interface>=0.3,<0.4",
            "kit-interface==0.3.1",
            "kit-logger: pyproject.toml: 'kit-interface==0.3.1' is no range of a package, "
            "e.g. 'kit-core>=0.1,<0.2'",
        ),
        (
            f"{LOGGER}/pyproject.toml",
            "kit-interface>=0.3,<0.4",
            "kit-interface>=0.2,<0.3",
            "packages/kit-logger/pyproject.toml: kit-interface>=0.2,<0.3 does not allow "
            "kit-interface 0.3.1",
        ),
        (
            "examples/plugin/README.md",
            "<0.4",
            "<0.3.1",
            "examples/plugin/README.md: kit-interface[x]>=0.3,<0.3.1 does not allow "
            "kit-interface 0.3.1",
        ),
        (
            f"{LOGGER}/pyproject.toml",
            'keywords = ["kit"]\n',
            "",
            "kit-logger: pyproject.toml: no keywords",
        ),
        (
            f"{LOGGER}/pyproject.toml",
            "Issues",
            "Tracker",
            "kit-logger: pyproject.toml: no Issues in urls",
        ),
        (
            f"{LOGGER}/pyproject.toml",
            f"{REPOSITORY}/docs",
            "https://docs.example",
            "kit-logger: pyproject.toml: Documentation https://docs.example is not within "
            f"{REPOSITORY}",
        ),
        (
            f"{LOGGER}/pyproject.toml",
            "Typing :: Typed",
            "Natural Language :: English",
            "kit-logger: pyproject.toml: no classifier 'Typing :: Typed'",
        ),
        (
            f"{LOGGER}/pyproject.toml",
            'requires-python = ">=3.11"',
            'requires-python = ">=3.12"',
            "kit-logger: pyproject.toml: requires-python is not '>=3.11'",
        ),
        (
            f"{LOGGER}/README.md",
            "# kit-logger",
            "# [kit-logger](../README.md)",
            "kit-logger: README.md: ../README.md leads nowhere on a package index",
        ),
    ],
)
def test_check_finds(workspace: Workspace, file: str, old: str, new: str, said: str) -> None:
    workspace.release("check")
    workspace.edit(file, old, new)
    assert said in workspace.release("check", code=1)


def test_the_packages_of_this_repository_agree() -> None:
    assert run(sys.executable, SCRIPT, "check") == "versions, changelogs and ranges agree\n"


def test_tag(workspace: Workspace) -> None:
    workspace.release("bump", "kit-logger", "minor")
    workspace.commit()
    assert workspace.release("tag", "kit-logger-v0.2.0") == "kit-logger\n"
    for name, text in {
        "kit-logger-v0.1.0": "the tag kit-logger-v0.1.0 is not that of kit-logger 0.2.0",
        "kit-core-v1.4.2": "kit-core has changes under [Unreleased]: bump its version first",
        "v0.2.0": "'v0.2.0' is no tag of a package: expected one like kit-logger-v1.2.3",
        "kit-looger-v0.2.0": "there is no package 'kit-looger': there are kit-core, "
        "kit-interface, kit-logger. Did you mean 'kit-logger'?",
    }.items():
        assert workspace.release("tag", name, code=1) == f"error: {text}\n"
    other = ("--repository", "https://code.example/fork")
    assert workspace.release("tag", "kit-logger-v0.2.0", *other, code=1) == (
        f"error: kit-logger names the repository {REPOSITORY}, this is https://code.example/fork\n"
    )
    workspace.edit(f"{LOGGER}/README.md", "# kit-logger", "[x](y.md)")
    said = workspace.release("tag", "kit-logger-v0.2.0", code=1)
    assert said.startswith("error: the packages do not agree:\nkit-logger: README.md: y.md")


def test_the_release_workflow_builds_the_package_of_the_tag(workspace: Workspace) -> None:
    workspace.release("bump", "kit-logger", "minor")
    workspace.commit()
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    steps = {step.get("name"): step for step in workflow["jobs"]["build"]["steps"]}
    script = steps["Build the package of the tag"]["run"]
    environment = {
        **clean_environment(),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "GITHUB_SERVER_URL": "https://code.example",
        "GITHUB_REPOSITORY": "kit",
        "UV_PYTHON": sys.executable,
    }

    def push(tag: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=workspace.root,
            env={**environment, "GITHUB_REF_NAME": tag},
            capture_output=True,
            text=True,
            timeout=120,
        )

    done = push("kit-logger-v0.2.0")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (workspace.root / "dist").iterdir()) == [
        ".gitignore",
        "kit_logger-0.2.0-py3-none-any.whl",
        "kit_logger-0.2.0.tar.gz",
    ]
    shutil.rmtree(workspace.root / "dist")
    refused = push("kit-logger-v0.3.0")
    assert refused.returncode == 1
    assert "the tag kit-logger-v0.3.0 is not that of kit-logger 0.2.0" in refused.stderr
    assert not (workspace.root / "dist").exists()


def test_workflows_and_contributing_name_what_there_is() -> None:
    pages = [ROOT / "CONTRIBUTING.md", *(ROOT / ".github/workflows").glob("*.yml")]
    assert len(pages) == 3
    path = r"(?<![\w./-])(?:\.ci|\.github|examples|packages|scripts|tests)/[\w./-]*\w"
    for page in pages:
        for name in re.findall(path, page.read_text()):
            # The package that the page adds is not there.
            assert (ROOT / name).exists() or name == "packages/kit-hello", (page.name, name)
