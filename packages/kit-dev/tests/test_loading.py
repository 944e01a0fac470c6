# SPDX-License-Identifier: MIT
"""Import strings: what each form finds, and what is said where there is nothing."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from kit import Kit
from kit.dev import AppError, load_app

APP = "from kit import Kit\napp = Kit()\n"


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
            {"shop.py": "from kit import Kit\ndef create_app(): 1 / 0\nsite = Kit()\n"},
            "shop",
            id="made already",
        ),
        pytest.param(
            {"shop.py": APP, "shop/notes.txt": ""}, "shop", id="module, beside a folder of the name"
        ),
        pytest.param(
            {"x/__init__.py": APP, "x/app.py": "1 / 0\n"}, "x:app", id="attribute of a package"
        ),
        pytest.param(
            {
                "x/__init__.py": "from .app import site\n",
                "x/app.py": "from kit import Kit\nsite = Kit()\n",
            },
            "x.__init__",
            id="a submodule is no app",
        ),
        pytest.param({"a:b/app.py": APP}, "a:b/app.py", id="a colon in the path"),
        pytest.param({"my-shop.py": APP}, "my-shop.py", id="a hyphen in the name"),
        pytest.param(
            {
                "shop.py": "from unittest.mock import call\nfrom kit import Kit\n"
                "class Proxy:\n    def __getattr__(self, name): raise RuntimeError(name)\n"
                "current, site = Proxy(), Kit()\n"
            },
            "shop",
            id="beside what has any attribute",
        ),
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


SUB_APPS = "from kit import Kit\napp = users_app = Kit()\nbooks_app = Kit()\n"
MADE = 'Kit().get("/main", lambda c: c.text("main"))'
FACTORY = f"def create_app(): return {MADE}\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(f"from users import users_app\n{FACTORY}", id="factory"),
        pytest.param(f"from users import users_app\nsite = {MADE}\n", id="app"),
        pytest.param(
            f"from users import app\n{FACTORY}", id="factory, beside an imported app of that name"
        ),
        pytest.param(
            f"from users import app\nsite = {MADE}\n", id="app, beside an imported one of that name"
        ),
        pytest.param(
            f"try:\n    from users import app\nexcept ImportError:\n    raise\n{FACTORY}",
            id="imported within another statement",
        ),
        pytest.param(f"from users import *\n{FACTORY}", id="imported with all names"),
        pytest.param(
            "from users import users_app, books_app\nfrom made import create_app\n",
            id="imported factory",
        ),
        pytest.param(f"from users import app\napp = {MADE}\n", id="another app of that name"),
        pytest.param(
            f"from users import app\ndef begin():\n    global app\n    app = {MADE}\nbegin()\n",
            id="another app of that name, made by a function",
        ),
    ],
)
def test_an_imported_app_gives_way_to_the_module_s_own(source: str, folder: Path) -> None:
    files = {"users.py": SUB_APPS, "made.py": FACTORY, "shop.py": source}
    write(folder, {name: f"from kit import Kit\n{text}" for name, text in files.items()})
    assert [route.path for route in load_app("shop.py").routes] == ["/main"]


def test_an_imported_app_is_taken_where_there_is_no_other(folder: Path) -> None:
    one = "from users import books_app as site\n"
    write(folder, {"users.py": SUB_APPS, "one.py": one, "two.py": f"{one}from users import app\n"})
    assert load_app("one.py") is load_app("users:books_app")
    assert load_app("two.py") is load_app("users:app")


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
        pytest.param({}, "nothing:app", LookupError, "There is no app at", id="module"),
        pytest.param(
            {"shop.py": APP},
            "shoop",
            LookupError,
            "There is no app at 'shoop': looked for the module 'shoop' and shoop.py in",
            id="module, nearly",
        ),
        pytest.param(
            {"shop.py": APP},
            "shoop:app",
            LookupError,
            "There is no app at 'shoop:app': looked for the module 'shoop' and shoop.py",
            id="module, nearly, with an attribute",
        ),
        pytest.param(
            {"x/__init__.py": "", "x/web.py": APP},
            "x.wep",
            LookupError,
            "There is no app at 'x.wep': looked for the module 'x.wep' and x/wep.py in",
            id="module of a package, nearly",
        ),
        pytest.param(
            {"shop.py": APP},
            "shop.app",
            LookupError,
            "There is no app at 'shop.app': looked for the module 'shop.app' and",
            id="a dot for a colon",
        ),
        pytest.param(
            {"data/notes.txt": ""},
            "data",
            LookupError,
            "There is no app at 'data': looked for the module 'data' and data.py and",
            id="neither module nor folder with an app",
        ),
        pytest.param(
            {},
            "/no/where/app.py",
            LookupError,
            "There is no app at '/no/where/app.py': looked for /no/where/app.py",
            id="absolute",
        ),
        pytest.param(
            {"bookshelf/app.py": APP},
            "./bookshelv:app",
            LookupError,
            "There is no app at './bookshelv:app': looked for bookshelv in HERE. Did you",
            id="folder, nearly",
        ),
        pytest.param({}, "", ValueError, "Can't load '': it names no module", id="empty"),
        pytest.param({}, ":app", ValueError, "Can't load ':app': it names no", id="no module"),
        pytest.param(
            {"shop.py": APP},
            "shop:",
            ValueError,
            "Can't load 'shop:': '' is no name of an attribute: expected e.g. 'shop:app'",
            id="nothing behind the colon",
        ),
        pytest.param(
            {"shop.py": APP},
            "shop.py:make()",
            ValueError,
            "Can't load 'shop.py:make()': 'make()' is no name of an attribute: expected",
            id="a call",
        ),
        pytest.param(
            {"shop.py": APP},
            ".shop",
            ValueError,
            "Can't load '.shop': '.shop' is no name of a module: expected e.g. 'shop'",
            id="relative module",
        ),
        pytest.param(
            {"README.md": ""},
            "README.md",
            ValueError,
            "Can't load 'README.md': it is no Python file: expected a name ending in .py",
            id="no Python",
        ),
        pytest.param(
            {"my.shop.py": APP},
            "my.shop.py",
            ValueError,
            "Can't load 'my.shop.py': Python can't import a name with a dot in it: rename it",
            id="a dot in the name",
        ),
        pytest.param(
            {"http.py": APP},
            "http.py:app",
            ValueError,
            "Can't load 'http.py:app': it would hide the module 'http', which others",
            id="a name of the standard library",
        ),
        pytest.param(
            {"kit/__init__.py": "", "kit/app.py": APP},
            "kit/app.py",
            ValueError,
            "Can't load 'kit/app.py': it would hide the module 'kit', which others",
            id="a name of Kit",
        ),
        pytest.param(
            {"shop.py": APP},
            "shoop.py",
            LookupError,
            "There is no app at 'shoop.py': looked for shoop.py in HERE. Did you mean 'shop.py'?",
            id="file, nearly",
        ),
        pytest.param(
            {},
            "no/where/app.py",
            LookupError,
            "There is no app at 'no/where/app.py': looked for no/where/app.py in HERE",
            id="file in no folder",
        ),
        pytest.param(
            {"x/other.py": APP},
            "./x",
            LookupError,
            "There is no app at './x': looked for x/app.py and x/main.py and x/__init__.py in HERE",
            id="folder without an app",
        ),
        pytest.param(
            {"shop.py": APP},
            "shop:ap",
            AttributeError,
            "shop has no attribute 'ap'. Did you mean 'app'?",
            id="attribute, nearly",
        ),
        pytest.param(
            {"shop.py": "from kit import Kit\nsite = Kit()\n"},
            "shop:app",
            AttributeError,
            "shop has no attribute 'app'. Did you mean 'site'?",
            id="another attribute is the app",
        ),
        pytest.param(
            {"shop.py": "x = 1\n"},
            "shop.py",
            AttributeError,
            "shop.py has no app: expected a Kit called 'app', or name another attribute",
            id="no app in it",
        ),
        pytest.param(
            {"shop.py": "from kit import Kit\none = Kit()\ntwo = Kit()\n"},
            "shop.py",
            AttributeError,
            "shop.py has several apps: say which, by putting ':one' or ':two' behind it",
            id="several apps",
        ),
        pytest.param(
            {
                "shop.py": "from kit import Kit\nfrom users import app\none = Kit()\ntwo = Kit()\n"
                "def create_app(): return app\n",
                "users.py": APP,
            },
            "shop.py",
            AttributeError,
            "shop.py has several apps: say which, by putting ':one' or ':two' or",
            id="several apps and a factory",
        ),
        pytest.param(
            {
                "shop.py": "from users import one, two\n",
                "users.py": "from kit import Kit\none = Kit()\ntwo = Kit()\n",
            },
            "shop.py",
            AttributeError,
            "shop.py has several apps: say which, by putting ':one' or ':two' behind it",
            id="several imported apps",
        ),
        pytest.param(
            {"shop.py": "app = 5\n"},
            "shop",
            TypeError,
            "'app' of shop is an object of type int, expected a Kit app or a function",
            id="a number",
        ),
        pytest.param(
            {"shop.py": "from kit import Kit as app\n"},
            "shop",
            TypeError,
            "'app' of shop is the class Kit, expected a Kit app or a function without",
            id="a class",
        ),
        pytest.param(
            {"shop.py": "def app(): pass\n"},
            "shop",
            TypeError,
            "'app' of shop is a function that gave None, expected a Kit app or a function",
            id="a factory of nothing",
        ),
        pytest.param(
            {"shop.py": "def app(settings): pass\n"},
            "shop",
            TypeError,
            "'app' of shop is a function with (settings), expected a Kit app or a",
            id="a factory that needs something",
        ),
        pytest.param(
            {"shop.py": "async def app(): pass\n"},
            "shop",
            TypeError,
            "'app' of shop is an async function, expected a Kit app or a function without",
            id="an async factory",
        ),
        pytest.param(
            {"shop.py": "async def no(): pass\napp = lambda: no()\n"},
            "shop",
            TypeError,
            "'app' of shop is a function that gave an object of type coroutine, expected",
            id="a factory that gives an awaitable",
        ),
        pytest.param(
            {"shop.py": "app = max\n"},
            "shop",
            TypeError,
            "'app' of shop is an object of type builtin_function_or_method, expected a",
            id="a function without a signature",
        ),
        pytest.param(
            {
                "shop.py": "class Cors:\n    async def __call__(self, scope, receive, send): ...\n"
                "app = Cors()\n"
            },
            "shop",
            TypeError,
            "'app' of shop is an object of type Cors, called with (scope, receive, send)",
            id="another ASGI app",
        ),
        pytest.param(
            {"x/__init__.py": "from . import web\n", "x/web.py": APP},
            "x:web",
            TypeError,
            "'web' of x/__init__.py is the module x.web, expected a Kit app or a function",
            id="a module",
        ),
        pytest.param(
            {"shop.py": "class app:\n    pass\n"},
            "shop:app.site",
            AttributeError,
            "shop has no attribute 'app.site'",
            id="attribute of an attribute",
        ),
    ],
)
def test_says_what_is_wrong(
    files: dict[str, str], target: str, error: type[Exception], text: str, folder: Path
) -> None:
    write(folder, files)
    with pytest.raises(AppError) as caught:
        load_app(target)
    assert isinstance(caught.value, error)
    assert text in str(caught.value).replace(str(Path.cwd()), "HERE")
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(again) is type(caught.value)
        assert (str(again), again.args) == (str(caught.value), caught.value.args)


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
            "import importlib\nimportlib.import_module('shop.more')\n",
            "ModuleNotFoundError: No module named 'shop.more'; 'shop' is not a package",
            id="imports a part of itself that is not there",
        ),
        pytest.param(
            "def __getattr__(name):\n    raise RuntimeError('not now')\n",
            "RuntimeError: not now",
            id="attribute that raises",
        ),
        pytest.param(
            "def create_app():\n    1 / 0\n", "ZeroDivisionError: division by zero", id="factory"
        ),
    ],
)
def test_their_own_traceback_is_shown_from_their_code_on(
    source: str, last: str, folder: Path
) -> None:
    write(folder, {"shop.py": source})
    with pytest.raises(AppError) as caught:
        load_app("shop.py")
    lines = str(caught.value).splitlines()
    assert lines[0] == "shop.py can't be loaded:"
    assert lines[-1] == last
    files = [line for line in lines if line.strip().startswith("File ")]
    assert "shop.py" in files[0]
    assert not [line for line in files if "kit/dev" in line]
    assert isinstance(caught.value, RuntimeError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_route_by_halves_is_told_at_once(folder: Path) -> None:
    write(folder, {"shop.py": APP + "app.get('/forgotten')\n"})
    with pytest.raises(AppError) as caught:
        load_app("shop.py")
    assert str(caught.value).startswith("shop.py can't be loaded:\n")


def test_missing_module_of_theirs_is_not_the_module_itself(folder: Path) -> None:
    """Also where it has the same name: their own line of code is what asked for it."""
    write(folder, {"x/__init__.py": "import x.web\n"})
    with pytest.raises(AppError) as caught:
        load_app("x.web")
    assert str(caught.value).endswith("\nModuleNotFoundError: No module named 'x.web'")
    with pytest.raises(AppError, match=r"^There is no app at 'y\.web': "):
        load_app("y.web")


def test_any_is_what_has_routes_and_fetch(folder: Path) -> None:
    """The core is not imported to tell: whatever looks like an app will do."""
    write(folder, {"shop.py": "class A:\n    routes = []\n    def fetch(self): ...\napp = A()\n"})
    app: Any = load_app("shop")
    assert type(app).__name__ == "A"


@pytest.mark.parametrize(
    ("target", "folder_of_it"),
    [
        ("app.py", "."),
        ("app:app", "."),
        (".", "."),
        ("site", "site"),
        ("part/web.py:app", "."),
        ("part", "."),
    ],
)
def test_its_folder_is_searched_first(target: str, folder_of_it: str, folder: Path) -> None:
    files = ("app.py", "site/main.py", "part/__init__.py", "part/web.py")
    write(folder, dict.fromkeys(files, APP))
    load_app(target)
    assert sys.path[0] == str(folder / folder_of_it)
