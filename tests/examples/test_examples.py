# SPDX-License-Identifier: MIT
"""The examples away from the checkout: a copied folder runs with what it says that it needs."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import documents
import httpx
import pytest
import redis_server
from environments import ROOT
from newcomer import Newcomer

pytestmark = pytest.mark.once

EXAMPLES = sorted(
    path.name for path in (ROOT / "examples").iterdir() if (path / "README.md").exists()
)
# What is seen first of those that are served; the others have tests of their own to run.
SEEN = {
    "bookshelf": ("GET", "/api/books", '"items":'),
    "chat": ("GET", "/", "<title>Chat"),
    "conduit": ("GET", "/api/articles", '"articlesCount":'),
    "scaling": ("POST", "/visits", "1"),
    "site": ("GET", "/books", "</html>"),
}
ALONE = ("uv run kit serve .", "uv run kit dev .", "uv run --extra test pytest", "kit serve app.py")


def commands_of(example: str) -> list[str]:
    """Returns the commands of its README that run it on its own, or else those of its project."""
    blocks = documents.read(f"examples/{example}/README.md").blocks
    found = [block.text.splitlines() for block in blocks if block.language == "sh"]
    return next((lines for lines in found if lines[-1] in ALONE), ["uv run kit serve ."])


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_copied_folder_runs(example: str, wheels: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / example
    without = shutil.ignore_patterns(".*", "*.db*", "*.secret", "__pycache__")
    shutil.copytree(ROOT / "examples" / example, folder, ignore=without)
    with_versions_of_the_workspace(folder, wheels)
    with ExitStack() as stack:
        newcomer = stack.enter_context(Newcomer(folder, wheels))
        if example == "scaling":
            if reason := redis_server.missing():
                pytest.skip(reason)
            # Not in tmp_path, which only its owner can enter.
            redis = redis_server.RedisServer(Path(stack.enter_context(TemporaryDirectory())))
            stack.callback(redis.stop)
            newcomer.type(f"export REDIS_URL={redis.url}")
        printed = [newcomer.type(command) for command in commands_of(example)]
        if example in SEEN:
            method, path, text = SEEN[example]
            response = httpx.request(method, newcomer.url + path, timeout=30)
            assert response.is_success
            assert text in response.text
        else:
            assert re.search(r"\d+ passed", printed[-1])


def test_bookshelf_names_the_same_for_pip() -> None:
    """Its README has a command for pip, its project the same for uv."""
    project = tomllib.loads((ROOT / "examples/bookshelf/pyproject.toml").read_text())["project"]
    readme = (ROOT / "examples/bookshelf/README.md").read_text()
    [command] = re.findall(r"^pip install (.+)$", readme, re.MULTILINE)
    needed = [re.sub(r">=.*", "", each) for each in project["dependencies"]]
    assert sorted(shlex.split(command)) == sorted(needed)


def with_versions_of_the_workspace(folder: Path, wheels: dict[str, Path]) -> None:
    """Pins what uv chooses for the project of a folder; wheels of Kit are found by their links."""
    file = folder / "pyproject.toml"
    if file.exists():
        root = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
        pins = [*root["constraint-dependencies"]]
        pins += [f"{name}=={wheel.name.split('-')[1]}" for name, wheel in wheels.items()]
        file.write_text(f"{file.read_text()}\n[tool.uv]\nconstraint-dependencies = {pins}\n")
