# SPDX-License-Identifier: MIT
"""Runs async tests on asyncio and on trio, and writes templates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

# Far more than any test takes: it only turns a hang into a failure.
LIMIT_S = 30.0


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function; a test that takes it runs once on each event loop."""

    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                return await function(*args)

        return anyio.run(bounded, backend=request.param)

    return run


@pytest.fixture
def pages(tmp_path: Path) -> Callable[..., Path]:
    """Writes templates by name into a folder, and returns the folder."""
    folder = tmp_path / "pages"
    folder.mkdir()

    def pages(**sources: str) -> Path:
        for name, source in sources.items():
            end = "" if "." in name else ".html"
            (folder / f"{name}{end}").write_text(source)
        return folder

    return pages
