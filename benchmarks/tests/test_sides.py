# SPDX-License-Identifier: MIT
"""Each side of a comparison runs its own Kit, and nothing of the other."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from dataclasses import replace
from types import ModuleType

import pytest

from benchmarks.crew import ROOT, Worker, WorkerError
from benchmarks.origins import OriginError, check_origins
from benchmarks.peers import KIT
from benchmarks.sides import NOW, Side, SideError, both, clean_path, lay_out

SHOW = """
import json, kit, kit.inner
from importlib.util import find_spec
names = [name for name in ("kit.inner", "kit.added", "kit.logger") if find_spec(name)]
print(json.dumps([kit.STATE, list(kit.__path__), kit.inner.__file__, names]))
"""
EXTEND = '__path__ = __import__("pkgutil").extend_path(__path__, __name__)\n'


def write(root, files):
    for name, text in files.items():
        path = root / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def git(root, *arguments):
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", "-C", root, *author, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    """A commit with two packages, as the only one of a repository."""
    files = {
        "kit-a/src/kit/__init__.py": EXTEND + "STATE = 'committed'\n",
        "kit-a/src/kit/__main__.py": SHOW,
        "kit-b/src/kit/inner/__init__.py": "",
    }
    write(tmp_path, files)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "The first")
    return tmp_path


def shown(side):
    done = subprocess.run([*side.python_m, "kit"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_each_side_runs_its_own_modules_alone(repository):
    files = {
        "kit-a/src/kit/__init__.py": EXTEND + "STATE = 'changed'\n",
        "kit-c/src/kit/added/__init__.py": "",
        "kit-c/src/kit/__pycache__/stray.pyc": "",
    }
    write(repository, files)
    # The environment of these tests has editable installs of another `kit`, with `kit.logger`.
    with both("HEAD", repository) as (before, now):
        inner = "kit/inner/__init__.py"
        assert shown(before) == [
            "committed",
            [str(before.folder / "kit")],
            str(before.folder / inner),
            ["kit.inner"],
        ]
        assert shown(now) == [
            "changed",
            [str(now.folder / "kit")],
            str(now.folder / inner),
            ["kit.inner", "kit.added"],
        ]
        assert before.title == f"{before.revision} (The first)"
        assert now.title == f"working tree, {before.title}, with uncommitted changes"
        assert not (now.folder / "kit/__pycache__/stray.pyc").exists()
    assert not before.folder.parent.exists()


def test_a_working_tree_without_changes(repository):
    with both("HEAD", repository) as (before, now):
        assert now.title == f"working tree, {before.title}"


def test_a_commit_without_packages_is_an_error(tmp_path):
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "Nothing")
    said = r"^git archive says \"fatal: pathspec 'packages' did not match any files\"$"
    with pytest.raises(SideError, match=said), both("HEAD", tmp_path):
        pytest.fail("there is nothing to compare")


def test_two_packages_with_the_same_module_are_an_error(tmp_path):
    files = {
        "kit-a/src/kit/cookie.py": "",
        "kit-b/src/kit/cookie.py": "",
    }
    write(tmp_path, files)
    with pytest.raises(SideError) as raised:
        lay_out(tmp_path, tmp_path / "made")
    assert str(raised.value) == (
        "kit/cookie.py is in two packages, expected it in one; the second: "
        f"{tmp_path}/packages/kit-b/src/kit/cookie.py"
    )


def test_no_packages_are_an_error(tmp_path):
    with pytest.raises(SideError) as raised:
        lay_out(tmp_path, tmp_path / "made")
    assert str(raised.value) == (
        f"no kit in {tmp_path}/packages/*/src, expected the packages of Kit"
    )


def test_an_environment_with_kit_among_other_libraries_is_refused(tmp_path, monkeypatch):
    venv.create(tmp_path, symlinks=True)
    (installed,) = tmp_path.glob("lib/python*/site-packages")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    assert str(installed) in clean_path()
    (installed / "kit").mkdir()
    with pytest.raises(SideError) as raised:
        clean_path()
    assert str(raised.value) == (
        f"Kit is installed in {installed}, expected editable installs alone: run 'uv sync'"
    )


@pytest.fixture(scope="module")
def now(tmp_path_factory):
    """The working tree as a side of its own."""
    folder = tmp_path_factory.mktemp("now").resolve()
    lay_out(ROOT, folder)
    return Side(NOW, "", "", folder, (*clean_path(), str(folder)))


def checked(side):
    worker = Worker(KIT, side.python_m, side.name)
    try:
        worker.ask("verify", row="upload")
        return worker.ask("check_origins", folder=str(side.folder))
    finally:
        worker.end()


def test_a_worker_of_a_side_has_its_modules_from_its_folder(now):
    assert checked(now) > 10


def test_a_folder_of_the_other_side_on_the_path_is_an_error(now):
    leaked = ROOT / "packages/kit-logger/src"
    with pytest.raises(WorkerError) as raised:
        checked(replace(now, path=(*now.path, str(leaked))))
    own = str(now.folder / "kit")
    assert str(raised.value) == (
        f"now: OriginError: kit.__path__ is {[own, str(leaked / 'kit')]!r}, expected {[own]!r}"
    )


def test_a_module_from_elsewhere_is_an_error(monkeypatch):
    for name in [name for name in sys.modules if name == "kit" or name.startswith("kit.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(OriginError) as raised:
        check_origins("/own")
    assert str(raised.value) == "kit is not loaded, expected it from '/own/kit'"
    kit, inner, stray = (ModuleType(name) for name in ("kit", "kit.inner", "kit.stray"))
    kit.__file__, kit.__path__ = "/own/kit/__init__.py", ["/own/kit"]
    inner.__file__, inner.__path__ = None, ["/own/kit/inner"]
    for module in (kit, inner):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    assert check_origins("/own") == 2
    stray.__file__ = "/other/kit/stray.py"
    monkeypatch.setitem(sys.modules, "kit.stray", stray)
    with pytest.raises(OriginError) as raised:
        check_origins("/own")
    assert str(raised.value) == (
        "kit.stray is loaded from '/other/kit/stray.py', expected below '/own/kit'"
    )
