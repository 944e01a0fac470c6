# SPDX-License-Identifier: MIT
"""Two states of Kit on one machine: a commit and the working tree.

The packages of each state are laid out as an install of their wheels would be, in a temporary
folder: one `kit/` for all distributions. So a state has no advantage from having fewer
distributions, and edits made during a run change nothing. All else is the same for both: the
interpreter, the libraries of its environment, and the code of this suite.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from .crew import ROOT

BEFORE, NOW = "before", "now"


class SideError(Exception):
    """A state of Kit can't be set up."""


@dataclass(frozen=True)
class Side:
    """A state of Kit.

    Attributes:
        name: `BEFORE` or `NOW`.
        revision: The short hash of the commit, or of the one that the working tree stands on.
        title: Which state it is, for people to read.
        folder: The folder that holds its `kit/`.
        path: `sys.path` of its processes. No other entry than `folder` holds a `kit`.
    """

    name: str
    revision: str
    title: str
    folder: Path
    path: tuple[str, ...]

    @property
    def prelude(self) -> str:
        """First line of a program that imports this state; run it with `-I`."""
        return f"import sys; sys.path[:] = {list(self.path)!r}\n"

    @property
    def python_m(self) -> tuple[str, ...]:
        """The start of a command that runs a module, as `python -m` in the root of the tree."""
        program = (
            f"{self.prelude}sys.path.insert(0, {str(ROOT)!r})\nimport runpy\n"
            "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
        )
        return (sys.executable, "-I", "-c", program)


@contextmanager
def both(revision: str, root: Path = ROOT) -> Iterator[tuple[Side, Side]]:
    """Sets up a commit and the working tree; their folders are removed at the end.

    Args:
        revision: The commit, as git takes it: a hash, branch, tag or `HEAD~2`.
        root: The working tree, a git repository with a folder `packages`.

    Yields:
        The commit, and the working tree with its uncommitted changes.

    Raises:
        SideError: If there is no such commit, it has no packages, or the environment holds an
            installed copy of Kit that can't be kept out.
    """
    try:
        commit = _git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except SideError as error:
        raise SideError(
            f"no commit {revision!r} in this repository, expected a hash, branch or tag; {error}"
        ) from error
    archive = _git_bytes(root, "archive", "--format=zip", commit, "packages")
    path = clean_path()
    with tempfile.TemporaryDirectory(prefix="kit-compare-") as made:
        scratch = Path(made).resolve()
        zipfile.ZipFile(BytesIO(archive)).extractall(scratch / "commit")
        folders = scratch / BEFORE, scratch / NOW
        lay_out(scratch / "commit", folders[0])
        lay_out(root, folders[1])
        yield (
            Side(BEFORE, *_described(root, commit), folders[0], (*path, str(folders[0]))),
            Side(NOW, *_described_tree(root), folders[1], (*path, str(folders[1]))),
        )


def lay_out(root: Path, folder: Path) -> None:
    """Copies the modules of all packages into one folder, as an install of their wheels does.

    Args:
        root: The folder that holds `packages`.
        folder: Where `kit` is made.

    Raises:
        SideError: If there are no packages, or two of them have the same file.
    """

    def copy(source: str, target: str) -> None:
        if Path(target).exists():
            name = Path(target).relative_to(folder)
            raise SideError(f"{name} is in two packages, expected it in one; the second: {source}")
        shutil.copyfile(source, target)

    for source in sorted(root.glob("packages/*/src")):
        shutil.copytree(
            source,
            folder,
            copy_function=copy,
            ignore=shutil.ignore_patterns("__pycache__"),
            dirs_exist_ok=True,
        )
    if not (folder / "kit").is_dir():
        raise SideError(f"no kit in {root}/packages/*/src, expected the packages of Kit")


def clean_path() -> tuple[str, ...]:
    """`sys.path` of a new interpreter, without the entries that hold a `kit`.

    Raises:
        SideError: If Kit is installed beside other libraries, in a folder that they need.
    """
    command = [sys.executable, "-I", "-c", "import json, sys; print(json.dumps(sys.path))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    path: list[str] = json.loads(done.stdout)
    with_kit = [entry for entry in path if (Path(entry) / "kit").is_dir()]
    for entry in with_kit:
        if Path(entry).name.endswith("-packages"):
            raise SideError(
                f"Kit is installed in {entry}, expected editable installs alone: run 'uv sync'"
            )
    return tuple(entry for entry in path if entry not in with_kit)


def _described(root: Path, commit: str) -> tuple[str, str]:
    """Short hash and title of a commit."""
    title = _git(root, "log", "-1", "--format=%h (%s)", commit)
    return title.partition(" ")[0], title


def _described_tree(root: Path) -> tuple[str, str]:
    revision, title = _described(root, "HEAD")
    is_changed = _git(root, "status", "--porcelain", "--", "packages")
    return revision, f"working tree, {title}" + (", with uncommitted changes" if is_changed else "")


def _git(root: Path, *arguments: str) -> str:
    return _git_bytes(root, *arguments).decode().strip()


def _git_bytes(root: Path, *arguments: str) -> bytes:
    command: Sequence[str] = ["git", "-C", str(root), *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise SideError("git is not installed, expected it for a comparison") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise SideError(f"git {arguments[0]} says {said[-1]!r}") from error
