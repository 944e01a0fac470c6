# SPDX-License-Identifier: MIT
"""The project that `kit new` makes."""

from __future__ import annotations

import re
from pathlib import Path

# SPEC: the name format of the packaging specifications.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_LONGEST_NAME = 100
# A project that had the name of what it is made with would stand in its way.
_TAKEN = ("kit", "pytest")

_FILES = {
    "app.py": '''\
"""{name}: a web app with Kit. `kit dev` serves it."""

from kit import Context, Kit, Response

app = Kit()


@app.get("/")
async def index(c: Context) -> Response:
    return c.text("Hello from {name}!")


@app.get("/hello/:name")
async def hello(c: Context) -> Response:
    return c.json({{"hello": c.req.param("name")}})
''',
    "test_app.py": '''\
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
''',
    "pyproject.toml": """\
[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["kit-core{core}"]

[dependency-groups]
dev = ["kit-dev[serve]{dev}", "kit-testing{testing}", "pytest"]

[tool.uv]
package = false

[tool.pytest.ini_options]
pythonpath = ["."]
""",
    "README.md": """\
# {name}

A web app with Kit. With uv:

```sh
uv run kit dev    # serves it at http://127.0.0.1:8000, and reloads it when its code changes
uv run pytest     # runs its tests
```

Without:

```sh
python -m venv .venv && . .venv/bin/activate
pip install kit-core 'kit-dev[serve]' kit-testing pytest
kit dev
pytest
```

| file | what it is |
|---|---|
| `app.py` | the app |
| `test_app.py` | its tests |

`kit routes` lists the routes, and `kit request app.py /hello/Ada` sends the app a request without a
server. For production, `kit serve app.py --host 0.0.0.0 --workers 4`.
""",
    ".gitignore": """\
.venv/
__pycache__/
.pytest_cache/
""",
}


class ProjectError(ValueError):
    """A project of this name can't be made here."""


def make_project(name: str, folder: Path) -> list[str]:
    """Makes a project in a new folder.

    Args:
        name: Its name, and that of the folder.
        folder: Where the folder is made.

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
        ranges = {each: _range(f"kit-{each}") for each in ("core", "dev", "testing")}
        for file, text in _FILES.items():
            # Never over another file, whoever made one just now.
            with (root / file).open("x", encoding="utf-8") as stream:
                stream.write(text.format(name=name, **ranges))
    except FileExistsError as error:
        raise ProjectError(f"{error.filename} is there already: pick another name") from error
    except OSError as error:
        raise ProjectError(f"Can't make {root}: {error.strerror or error}") from error
    return list(_FILES)


def _check(name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        reason = "expected letters and digits, with '-', '_' and '.' between them, e.g. 'my-shop'"
        if "/" in name or "\\" in name:
            reason += "; the folder is made in the current one"
        raise ProjectError(f"{name!r} is no name of a project: {reason}")
    normalized = re.sub(r"[-_.]+", "-", name).lower()
    if normalized in _TAKEN or normalized.startswith("kit-"):
        raise ProjectError(f"A project can't be called {name!r}, as a package that it uses is")


def _range(distribution: str) -> str:
    """The versions that are like the one that is installed; all, if that is not known."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        major, minor = map(int, version(distribution).split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return ""
    following = f"0.{minor + 1}" if major == 0 else f"{major + 1}"
    return f">={major}.{minor},<{following}"
