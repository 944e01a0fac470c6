# SPDX-License-Identifier: MIT
"""The apps of README and docs pass mypy --strict and pyright as they are written."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import documents
import pytest
from commands import run
from documents import ROOT, Block
from environments import install_pinned, new_environment

pytestmark = [pytest.mark.slow, pytest.mark.once]

PAGES = (
    "README.md",
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md")),
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("packages/*/README.md")),
)
# asyncpg says nothing about its types.
UNTYPED = "[mypy]\n[mypy-asyncpg.*]\nignore_missing_imports = true\n"
IMPORTS = re.compile(r"^from ([\w.]+) import", re.MULTILINE)
MAKES_AN_APP = re.compile(r"^\w+ = (?:create_app|Kit(?:\[.*\])?)\(", re.MULTILINE)
# Beside what Kit needs.
IMPORTED = (
    "a2wsgi",
    "ag-ui-protocol",
    "aiosqlite",
    "alembic",
    "argon2-cffi",
    "ariadne",
    "asgi-correlation-id",
    "asyncpg",
    "brotli-asgi",
    "fastapi",
    "flask",
    "granian",
    "hypercorn",
    "mangum",
    "opentelemetry-sdk",
    "procrastinate",
    "psycopg[binary]",
    "pydantic",
    "redis",
    "sentry-sdk",
    "sqladmin",
    "sqlalchemy[asyncio]",
    "starlette",
    "starlette-admin",
    "strawberry-graphql",
    "structlog",
    "taskiq",
    "taskiq-redis",
)


def sources(page: str) -> dict[str, str]:
    """The apps of a page, and the modules of the page that they and these import, as files.

    The lines have the numbers that they have on the page.
    """
    blocks = [block for block in documents.read(page).blocks if block.language == "python"]
    stem = re.sub(r"\W", "_", page.removesuffix(".md"))
    files: dict[str, str] = {}
    imported: list[str] = []
    text = ""
    for block in blocks:
        text = padded(text if block.continues else "", block)
        if MAKES_AN_APP.search(text) and not block.not_typed and not is_test(block):
            files[f"{stem}_{block.line}.py"] = text
            imported += IMPORTS.findall(text)
    titled: dict[str, str] = {}
    for block in blocks:
        if block.title and not is_test(block):
            titled[block.title] = padded(titled[block.title] if block.continues else "", block)
    for name in imported:
        path = name.replace(".", "/")
        packages = [f"{each}/__init__.py" for each in PurePosixPath(path).parents]
        for title in (f"{path}.py", *packages):
            if title in titled and title not in files:
                files[title] = titled[title]
                imported += IMPORTS.findall(titled[title])
    return files


def padded(text: str, block: Block) -> str:
    """Puts a block behind a text, at its line."""
    return text + "\n" * (block.line - text.count("\n")) + block.text


def is_test(block: Block) -> bool:
    return Path(block.title).name.startswith("test_")


@pytest.fixture(scope="module")
def tools(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with all of Kit, and the type checkers."""
    python = new_environment(tmp_path_factory.mktemp("typed") / "venv")
    install_pinned(python, *wheels.values(), "mypy", "pyright[nodejs]", "pytest", *IMPORTED)
    return python.parent


def check_types(tools: Path, folder: Path, names: Iterable[str]) -> None:
    """Has mypy --strict and pyright look at the modules of a folder."""
    version = ".".join(map(str, sys.version_info[:2]))
    settings = {"typeCheckingMode": "basic", "pythonVersion": version}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    (folder / "mypy.ini").write_text(UNTYPED)
    assert run(tools / "mypy", "--strict", *names, cwd=folder).startswith("Success: no issues")
    command = [tools / "pyright", "--pythonpath", tools / "python", "-p", folder]
    assert run(*command, cwd=folder).startswith("0 errors, 0 warnings")


def test_apps_of_the_docs_are_typed(tools: Path, tmp_path: Path) -> None:
    names: list[str] = []
    for page in PAGES:
        found = sources(page)
        assert not {*names}.intersection(found), "two pages have modules of one name"
        names += found
        for name, text in found.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
    assert len(names) > len(PAGES)
    check_types(tools, tmp_path, names)


@pytest.mark.parametrize("options", [(), ("--plain",)])
def test_projects_of_kit_new_are_typed(
    options: tuple[str, ...], tools: Path, tmp_path: Path
) -> None:
    run(tools / "kit", "new", "shop", *options, cwd=tmp_path)
    check_types(tools, tmp_path / "shop", ["app.py", "test_app.py"])
