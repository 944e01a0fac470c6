# SPDX-License-Identifier: MIT
"""`kit new`: the project runs and passes its own tests at once, and nothing is overwritten."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

FILES = ["app.py", "test_app.py", "pyproject.toml", "README.md", ".gitignore"]


KIT = r"(\[\w+\])?>=[\d.]+,<[\d.]+"


def new(name: str, *options: str) -> Any:
    return CliRunner().invoke(main, ["new", name, *options])


@pytest.mark.once
@pytest.mark.parametrize(
    ("options", "hint", "passed", "imported"),
    [
        pytest.param(
            (),
            "; open http://127.0.0.1:8000/docs",
            "4 passed",
            [f"kit-core{KIT}", f"kit-typed{KIT}", f"kit-openapi{KIT}", "msgspec"],
            id="typed",
        ),
        pytest.param(("--plain",), "", "2 passed", [f"kit-core{KIT}"], id="plain"),
    ],
)
def test_project_passes_its_own_tests(
    options: tuple[str, ...], hint: str, passed: str, imported: list[str], folder: Path
) -> None:
    result = new("my-shop", *options)
    assert (result.exit_code, result.output) == (
        0,
        "Made my-shop with app.py, test_app.py, pyproject.toml, README.md, .gitignore. Next:\n"
        "\n"
        "  cd my-shop\n"
        f"  kit dev   serves it, and reloads it when its code changes{hint}\n"
        "  pytest    runs its tests\n",
    )
    root = folder / "my-shop"
    assert sorted(path.name for path in root.iterdir()) == sorted(FILES)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:asyncio"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert passed in done.stdout, done.stdout + done.stderr
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    assert settings["project"]["name"] == "my-shop"
    wanted = [
        *zip(settings["project"]["dependencies"], imported, strict=True),
        *zip(
            settings["dependency-groups"]["dev"],
            [f"kit-dev{KIT}", f"kit-testing{KIT}", "pytest"],
            strict=True,
        ),
    ]
    for given, pattern in wanted:
        assert re.fullmatch(pattern, given)
    installed = next(
        line for line in (root / "README.md").read_text().splitlines() if line.startswith("pip ")
    )
    for given, _ in wanted:
        assert re.sub("[>=].*", "", given) in installed


def test_what_is_missing_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.metadata.distribution

    def distribution(name: str) -> importlib.metadata.Distribution:
        if name in ("kit-typed", "openapi-ui-bundles"):
            raise importlib.metadata.PackageNotFoundError(name)
        return find(name)

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    hint = "  pip install kit-typed 'kit-openapi[ui]'\n"
    assert hint in new("shop").output
    assert "pip install" not in new("other", "--plain").output


@pytest.mark.parametrize("options", [(), ("--plain",)])
def test_project_is_tidy(options: tuple[str, ...], folder: Path) -> None:
    ruff = Path(sys.executable).parent / "ruff"
    if not ruff.exists():
        pytest.skip("ruff is not installed")
    assert new("shop", *options).exit_code == 0
    for arguments in (["check", "--select", "E,F,I,UP,B"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *arguments, "--isolated", "."],
            cwd=folder / "shop",
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["a", "shop2", "my_shop", "My.Shop", "x" * 100])
def test_names(name: str, folder: Path) -> None:
    assert new(name).exit_code == 0


@pytest.mark.parametrize(
    "name", ["", "-x", "my shop", "x/y", "..", ".hidden", "x-", "käse", 'a"b', "x" * 101, "a\n"]
)
def test_names_that_will_not_do(name: str, folder: Path) -> None:
    result = CliRunner().invoke(main, ["new", "--", name])
    assert result.exit_code == 1
    assert result.output.startswith(
        f"Error: {name!r} is no name of a project: expected letters and digits, with '-', '_' and "
        "'.' between them, e.g. 'my-shop'"
    )
    assert ("the folder is made in the current one" in result.output) == ("/" in name)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["kit", "Kit", "kit-core", "kit_dev", "pytest"])
def test_names_of_what_it_uses(name: str, folder: Path) -> None:
    result = new(name)
    assert (result.exit_code, result.output) == (
        1,
        f"Error: A project can't be called {name!r}, as a package that it uses is\n",
    )


def test_nothing_is_overwritten(folder: Path) -> None:
    (folder / "shop").mkdir()
    (folder / "shop" / "app.py").write_text("mine")
    result = new("shop")
    assert (result.exit_code, result.output) == (
        1,
        f"Error: {folder / 'shop'} is there already, and not empty: pick another name\n",
    )
    assert (folder / "shop" / "app.py").read_text() == "mine"
    (folder / "file").write_text("mine")
    result = new("file")
    assert (result.exit_code, result.output) == (
        1,
        f"Error: {folder / 'file'} is there already: pick another name\n",
    )
    assert (folder / "file").read_text() == "mine"


def test_empty_folder_is_taken(folder: Path) -> None:
    (folder / "shop").mkdir()
    assert new("shop").exit_code == 0


def test_folder_that_may_not_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, **options: Any) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    result = new("shop")
    assert (result.exit_code, result.output) == (
        1,
        f"Error: Can't make {folder / 'shop'}: Permission denied\n",
    )


@pytest.mark.parametrize(
    ("installed", "wanted"),
    [("1.4.2", ">=1.4,<2"), ("0.3.1", ">=0.3,<0.4"), ("unknown", ""), (None, "")],
)
def test_project_wants_versions_like_the_one_that_made_it(
    installed: str | None, wanted: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if installed is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert new("shop").exit_code == 0
    project = tomllib.loads((folder / "shop" / "pyproject.toml").read_text())["project"]
    assert f"kit-core{wanted}" in project["dependencies"]
