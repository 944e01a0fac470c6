# SPDX-License-Identifier: MIT
"""Three routes of the bookshelf as tools for agents, as docs/tools-for-agents.md has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from documents import ROOT
from mcp_peer import connected
from serving import ServedApp

BOOK = {"title": "Emma", "author": "Jane Austen", "year": 1815}
TOOLS = """
import sys

sys.path.insert(0, {folder!r})
from app import app

from kit.mcp import mcp

mcp(app, operations=["list_books", "read_book", "create_book"])
"""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "agents.py").write_text(TOOLS.format(folder=str(ROOT / "examples/bookshelf")))
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.setenv("BOOKSHELF_DB", str(tmp_path / "shelf.db"))
    monkeypatch.setenv("BOOKSHELF_TOKEN", "t0ken")
    with ServedApp("uvicorn", "agents:app", tmp_path / "log") as server:
        yield f"http://127.0.0.1:{server.port}/mcp"


@pytest.mark.once
async def test_agents_can_read_and_with_the_token_write(served: str) -> None:
    async with connected(served) as session:
        await session.initialize()
        tools = {each.name: each for each in (await session.list_tools()).tools}
        assert sorted(tools) == ["create_book", "list_books", "read_book"]
        assert sorted(tools["list_books"].input_schema["properties"]) == ["page", "q", "size"]
        refused = await session.call_tool("create_book", BOOK)
        assert refused.is_error
    async with connected(served, {"authorization": "Bearer t0ken"}) as session:
        await session.initialize()
        created = await session.call_tool("create_book", BOOK)
        found: dict[str, Any] = created.structured_content or {}
        assert found["title"] == "Emma"
        read = await session.call_tool("read_book", {"id": found["id"]})
        assert read.structured_content == found
        listed = await session.call_tool("list_books", {"q": "emma"})
        assert (listed.structured_content or {})["total"] == 1
