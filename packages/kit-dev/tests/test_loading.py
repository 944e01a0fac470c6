# SPDX-License-Identifier: MIT
"""Import strings: what each form finds, and what is said where there is nothing."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit import Kit
from kit.dev._errors import (
    AppError,
    AppFailedError,
    AppNotFoundError,
    AttributeNotFoundError,
    NotAnAppError,
)
from kit.dev._loading import load_app

APP = "from kit import Kit\napp = Kit()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder; what is imported from it is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("files", "target"),
    [
        pytest.param({"shop.py": APP}, "shop", id="module"),
        pytest.param({"shop.py": APP}, "shop:app", id="module and attribute"),
        pytest.param({"shop.py": APP}, "shop.py", id="file"),
        pytest.param({"shop.py": APP}, "./shop.py:app", id="file and attribute"),
        pytest.param({"x/app.py": APP}, "x", id="folder with app.py"),
        pytest.param({"x/app.py": APP}, "x/", id="folder with a slash"),
        pytest.param({"x/app.py": APP}, "x:app", id="folder and attribute"),
        pytest.param({"x/main.py": APP}, "x", id="folder with main.py"),
        pytest.param({"x/__init__.py": APP}, "x", id="package"),
        pytest.param({"x/__init__.py": "", "x/web.py": APP}, "x.web", id="module of a package"),
        pytest.param(
            {"x/__init__.py": "", "x/own.py": APP, "x/web.py": "from .own import app\n"},
            "x/web.py",
            id="file of a package, with relative imports",
        ),
        pytest.param(
            {"x/own.py": "from kit import Kit\n", "x/app.py": "from own import Kit\napp = Kit()\n"},
            "x",
            id="neighbour",
        ),
        pytest.param({"shop.py": "from kit import Kit\nsite = Kit()\n"}, "shop", id="the only one"),
        pytest.param(
            {"shop.py": "from kit import Kit\nclass Sites:\n    one = Kit()\n"},
            "shop:Sites.one",
            id="attribute of an attribute",
        ),
        pytest.param(
            {"shop.py": "from kit import Kit\ndef create_app(): return Kit()\n"},
            "shop",
            id="factory by its usual name",
        ),
        pytest.param(
            {"shop.py": "from kit import Kit\ndef site(debug=False): return Kit()\n"},
            "shop:site",
            id="factory",
        ),
    ],
)
def test_finds_the_app(files: dict[str, str], target: str, folder: Path) -> None:
    write(folder, files)
    assert isinstance(load_app(target), Kit)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def test_another_module_of_the_same_name_is_not_taken(folder: Path) -> None:
    write(folder, {"a/app.py": APP + "name = 'a'\n", "b/app.py": APP + "name = 'b'\n"})
    first, second = load_app("a"), load_app("b")
    assert first is not second
    assert sys.modules["app"].name == "b"


@pytest.mark.parametrize(
    ("files", "target", "error", "text"),
    [
        pytest.param(
            {},
            "nothing:app",
            AppNotFoundError,
            "There is no app at 'nothing:app': looked for the module 'nothing' and nothing.py",
            id="module",
        ),
        pytest.param(
            {"shop.py": APP},
            "shoop",
            AppNotFoundError,
            "There is no app at 'shoop': looked for the module 'shoop' and shoop.py. "
            "Did you mean 'shop'?",
            id="module, nearly",
        ),
        pytest.param(
            {"shop.py": APP},
            "shoop.py",
            AppNotFoundError,
            "There is no app at 'shoop.py': looked for shoop.py. Did you mean 'shop.py'?",
            id="file, nearly",
        ),
        pytest.param(
            {},
            "no/where/app.py",
            AppNotFoundError,
            "There is no app at 'no/where/app.py': looked for no/where/app.py",
            id="file in no folder",
        ),
        pytest.param(
            {"x/other.py": APP},
            "x",
            AppNotFoundError,
            "There is no app at 'x': looked for x/app.py and x/main.py and x/__init__.py",
            id="folder without an app",
        ),
        pytest.param(
            {"shop.py": APP},
            "shop:ap",
            AttributeNotFoundError,
            "shop has no attribute 'ap'. Did you mean 'app'?",
            id="attribute, nearly",
        ),
        pytest.param(
            {"shop.py": "x = 1\n"},
            "shop.py",
            AttributeNotFoundError,
            "shop.py has no app: expected a Kit called 'app', or name another attribute with "
            "':name'",
            id="no app in it",
        ),
        pytest.param(
            {"shop.py": "from kit import Kit\none = Kit()\ntwo = Kit()\n"},
            "shop.py",
            AttributeNotFoundError,
            "shop.py has several apps: say which, by putting ':one' or ':two' behind it",
            id="several apps",
        ),
        pytest.param(
            {"shop.py": "app = 5\n"},
            "shop",
            NotAnAppError,
            "'app' of shop is of type int, expected a Kit app or a function without parameters "
            "that gives one",
            id="a number",
        ),
        pytest.param(
            {"shop.py": "from kit import Kit as app\n"},
            "shop",
            NotAnAppError,
            "'app' of shop is the class Kit, expected a Kit app or a function without parameters "
            "that gives one",
            id="a class",
        ),
        pytest.param(
            {"shop.py": "def app(): pass\n"},
            "shop",
            NotAnAppError,
            "'app' of shop is a function that gave None, expected a Kit app or a function without "
            "parameters that gives one",
            id="a factory of nothing",
        ),
        pytest.param(
            {"shop.py": "def app(settings): pass\n"},
            "shop",
            NotAnAppError,
            "'app' of shop is a function with (settings), expected a Kit app or a function without "
            "parameters that gives one",
            id="a factory that needs something",
        ),
    ],
)
def test_says_what_is_wrong(
    files: dict[str, str], target: str, error: type[AppError], text: str, folder: Path
) -> None:
    write(folder, files)
    with pytest.raises(error) as caught:
        load_app(target)
    assert str(caught.value) == text
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert (type(again), str(again), again.args) == (error, text, caught.value.args)


@pytest.mark.parametrize(
    ("source", "last"),
    [
        pytest.param("1 / 0\n", "ZeroDivisionError: division by zero", id="raises"),
        pytest.param("def f(:\n", "SyntaxError: invalid syntax", id="does not parse"),
        pytest.param(
            "import not_there\n",
            "ModuleNotFoundError: No module named 'not_there'",
            id="imports what is not there",
        ),
        pytest.param("raise SystemExit(3)\n", "SystemExit: 3", id="exits"),
        pytest.param(
            "def create_app():\n    1 / 0\n", "ZeroDivisionError: division by zero", id="factory"
        ),
    ],
)
def test_their_own_traceback_is_shown_from_their_code_on(
    source: str, last: str, folder: Path
) -> None:
    write(folder, {"shop.py": source})
    with pytest.raises(AppFailedError) as caught:
        load_app("shop.py")
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("shop.py can't be loaded:")
    assert lines[-1] == last
    files = [line for line in lines if line.strip().startswith("File ")]
    assert all("shop.py" in line for line in files), lines
    assert files


def test_importing_the_helpers_loads_neither_click_nor_uvicorn() -> None:
    import subprocess

    code = "import sys, kit.dev; print(sorted({'click', 'uvicorn'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_any_is_what_has_routes_and_fetch(folder: Path) -> None:
    """The core is not imported to tell: whatever looks like an app will do."""
    write(folder, {"shop.py": "class A:\n    routes = []\n    def fetch(self): ...\napp = A()\n"})
    app: Any = load_app("shop")
    assert type(app).__name__ == "A"
