# SPDX-License-Identifier: MIT
"""The `kit` command as its users have it: what its docs show, its speed, and its wheel."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
from commands import clean_environment, run
from environments import install, install_pinned, new_environment, with_needed
from workspace import ROOT

pytestmark = pytest.mark.once

README = (ROOT / "packages" / "kit-dev" / "README.md").read_text()
KIT = [sys.executable, "-m", "kit"]
STARTUP_S = 30.0


def examples() -> Iterator[tuple[str, str]]:
    """The commands of the README that end by themselves, and what it shows of them.

    What `kit plugins` lists depends on what is installed: test_wheels.py compares it.
    """
    for block in re.findall(r"```text\n(.*?)```", README, re.DOTALL):
        command, _, shown = block.partition("\n")
        if re.match(r"\$ kit (routes|request|new) ?", command):
            yield command.removeprefix("$ kit "), shown


@pytest.mark.parametrize(("command", "shown"), [*examples()])
def test_readme_shows_what_is_printed(command: str, shown: str, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    done = subprocess.run(
        [*KIT, *shlex.split(command)],
        cwd=tmp_path if command.startswith("new") else ROOT,
        env={**environment, "BOOKSHELF_DB": str(tmp_path / "books.db")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip("\n") == shown.rstrip("\n")


def test_readme_shows_enough() -> None:
    assert {command.split()[0] for command, _ in examples()} == {"new", "request", "routes"}


def test_readme_s_code_prints_what_is_shown() -> None:
    code, shown = re.findall(
        r"```python\n(from kit import [^\n]*\nfrom kit.dev.*?)```\n\n```text\n(.*?)```",
        README,
        re.DOTALL,
    )[0]
    environment = {k: v for k, v in os.environ.items() if k != "FORCE_COLOR"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.stdout == shown, done.stderr


def test_links_of_the_readme_lead_somewhere() -> None:
    anchors = {
        re.sub(r"[^a-z -]", "", line.lower()).strip().replace(" ", "-")
        for line in re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif "://" not in target:
            assert (ROOT / "packages" / "kit-dev" / target).exists(), target


LISTS_ROUTES = """
import contextlib, json, sys
from kit.dev.cli import main

with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    main(["routes", "examples/bookshelf"])
print(json.dumps(sorted(sys.modules)))
"""
IMPORTS = """
import json, sys
sys.path.insert(0, "examples/bookshelf")
import app
print(json.dumps(sorted(sys.modules)))
"""


def test_routes_import_little_more_than_the_app(database: Path, tmp_path: Path) -> None:
    """What keeps the command under twice the time of the import, whatever is installed."""
    for number in range(5):
        info = tmp_path / f"acme_{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: acme-{number}\nVersion: 1.0\n"
        )
        groups = ("kit.commands", "kit.middleware", "kit.routers", "kit.servers")
        text = "".join(f"[{group}]\nacme{number} = acme{number}:value\n" for group in groups)
        (info / "entry_points.txt").write_text(text)
        (tmp_path / f"acme{number}.py").write_text("value = print\n")

    def modules(code: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(tmp_path), "BOOKSHELF_DB": str(database)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return set(json.loads(done.stdout))

    imported = modules(IMPORTS)
    more = modules(LISTS_ROUTES) - imported
    assert any(name.startswith("kit.dev") for name in more)
    assert len(more) < len(imported) / 2
    # Plugins are not even looked for, as that takes longer the more is installed.
    costly = ("acme", "importlib.metadata", "multiprocessing", "uvicorn", "watchfiles")
    assert [name for name in more if name.startswith(costly)] == []


@pytest.mark.slow
def test_installed_from_wheels(wheels: dict[str, Path], tmp_path: Path) -> None:
    """Without the extra `serve`, which `kit dev` and `kit serve` then ask for."""
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *with_needed(wheels, "kit-core", "kit-dev"))
    script = python.parent / "kit"
    assert run(python, "-m", "kit", "--version") == run(script, "--version")
    run(script, "new", "shop", "--plain", cwd=tmp_path)
    shop = tmp_path / "shop"
    assert "GET     /hello/:name  hello" in run(script, "routes", cwd=shop)
    said = run(python, "-m", "kit", "request", ".", "/hello/Ada", "--body-only", cwd=shop)
    assert said == '{"hello":"Ada"}'
    for command in (("dev",), ("serve", ".")):
        assert "pip install 'kit-dev[serve]'" in run(script, *command, code=1, cwd=shop)
    lines = [line.split() for line in run(script, "plugins").splitlines()]
    assert ["router", "trie", "kit-routers", version("kit-routers")] in lines
    needs = "needs uvicorn, which is not installed: pip install 'kit-dev[serve]'"
    assert ["server", "uvicorn", "kit-dev", version("kit-dev"), *needs.split()] in lines


@pytest.mark.slow
def test_command_needs_no_core(wheels: dict[str, Path], tmp_path: Path) -> None:
    """Without kit-core, kit-testing and kit-validator: what needs no app works."""
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *with_needed(wheels, "kit-dev"))
    command = python.parent / "kit"
    assert run(command, "--version") == f"kit, version {version('kit-dev')}\n"
    plugins = json.loads(run(command, "plugins", "--json"))
    assert {row["distribution"] for row in plugins} == {"kit-dev", "kit-routers"}
    assert run(command, "new", "shop", cwd=tmp_path).startswith("Made shop with app.py")
    said = run(command, "routes", "shop", cwd=tmp_path, code=1)
    assert "ImportError: cannot import name 'Context' from 'kit'" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "passed", "path", "answer"),
    [
        ("api", "5 passed", "/docs", "<title>shop</title>"),
        ("site", "5 passed", "/", "<h1>Tasks</h1>"),
        ("plain", "2 passed", "/hello/Ada", '{"hello":"Ada"}'),
        ("plugin-middleware", "8 passed", "/", "Hello"),
        ("plugin-router", "96 passed", "/users/7", '{"id":"7"}'),
    ],
)
def test_new_project_runs_at_once(
    template: str,
    passed: str,
    path: str,
    answer: str,
    wheels: dict[str, Path],
    tmp_path: Path,
) -> None:
    """With what it declares, and nothing else."""
    run(*KIT, "new", "shop", "--template", template, cwd=tmp_path)
    shop = tmp_path / "shop"
    settings = tomllib.loads((shop / "pyproject.toml").read_text())
    declared = [*settings["project"]["dependencies"], *settings["dependency-groups"]["dev"]]
    names = [re.split(r"[^\w-]", each)[0] for each in declared]
    python = new_environment(tmp_path / "venv")
    # The extra kit-openapi[ui] needs kit-openapi-ui.
    extras = re.findall(r"(kit-[\w-]+)\[(\w+)\]", " ".join(declared))
    names += [f"{name}-{extra}" for name, extra in extras]
    install_pinned(python, *with_needed(wheels, *{*names} & {*wheels}), *declared)
    if "build-system" in settings:
        install(python, shop, options=("--no-deps", "--editable"))
    tools = python.parent
    assert passed in run(tools / "pytest", "-W", "error", cwd=shop)
    if template != "plain":
        run(tools / "ruff", "check", "--select", "E,F,I,UP,B", cwd=shop)
        run(tools / "ruff", "format", "--check", cwd=shop)
        assert run(tools / "mypy", ".", cwd=shop).startswith("Success: no issues")
    assert "METHOD" in run(tools / "kit", "routes", cwd=shop)
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [tools / "kit", "dev", "--port", "0"], cwd=shop, stderr=output, env=clean_environment()
        )
    try:
        end = time.monotonic() + STARTUP_S
        while not (found := re.search(r"Serving \w+.py at (\S+) ", log.read_text())):
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        assert answer in httpx.get(f"{found[1]}{path}").text
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(STARTUP_S) == 0


@pytest.mark.slow
def test_the_wheel_has_the_module_that_is_run(wheels: dict[str, Path]) -> None:
    names = zipfile.ZipFile(wheels["kit-dev"]).namelist()
    assert [name for name in names if not name.startswith(("kit/dev/", "kit_dev-"))] == []
    assert "kit/__main__.py" in zipfile.ZipFile(wheels["kit-core"]).namelist()
