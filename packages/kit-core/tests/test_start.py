# SPDX-License-Identifier: MIT
"""What a new process imports up to its first app, and up to its first answer."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

APP = """
import sys
{imports}
known = set(sys.modules)
from kit import Context, Kit

app = Kit()


@app.get("/")
async def hello(c: Context):
    return c.text("Hello, World!")
"""
# Without asyncio, which imports logging itself.
ANSWER = """
sent = []


async def receive():
    return {"type": "http.request", "body": b"", "more_body": False}


async def send(message):
    sent.append(message)


scope = {
    "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
    "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 50000), "root_path": "", "method": "GET",
    "path": "/", "raw_path": b"/", "query_string": b"", "headers": [(b"host", b"localhost")],
}
try:
    app(scope, receive, send).send(None)
except StopIteration:
    pass
assert sent[1]["body"] == b"Hello, World!", sent
"""
REPORT = """
import json
print(json.dumps(sorted(set(sys.modules) - known)))
"""
NEVER = {
    "anyio",
    "asyncio",
    "can_ada",
    "dataclasses",
    "importlib.metadata",
    "kit.router._segment_tree",
    "kit.router._states",
    "multipart",
    "pkgutil",
}


def imported(source: str, imports: str = "") -> set[str]:
    program = source.replace("{imports}", imports)
    command = [sys.executable, "-I", "-c", program + REPORT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("source", [APP, APP + ANSWER], ids=["first app", "first answer"])
def test_nothing_is_imported_that_is_not_used(source: str) -> None:
    assert not imported(source) & NEVER


def test_the_packages_of_kit_may_be_in_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as file:
        file.writestr("kit/", "")
        file.writestr("kit/zipped.py", "NAME = 'zipped'")
    use = "import kit.zipped; assert kit.zipped.NAME == 'zipped'\n"
    extend = f"sys.path.append({str(tmp_path / 'more.zip')!r})"
    assert "kit.zipped" in imported(APP + use, extend)


def test_a_name_that_is_no_part_of_kit() -> None:
    import kit

    assert {"Kit", "URLSearchParams", "in_thread"} <= {*dir(kit)}
    assert {"Response", "Headers"} <= {*dir(kit.web)}
    with pytest.raises(AttributeError, match=r"module 'kit\.web' has no attribute 'nothing'"):
        kit.web.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_defaults_of_type_arguments() -> None:
    from kit import Context, Kit

    assert isinstance(Kit[dict[str, int]](), Kit)
    assert isinstance(Kit[dict[str, int], dict[str, str]](), Kit)
    assert Context[dict[str, int]].__args__[0] == dict[str, int]  # type: ignore[attr-defined]
    assert len(Context[dict[str, int]].__args__) == 2  # type: ignore[attr-defined]
