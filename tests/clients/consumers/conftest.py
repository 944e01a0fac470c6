# SPDX-License-Identifier: MIT
"""The documents that other programs read, and the served apps that generated clients call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import conduit_served
import consumers
import pytest
from consumer_clients import SHELF_TOKEN
from serving import ServedApp, ServerProcess


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The document of each of `consumers.APPS`, by its name."""
    return consumers.write_documents(tmp_path_factory.mktemp("documents"))


@pytest.fixture(scope="session")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The URL of each of `consumers.APPS`, served for as long as tests want them."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "shelf.db").touch()
    shelf = {"BOOKSHELF_DB": str(folder / "shelf.db"), "BOOKSHELF_TOKEN": SHELF_TOKEN}
    with ExitStack() as stack:

        def serve(name: str, target: str, options: tuple[str, ...] = (), **environment: str) -> str:
            log = folder / f"{name}.log"
            served: ServerProcess = stack.enter_context(
                ServedApp("uvicorn", target, log, *options, environment=environment)
            )
            return f"http://127.0.0.1:{served.port}"

        file = consumers.APPS["bookshelf"]
        conduit = stack.enter_context(conduit_served.served("sqlite-1"))
        yield {
            "bookshelf": serve("bookshelf", "app:app", ("--app-dir", str(file.parent)), **shelf),
            "conduit": conduit.url.removesuffix("/api"),
            "every_feature": serve("every_feature", "every_feature_app:app"),
        }
