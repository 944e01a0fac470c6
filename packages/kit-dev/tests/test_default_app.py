# SPDX-License-Identifier: MIT
"""The app of a command that is given none: `KIT_APP`, `[tool.kit]`, or the current folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.dev import AppError, default_app, load_app
from kit.dev.cli import main

APP = "from kit import Kit\napp = Kit()\napp.get('/{0}', lambda c: c.text('{0}'))\n"


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KIT_APP", raising=False)


def settings(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text)


def listed() -> str:
    result = CliRunner().invoke(main, ["routes"])
    assert result.exit_code == 0, result.output
    return str(result.output.splitlines()[1].split()[1])


def test_current_folder(folder: Path) -> None:
    (folder / "app.py").write_text(APP.format("here"))
    settings(folder, "[tool.other]\n")
    assert (default_app(), listed()) == (".", "/here")


def test_variable_comes_before_settings_and_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("app", "shop", "shed"):
        (folder / f"{name}.py").write_text(APP.format(name))
    assert listed() == "/app"
    settings(folder, '[tool.kit]\napp = "shop:app"\n')
    assert listed() == "/shop"
    monkeypatch.setenv("KIT_APP", "shed.py")
    assert listed() == "/shed"
    monkeypatch.setenv("KIT_APP", "")
    assert listed() == "/shop"


@pytest.mark.parametrize(
    ("app", "seen_below", "path"),
    [
        ("shop:app", "../../shop/__init__.py:app", "/package"),
        ("shop", "../../shop", "/web"),
        ("shop.app", "../../shop/app.py", "/web"),
        ("shop.app:app", "../../shop/app.py:app", "/web"),
        ("shop/app.py", "../../shop/app.py", "/web"),
        ("main:app", "../../main.py:app", "/main"),
        ("kit:app", "kit:app", None),
    ],
)
def test_settings_are_found_from_a_folder_below(
    app: str, seen_below: str, path: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = folder / "shop" / "pages"
    below.mkdir(parents=True)
    (folder / "shop" / "__init__.py").write_text(APP.format("package"))
    (folder / "shop" / "app.py").write_text(APP.format("web"))
    (folder / "main.py").write_text(APP.format("main"))
    settings(folder, f'[tool.kit]\napp = "{app}"\n')
    assert default_app() == app
    monkeypatch.chdir(below)
    assert default_app() == seen_below
    if path is not None:
        assert [route.path for route in load_app(seen_below).routes] == [path]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = [", "FILE: Invalid value (at end of document)"),
        ("[tool.kit]\napp = 3\n", "tool.kit.app in FILE: expected e.g. 'shop:app', not 3"),
        ("[tool.kit]\napp = ''\n", "tool.kit.app in FILE: expected e.g. 'shop:app', not ''"),
        ("[tool]\nkit = 3\n", "tool.kit in FILE: expected a table, not 3"),
    ],
)
def test_wrong_settings(text: str, message: str, folder: Path) -> None:
    settings(folder, text)
    with pytest.raises(AppError) as caught:
        default_app()
    assert str(caught.value) == message.replace("FILE", str(folder / "pyproject.toml"))
    result = CliRunner().invoke(main, ["routes"])
    assert (result.exit_code, result.output) == (1, f"Error: {caught.value}\n")
