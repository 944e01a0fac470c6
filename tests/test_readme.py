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


async def test_first_app_answers(capsys: object) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 1
    namespace: dict[str, object] = {}
    exec(compile(blocks[0], "README.md", "exec"), namespace)
    app = namespace["app"]
    assert isinstance(app, Kit)
    assert await (await app.request("/")).text() == "Hello, world!"
    answer = await app.request("/users/7?field=name&field=age")
    assert await answer.json() == {"id": "7", "fields": ["name", "age"]}
    assert (await app.request("/users/x")).status == 404
    assert len([line for line in blocks[0].splitlines() if line.strip()]) <= 15


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
