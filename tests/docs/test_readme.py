# SPDX-License-Identifier: MIT
"""The README's own words: its first app runs, and its commands are what they say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from checkout import Checkout
from commands import run
from workspace import ROOT

from kit import Kit

pytestmark = pytest.mark.once

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def app_of(block: str) -> Kit:
    """Runs a block that makes an app."""
    namespace: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), namespace)
    app = namespace["app"]
    assert isinstance(app, Kit)
    return app


async def test_first_app_answers(capsys: object) -> None:
    app = app_of(BLOCKS[0])
    assert await (await app.request("/")).text() == "Hello, world!"
    answer = await app.request("/users/7?field=name&field=age")
    assert await answer.json() == {"id": "7", "fields": ["name", "age"]}
    assert (await app.request("/users/x")).status == 404
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 15


async def test_typed_app_answers() -> None:
    assert len(BLOCKS) == 2
    app = app_of(BLOCKS[1])
    answer = await app.request("/books/7?dry_run=true", method="PUT", json={"title": "Dune"})
    assert await answer.json() == {"title": "Dune", "year": None}
    refused = await app.request("/books/x", method="PUT", json={"year": 1965})
    assert refused.status == 400
    assert [error["path"] for error in (await refused.json())["errors"]] == ["id", "title"]
    assert (await app.request("/docs")).status == 200


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert len(targets) >= 8
    assert [target for target in targets if not (ROOT / target).exists()] == []


CLONE = "git clone https://github.example/kit/kit && cd kit"
INSTALL = "python3 -m venv .uv && .uv/bin/pip install -q uv"
SERVE = "--no-dev kit serve examples/bookshelf"


def test_commands_are_those_of_the_workspace() -> None:
    commands = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
    assert commands == [
        f"{CLONE}\n{INSTALL} && .uv/bin/uv run {SERVE}",
        f"{INSTALL} && .uv/bin/uv run pytest",
    ]
    assert f"`uv run {SERVE}`" in README
    assert (ROOT / "examples/bookshelf/app.py").exists()


def test_packages_have_a_table_that_fits_a_phone() -> None:
    rows = re.findall(r"^\| \[kit-.*$", README, re.MULTILINE)
    assert {row.count(" | ") for row in rows} == {1}


async def test_picture_shows_the_operations_of_the_bookshelf(example: ModuleType) -> None:
    [(_, picture)] = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", README)
    root = ElementTree.parse(ROOT / picture).getroot()
    shown = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    document = await (await example.app.request("/openapi.json")).json()
    operations = [
        (method.upper(), path, operation["summary"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    assert len(operations) == 9
    at = shown.index("GET")
    assert [*zip(*[iter(shown[at:])] * 3, strict=True)] == operations


@pytest.mark.slow
def test_first_command_works_where_pip_refuses(tmp_path: Path) -> None:
    """By the Python of a system that manages it (PEP 668)."""
    system = Path("/usr/bin/python3")
    find = "import ensurepip, sysconfig; print(sysconfig.get_path('stdlib'))"
    found = subprocess.run([system, "-c", find], capture_output=True, text=True, timeout=60)
    if found.returncode or not Path(found.stdout.strip(), "EXTERNALLY-MANAGED").exists():
        pytest.skip("the Python of the system has no venv, or pip may install into it")
    assert "externally-managed-environment" in run(system, "-m", "pip", "install", "uv", code=1)
    checkout = Checkout(tmp_path / "kit")
    command = re.findall(r"^python3 -m venv .*kit serve.*$", README, re.MULTILINE)[0]
    # It lists the routes in place of serving them, and so it ends.
    ended = command.replace("kit serve", "kit routes")
    printed = run("bash", "-c", f"PATH=/usr/bin:$PATH; {ended}", cwd=checkout.root)
    assert "/api/books/:id/cover" in printed
