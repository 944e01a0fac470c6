# SPDX-License-Identifier: MIT
"""The project that `kit new` makes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

# SPEC: the name format of the packaging specifications.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_LONGEST_NAME = 100
# A project that had the name of what it is made with would stand in its way.
_TAKEN = ("kit", "pytest")

_APP = '''\
"""{name}: an API with Kit. `kit dev` serves it, with its documentation at /docs."""

from kit import Context, Kit, Response
from kit.openapi import openapi
from kit.typed import typed
from msgspec import Struct

app: Kit = Kit()
openapi(app, info={{"title": "{name}", "version": "0.1.0"}})


class Greeting(Struct):
    hello: str
    times: int = 1


@app.get("/")
async def index(c: Context) -> Response:
    """Says where to look."""
    return c.text("Hello from {name}! The API is at /docs.")


@app.get("/hello/:name")
@typed
async def hello(name: str, times: int = 1) -> Greeting:
    """Greets somebody, as often as they like."""
    return Greeting(name, times)


@app.post("/hello")
@typed(status=201)
async def greet(greeting: Greeting) -> Greeting:
    """Takes a greeting, as JSON."""
    return greeting
'''

_TEST = '''\
"""Tests of the app, without a server: run `pytest`."""

from kit.testing import sync_test_client

from app import app


def test_hello() -> None:
    with sync_test_client(app) as client:
        hello = client.hello[":name"]
        response = hello.get(param={{"name": "Ada"}}, query={{"times": "3"}})
    assert response.json() == {{"hello": "Ada", "times": 3}}


def test_greet() -> None:
    with sync_test_client(app) as client:
        response = client.hello.post(json={{"hello": "Ada"}})
    assert response.status == 201
    assert response.json() == {{"hello": "Ada", "times": 1}}


def test_invalid_greeting() -> None:
    with sync_test_client(app) as client:
        response = client.hello.post(json={{"times": "many"}})
    assert response.status == 400
    assert [error["path"] for error in response.json()["errors"]] == ["hello", "times"]


def test_documentation() -> None:
    with sync_test_client(app) as client:
        assert client.docs.get().status == 200
'''

_PLAIN_APP = '''\
"""{name}: a web app with Kit. `kit dev` serves it."""

from kit import Context, Kit, Response

app: Kit = Kit()


@app.get("/")
async def index(c: Context) -> Response:
    return c.text("Hello from {name}!")


@app.get("/hello/:name")
async def hello(c: Context) -> Response:
    return c.json({{"hello": c.req.param("name")}})
'''

_PLAIN_TEST = '''\
"""Tests of the app, without a server: run `pytest`."""

from kit.testing import sync_test_client

from app import app


def test_index() -> None:
    with sync_test_client(app) as client:
        response = client.index.get()
    assert response.status == 200
    assert response.text() == "Hello from {name}!"


def test_hello() -> None:
    with sync_test_client(app) as client:
        response = client.hello[":name"].get(param={{"name": "Ada"}})
    assert response.json() == {{"hello": "Ada"}}
'''

_PYPROJECT = """\
[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = [{dependencies}]

[dependency-groups]
dev = ["kit-dev[serve]{dev}", "kit-testing{testing}", "pytest"]

[tool.uv]
package = false

[tool.pytest.ini_options]
pythonpath = ["."]
"""

_README = """\
# {name}

{about} With uv:

```sh
uv run kit dev    # serves it at http://127.0.0.1:8000, and reloads it when its code changes
uv run pytest     # runs its tests
```

Without:

```sh
python -m venv .venv && . .venv/bin/activate
pip install {installed} 'kit-dev[serve]' kit-testing pytest
kit dev
pytest
```

| file | what it is |
|---|---|
| `app.py` | the app |
| `test_app.py` | its tests |

`kit routes` lists the routes, and `kit request app.py /hello/Ada` sends the app a request without a
server. For production, `kit serve app.py --host 0.0.0.0 --workers 4`.
"""

_IGNORED = """\
.venv/
__pycache__/
.pytest_cache/
"""


class Template(NamedTuple):
    """What a project is made of.

    Attributes:
        app: Its app.py.
        tests: Its test_app.py.
        about: What its README says first.
        imports: The distributions that it imports, with the extras that it needs.
    """

    app: str
    tests: str
    about: str
    imports: tuple[str, ...]

    def files(self, name: str) -> dict[str, str]:
        """Returns the files of a project of this name."""
        dependencies = ", ".join(f'"{each}{_range(each)}"' for each in self.imports)
        values = {
            "name": name,
            "about": self.about,
            "installed": " ".join(f"'{each}'" if "[" in each else each for each in self.imports),
            "dependencies": dependencies,
            "dev": _range("kit-dev"),
            "testing": _range("kit-testing"),
        }
        texts = {
            "app.py": self.app,
            "test_app.py": self.tests,
            "pyproject.toml": _PYPROJECT,
            "README.md": _README,
            ".gitignore": _IGNORED,
        }
        return {file: text.format(**values) for file, text in texts.items()}


TYPED = Template(
    _APP,
    _TEST,
    "An API with Kit, whose documentation is at <http://127.0.0.1:8000/docs>.",
    ("kit-core", "kit-typed", "kit-openapi[ui]", "msgspec"),
)
"""Typed endpoints and a docs page."""

PLAIN = Template(_PLAIN_APP, _PLAIN_TEST, "A web app with Kit.", ("kit-core",))
"""Handlers of a context alone."""


class ProjectError(ValueError):
    """A project of this name can't be made here."""


def make_project(name: str, folder: Path, template: Template = TYPED) -> list[str]:
    """Makes a project in a new folder.

    Args:
        name: Its name, and that of the folder.
        folder: Where the folder is made.
        template: What it is made of: `TYPED` or `PLAIN`.

    Returns:
        The names of its files.

    Raises:
        ProjectError: If the name won't do, or there is something in its place.
    """
    _check(name)
    root = folder / name
    try:
        root.mkdir(exist_ok=True)
        if any(root.iterdir()):
            raise ProjectError(f"{root} is there already, and not empty: pick another name")
        files = template.files(name)
        for file, text in files.items():
            # Never over another file, whoever made one just now.
            with (root / file).open("x", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError as error:
        raise ProjectError(f"{error.filename} is there already: pick another name") from error
    except OSError as error:
        raise ProjectError(f"Can't make {root}: {error.strerror or error}") from error
    return list(files)


def _check(name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        reason = "expected letters and digits, with '-', '_' and '.' between them, e.g. 'my-shop'"
        if "/" in name or "\\" in name:
            reason += "; the folder is made in the current one"
        raise ProjectError(f"{name!r} is no name of a project: {reason}")
    normalized = re.sub(r"[-_.]+", "-", name).lower()
    if normalized in _TAKEN or normalized.startswith("kit-"):
        raise ProjectError(f"A project can't be called {name!r}, as a package that it uses is")


def missing(template: Template) -> list[str]:
    """Returns what a project imports that is not installed here."""
    from importlib.metadata import PackageNotFoundError, distribution

    found = []
    for each in template.imports:
        try:
            distribution(each.partition("[")[0])
            if each.endswith("[ui]"):
                distribution("openapi-ui-bundles")
        except PackageNotFoundError:
            found.append(each)
    return found


def _range(requirement: str) -> str:
    """The versions of a package of Kit that are like the installed one; all if there is none."""
    from importlib.metadata import PackageNotFoundError, version

    if not requirement.startswith("kit-"):
        return ""
    try:
        major, minor = map(int, version(requirement.partition("[")[0]).split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return ""
    following = f"0.{minor + 1}" if major == 0 else f"{major + 1}"
    return f">={major}.{minor},<{following}"
