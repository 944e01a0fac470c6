# SPDX-License-Identifier: MIT
"""The README's own words: its first app runs, and its commands are what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kit import Kit

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parent.parent
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


def test_commands_are_those_of_the_workspace() -> None:
    commands = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
    assert commands == [
        "pip install uv && uv run --no-dev kit serve examples/bookshelf",
        "pip install uv && uv run pytest",
    ]
    assert (ROOT / "examples/bookshelf/app.py").exists()
