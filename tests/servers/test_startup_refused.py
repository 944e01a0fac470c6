# SPDX-License-Identifier: MIT
"""Servers don't start an app with a decorator that never got its function."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import servers

pytestmark = pytest.mark.slow

PATIENCE_S = 60
APP = """\
from kit import Kit

app = Kit()
app.get("/", lambda c: c.text("hello"))
app.post("/books")
"""
COMMANDS = {
    **{name: servers.command(name, "app:app", 0) for name in servers.SERVERS},
    "uvicorn asgi3": [
        *(sys.executable, "-m", "uvicorn", "--port=0", "--interface=asgi3"),
        "app:app",
    ],
    # Nothing says here that the app has a lifespan.
    "uvicorn auto": [sys.executable, "-m", "uvicorn", "--port=0", "app:app"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_server_ends_and_says_where_the_decorator_is(name: str, tmp_path: Path) -> None:
    program = tmp_path / "app.py"
    program.write_text(APP)
    done = subprocess.run(
        COMMANDS[name], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S
    )
    text = (
        f"RuntimeError: @app.post('/books') at {program}:5 was called without a handler and never "
        "used as a decorator: give it a handler, or put it above a function"
    )
    assert text in done.stdout + done.stderr
    # hypercorn ends with 0 when a worker could not start.
    assert (done.returncode != 0) == (not name.startswith("hypercorn"))
