# SPDX-License-Identifier: MIT
"""The recipes for job queues of docs/scaling-out.md, each with its server and a worker process."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import documents
import postgres_server
import pytest
from commands import run
from ports import free_port
from serving import ServerProcess

PAGE = "docs/scaling-out.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the page."""
    for block in documents.read(PAGE).blocks:
        if block.title.endswith(".py"):
            (tmp_path / block.title).write_text(block.text)
    return tmp_path


@pytest.fixture
def postgres() -> Iterator[postgres_server.PostgresServer]:
    if reason := postgres_server.missing():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory() as own:
        Path(own).chmod(0o755)
        with postgres_server.PostgresServer(Path(own)) as server:
            yield server


@pytest.mark.once
def test_procrastinate(
    folder: Path, postgres: postgres_server.PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", postgres.url)
    command = (sys.executable, "-m", "procrastinate", "--app=mails.jobs")
    run(*command, "schema", "--apply", cwd=folder)
    port = free_port()
    serve = [sys.executable, "-m", "kit", "serve", "orders.py", "--port", str(port)]
    with ServerProcess(serve, port, folder / "log", folder=folder):
        request = Request(f"http://127.0.0.1:{port}/orders/ada", method="POST")
        with urlopen(request, timeout=20) as response:
            assert response.status == 202
            job = json.load(response)["job"]
    assert "doing" not in (folder / "log").read_text()
    printed = run(*command, "worker", "--one-shot", cwd=folder)
    assert printed.count("mail to ada") == 1
    assert isinstance(job, int)
    # Done once: another worker finds nothing to do.
    assert "mail to" not in run(*command, "worker", "--one-shot", cwd=folder)
