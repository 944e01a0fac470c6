# SPDX-License-Identifier: MIT
"""`kit new`: the project runs and passes its own tests at once, and nothing is overwritten."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

API = [
    "app.py",
    "notes.py",
    "settings.py",
    "test_app.py",
    "README.md",
    "pyproject.toml",
    ".gitignore",
]
SITE = [
    "app.py",
    "tasks.py",
    "test_app.py",
    "README.md",
    "pages/base.html",
    "pages/index.html",
    "pages/missing.html",
    "pyproject.toml",
    "static/style.css",
    ".gitignore",
]
SITE_NEEDS = ("core", "csrf", "serve-static", "session", "templates")
PLAIN = ["app.py", "test_app.py", "README.md", "pyproject.toml", ".gitignore"]
PLUGIN = [
    "example.py",
    "src/my_shop/__init__.py",
    "src/my_shop/_{}.py",
    "src/my_shop/py.typed",
    "tests/test_my_shop.py",
    "README.md",
    "pyproject.toml",
    ".gitignore",
]
TEMPLATES = ("api", "site", "plain", "plugin-middleware", "plugin-router")
KIT = r"(\[\w+\])?>=[\d.]+,<[\d.]+"


def new(name: str, *options: str) -> Any:
    return CliRunner().invoke(main, ["new", name, *options])


def files_in(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.mark.once
@pytest.mark.parametrize(
    ("options", "files", "hint", "passed", "imported"),
    [
        pytest.param(
            (),
            API,
            "; open http://127.0.0.1:8000/docs",
            "5 passed",
            [f"kit-core{KIT}", f"kit-typed{KIT}", f"kit-openapi{KIT}", "msgspec"],
            id="api",
        ),
        pytest.param(
            ("--template", "site"),
            SITE,
            "",
            "5 passed",
            [
                f"kit-{each}{KIT}"
                for each in ("core", "csrf", "serve-static", "session", "templates")
            ],
            id="site",
        ),
        pytest.param(("--plain",), PLAIN, "", "2 passed", [f"kit-core{KIT}"], id="plain"),
    ],
)
def test_project_passes_its_own_tests(
    options: tuple[str, ...],
    files: list[str],
    hint: str,
    passed: str,
    imported: list[str],
    folder: Path,
) -> None:
    serve = "kit dev --watch pages --watch static" if "site" in options else "kit dev"
    result = new("my-shop", *options)
    assert (result.exit_code, result.output) == (
        0,
        f"Made my-shop with {', '.join(files)}. Next:\n"
        "\n"
        "  cd my-shop\n"
        f"  {serve}   serves it, and reloads it when its code changes{hint}\n"
        f"  {'pytest':{len(serve)}}   runs its tests\n",
    )
    root = folder / "my-shop"
    assert files_in(root) == sorted(files)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error"],
        cwd=root,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert passed in done.stdout, done.stdout + done.stderr
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    assert settings["project"]["name"] == "my-shop"
    given = settings["project"]["dependencies"]
    for each, pattern in zip(given, imported, strict=True):
        assert re.fullmatch(pattern, each)
    tools = settings["dependency-groups"]["dev"]
    assert re.fullmatch(f"kit-dev{KIT}", tools[0])
    shown = " ".join(
        line for line in (root / "README.md").read_text().splitlines() if line.startswith("pip ")
    )
    for each in (*given, *tools):
        assert re.sub("[>=].*", "", each) in shown


@pytest.mark.parametrize(
    ("template", "module", "extra", "group", "target", "needed"),
    [
        (
            "plugin-middleware",
            "header",
            [],
            "kit.middleware",
            "my_shop:my_shop",
            ["kit-authoring", "kit-interface"],
        ),
        (
            "plugin-router",
            "router",
            ["tests/test_conformance.py"],
            "kit.routers",
            "my_shop:MyShopRouter",
            ["kit-interface"],
        ),
    ],
)
def test_plugin(
    template: str,
    module: str,
    extra: list[str],
    group: str,
    target: str,
    needed: list[str],
    folder: Path,
) -> None:
    """tests/packaging/test_kit_command.py installs them, and runs their tests."""
    result = new("My.Shop", "--template", template)
    assert result.exit_code == 0
    assert result.output.endswith(
        " Next:\n"
        "\n"
        "  cd My.Shop\n"
        "  python -m pip install -U pip   updates pip: before 25.1, it has no --group\n"
        "  pip install -e . --group dev   installs it, and what its tests need\n"
        "  pytest                         runs its tests\n"
        "  kit dev                        serves example.py, which uses it\n"
    )
    root = folder / "My.Shop"
    assert files_in(root) == sorted([*(each.format(module) for each in PLUGIN), *extra])
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    assert settings["project"]["name"] == "My.Shop"
    assert settings["project"]["entry-points"] == {group: {"my-shop": target}}
    for name, given in zip(needed, settings["project"]["dependencies"], strict=True):
        assert re.fullmatch(f"{name}{KIT}", given)


def test_router_is_called_after_what_it_does(folder: Path) -> None:
    assert new("hash-router", "--template", "plugin-router").exit_code == 0
    settings = tomllib.loads((folder / "hash-router" / "pyproject.toml").read_text())
    assert settings["project"]["entry-points"] == {
        "kit.routers": {"hash": "hash_router:HashRouter"}
    }


def test_templates_are_described(folder: Path) -> None:
    said = new("--help").output
    assert (
        "\n    site               pages from templates, static files, forms, and sessions\n" in said
    )
    result = new("shop", "--plain", "--template", "site")
    assert result.exit_code == 2
    assert result.output.endswith(
        "Error: --plain is a template of its own: leave out --template site\n"
    )
    assert new("shop", "--plain", "--template", "plain").exit_code == 0


def test_what_is_missing_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.metadata.distribution

    def distribution(name: str) -> importlib.metadata.Distribution:
        if name in ("kit-typed", "kit-openapi-ui"):
            raise importlib.metadata.PackageNotFoundError(name)
        return find(name)

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    hint = "  pip install kit-typed 'kit-openapi[ui]'\n"
    assert hint in new("shop").output
    assert "pip install" not in new("other", "--plain").output


@pytest.mark.parametrize("name", ["x", "my-shop", "a-plugin-with-the-longest-name"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_project_is_tidy(template: str, name: str, folder: Path) -> None:
    ruff = Path(sys.executable).parent / "ruff"
    if not ruff.exists():
        pytest.skip("ruff is not installed")
    assert new(name, "--template", template).exit_code == 0
    options = ["--isolated", "--line-length", "100", "--no-cache", "."]
    for arguments in (["check", "--select", "E,F,I,UP,B"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *arguments, *options], cwd=folder / name, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout
    for file in files_in(folder / name):
        text = (folder / name / file).read_text()
        assert not re.search(r"\{\{\w+\}\}", text)
        assert text == "" or text.endswith("\n")


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
        f"Error: {name!r} isn't a valid project name: expected letters and digits, with '-', '_' "
        "and '.' between them, e.g. 'my-shop'"
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


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("2fa", "'2fa' can't be imported: expected a name that begins with a letter"),
        ("class", "'class' is a keyword of Python"),
        ("json", "Python has 'json' already"),
        ("Print", "Python has 'print' already"),
        ("test-x", "pytest would take 'test_x' for a test"),
        ("x" * 31, "it has 31 characters, at most 30 fit"),
    ],
)
def test_names_that_will_not_do_for_a_plugin(name: str, reason: str, folder: Path) -> None:
    for template in ("plugin-middleware", "plugin-router"):
        result = new(name, "--template", template)
        assert (result.exit_code, result.output) == (
            1,
            f"Error: {name!r} isn't a valid name for a plugin: {reason}\n",
        )
    assert list(folder.iterdir()) == []


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
