# SPDX-License-Identifier: MIT
"""`scripts/check_imports.py` on small workspaces that the tests make."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from commands import run
from workspace import ROOT

pytestmark = pytest.mark.once

INTERFACE = "packages/kit-interface/src/kit/interface"
LOGGER = "packages/kit-logger/src/kit/logger"
CORE = "packages/kit-core/src/kit"
REACHES = "0 reaches for private attributes of other modules' objects (at most 100)\n"


class Workspace:
    """Three packages: kit-logger and kit-core declare kit-interface alone."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, needs in {
            "kit-interface": "",
            "kit-logger": '"kit-interface>=0.1,<0.2"',
            "kit-core": '"kit-interface>=0.1,<0.2"',
        }.items():
            settings = f'[project]\nname = "{name}"\nversion = "0.1.0"\ndependencies = [{needs}]\n'
            self.write(f"packages/{name}/pyproject.toml", settings)
        self.write(f"{INTERFACE}/__init__.py", "from ._errors import Error\n")
        self.write(f"{INTERFACE}/_errors.py", "class Error: ...\n")
        self.write(f"{LOGGER}/__init__.py", "from kit.interface import Error\n")
        self.write(f"{CORE}/__init__.py", "from .app import Kit\n")
        self.write(f"{CORE}/app.py", "from kit.interface import Error\nclass Kit: ...\n")
        for name in ("workspace.py", "check_imports.py"):
            (root / "scripts").mkdir(exist_ok=True)
            shutil.copy(ROOT / "scripts" / name, root / "scripts" / name)

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def check(self) -> list[str]:
        """The lines that the script prints."""
        return self.script().splitlines()

    def script(self, *arguments: str | Path, code: int | None = None) -> str:
        path = self.root / "scripts" / "check_imports.py"
        command = [sys.executable, path, *arguments]
        if code is not None:
            return run(*command, code=code)
        # Errors are printed as what is right is.
        return run("bash", "-c", '"$@" || test $? = 1', "bash", *command)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_nothing_is_wrong(workspace: Workspace) -> None:
    said = workspace.script(code=0)
    assert said == f"{REACHES}the imports of 5 modules are as they should be\n"


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        pytest.param(
            {"a": "from . import b\n", "b": "import kit.logger.a\n"},
            ["import circle: kit.logger.a (line 1) -> kit.logger.b (line 1) -> kit.logger.a"],
            id="plain",
        ),
        pytest.param(
            {
                "a": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import B\n",
                "b": "import typing\nif typing.TYPE_CHECKING: from .c import C\nclass B: ...\n",
                "c": "def f():\n    from kit.logger.a import A\n",
            },
            [
                "import circle: kit.logger.a (line 3, for types) -> kit.logger.b (line 2, for "
                "types) -> kit.logger.c (line 2, in a function) -> kit.logger.a"
            ],
            id="for types and in functions",
        ),
        pytest.param(
            {"a": "from . import Logger\n", "__init__": "from .a import A\nclass Logger: ...\n"},
            ["import circle: kit.logger (line 1) -> kit.logger.a (line 1) -> kit.logger"],
            id="with the package around it",
        ),
        pytest.param(
            {
                "a": "from .b import B\nclass X:\n    def f(self):\n        from .c import C\n",
                "b": "from .a import A\n",
                "c": "try:\n    from .a import A\nexcept ImportError:\n    A = None\n",
            },
            [
                "import circle: kit.logger.a (line 1) -> kit.logger.b (line 1) -> kit.logger.a",
                "import circle: kit.logger.c (line 2) -> kit.logger.a (line 4, in a function) -> "
                "kit.logger.c",
            ],
            id="two",
        ),
        pytest.param(
            {"a": "def f():\n    from .b import B\nfrom .b import C\n", "b": "from .a import A\n"},
            ["import circle: kit.logger.a (line 3) -> kit.logger.b (line 1) -> kit.logger.a"],
            id="the import that always runs is named",
        ),
        pytest.param(
            {"a": "import kit.logger.a\n"},
            ["import circle: kit.logger.a (line 1) -> kit.logger.a"],
            id="with itself",
        ),
        pytest.param(
            {"a": "from .b import B\n", "b": "from ..interface import Error\n"}, [], id="none"
        ),
    ],
)
def test_circles(workspace: Workspace, files: dict[str, str], lines: list[str]) -> None:
    for name, text in files.items():
        workspace.write(f"{LOGGER}/{name}.py", text)
    if lines:
        assert workspace.check() == [*lines, REACHES.rstrip()]
    else:
        workspace.script(code=0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "from kit import Kit\n",
            "imports kit of kit-core, but the pyproject.toml of kit-logger declares kit-interface",
        ),
        (
            "def f():\n    import kit.app\n",
            "imports kit.app of kit-core, but the pyproject.toml of kit-logger declares "
            "kit-interface",
        ),
        ("from ..nowhere import X\n", "imports kit.nowhere, which no package has"),
        (
            "from kit.interface._errors import Error\n",
            "imports kit.interface._errors, a private module of kit-interface",
        ),
        (
            "from kit.interface import Error, _errors\n",
            "imports kit.interface._errors, a private module of kit-interface",
        ),
        (
            "from kit.interface import _error\n",
            "imports _error from kit.interface, a private name of kit-interface",
        ),
        ("from kit.interface import __doc__\n", ""),
        ("import kitchen\nfrom logging import _levelToName\n", ""),
    ],
)
def test_imports_of_other_distributions(workspace: Workspace, text: str, line: str) -> None:
    workspace.write(f"{LOGGER}/_logger.py", text)
    # The import stands in the last line.
    place = f"{LOGGER}/_logger.py:{len(text.splitlines())}"
    expected = [f"{place}: {line}"] if line else []
    last = [] if line else ["the imports of 6 modules are as they should be"]
    assert workspace.check() == [*expected, REACHES.rstrip(), *last]


def test_what_is_declared_may_be_imported(workspace: Workspace) -> None:
    workspace.write(f"{LOGGER}/a.py", "from kit.app import Kit\n")
    workspace.write(
        "packages/kit-logger/pyproject.toml",
        '[project]\nname = "kit-logger"\nversion = "0.1.0"\ndependencies = []\n'
        '[project.optional-dependencies]\napp = ["kit-core[all]>=0.1,<0.2"]\n',
    )
    assert workspace.check() == [
        f"{LOGGER}/__init__.py:1: imports kit.interface of kit-interface, but the pyproject.toml "
        "of kit-logger declares kit-core",
        REACHES.rstrip(),
    ]
    workspace.write(f"{LOGGER}/__init__.py", "")
    workspace.script(code=0)
    workspace.write(f"{INTERFACE}/a.py", "from kit.logger import X\n")
    assert workspace.check() == [
        f"{INTERFACE}/a.py:1: imports kit.logger of kit-logger, but the pyproject.toml of "
        "kit-interface declares no distribution of Kit",
        REACHES.rstrip(),
    ]


def test_private_modules_lie_in_folders(workspace: Workspace) -> None:
    workspace.write(f"{CORE}/_registration/mount.py", "")
    workspace.write(f"{CORE}/__main__.py", "")
    workspace.script(code=0)
    workspace.write(f"{CORE}/_mount.py", "")
    workspace.write("packages/kit-logger/src/kit/_lines.py", "")
    assert workspace.check() == [
        f"{CORE}/_mount.py: a private module at the top of kit/; it belongs in a folder",
        "packages/kit-logger/src/kit/_lines.py: a private module at the top of kit/; it belongs in "
        "a folder",
        REACHES.rstrip(),
    ]


OWN = """
from collections import namedtuple
from enum import Enum

_of_module = 1
if _of_module:
    _of_block: int = 2


class Thing:
    __slots__ = ("_slot",)
    _of_class: str
    _one, _two = 1, 2

    def __init__(self):
        self._set = 1
        (self._a, self._b) = 1, 2

    def _method(self):
        _local = self._elsewhere
        return type(self)._of_class, _local

    @classmethod
    def make(cls):
        return cls._unknown


def _function(thing):
    thing._slot = thing._of_class + thing._one + thing._two + thing._set + thing._a + thing._b
    thing._method()._function._of_module._of_block
    thing.__dict__, thing.__mangled
    thing._replace(x=1)._asdict()
"""


def test_reaches(workspace: Workspace) -> None:
    workspace.write(f"{LOGGER}/own.py", OWN)
    workspace.script(code=0)
    workspace.write(
        f"{LOGGER}/others.py",
        "def f(c, self):\n    c._app._table = c._app\n    del c.req._lines\n    self._own\n"
        "    _local = 1\n    return c._local\n",
    )
    workspace.write(f"{LOGGER}/more.py", "import os\nos._exit(1)\n")
    counted = [
        "5 in kit.logger.others: _app 2, _lines 1, _local 1, _table 1",
        "1 in kit.logger.more: _exit 1",
    ]
    assert workspace.script(code=0).splitlines() == [
        "6 reaches for private attributes of other modules' objects (at most 100)",
        *(f"  {line}" for line in counted),
        "the imports of 8 modules are as they should be",
    ]
    workspace.write(f"{CORE}/app.py", "def f(c):\n" + "    c._x\n" * 95)
    assert workspace.check() == [
        "101 reaches for private attributes of other modules' objects (at most 100)",
        "  95 in kit.app: _x 95",
        *(f"  {line}" for line in counted),
    ]


def test_reaches_of_a_folder(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    workspace.write("other/a/b.py", "def f(c):\n    return c._x + c._y + c._y\n")
    workspace.write("other/c.py", "import kit._private\n")
    assert workspace.script("--reaches", folder, code=0) == (
        "3 reaches for private attributes of other modules' objects\n  3 in a/b.py: _y 2, _x 1\n"
    )
    (tmp_path / "empty").mkdir()
    assert workspace.script("--reaches", tmp_path / "empty", code=2) == (
        f"error: there is no Python file in {tmp_path}/empty\n"
    )
