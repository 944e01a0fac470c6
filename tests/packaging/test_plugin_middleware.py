# SPDX-License-Identifier: MIT
"""Middleware from a distribution outside of the workspace, as its author and its users have it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import run
from environments import install, install_pinned, new_environment, with_needed
from plugin_examples import PluginExample, listed_by_kit

pytestmark = [pytest.mark.slow, pytest.mark.once]

APP = """
from kit import HTTPException, Kit, Response
from kit.interface import plugins

request_id = plugins.load("kit.middleware", "request-id")
app = Kit()
app.use(request_id())
app.get("/", lambda c: c.json({"id": c.get("request_id")}))
app.get("/streamed", lambda c: Response(iter(["a", "b"])))


@app.get("/refused")
def refused(c):
    raise HTTPException(403)


@app.get("/broken")
def broken(c):
    raise RuntimeError("broken")
"""
STAND_ALONE = """
import sys
from request_id_middleware import request_id

print(request_id().__name__)
print(sorted({name.partition(".")[2].partition(".")[0] for name in sys.modules
    if name.startswith("kit.")}))
"""
TYPED_USE = """
from typing import assert_type
from kit.interface import AsyncMiddleware, Context, plugins
from request_id_middleware import RequestIdVariables, request_id

assert_type(request_id(header_name="X-Id", generator=lambda: "a"), AsyncMiddleware)


def handler(c: Context[object, RequestIdVariables]) -> str:
    return assert_type(c.var["request_id"], str)
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> PluginExample:
    return PluginExample("plugin-middleware", tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="module")
def environment(
    wheels: dict[str, Path], plugin: PluginExample, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An interpreter with the kit command, the plugin, and what the plugin's tests need."""
    folder = tmp_path_factory.mktemp("environment")
    python = new_environment(folder / "venv")
    # First with the interface as its only neighbour: that is all it may need.
    install(python, wheels["kit-interface"], plugin.wheel)
    assert run(python, "-c", STAND_ALONE).splitlines() == ["request_id", "['interface']"]
    (folder / "use.py").write_text(TYPED_USE)
    mypy = ("-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", folder)
    what = ("-p", "request_id_middleware"), ("use.py",)
    for arguments in what:
        said = run(sys.executable, *mypy, *arguments, cwd=folder)
        assert said.startswith("Success: no issues found"), said
    with_tests = f"request-id-middleware[test] @ {plugin.wheel.as_uri()}"
    kit = with_needed(wheels, "kit-core", "kit-dev")
    install_pinned(python, *kit, with_tests, "uvicorn")
    return python


def test_an_app_serves_with_it(
    environment: Path, serve_command: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "served.py").write_text(APP)
    served = serve_command(
        lambda port: [
            *(str(environment), "-m", "uvicorn", "--port", str(port)),
            *("--app-dir", str(tmp_path), "served:app"),
        ]
    )
    with httpx.Client(base_url=served.url, timeout=30) as client:
        for path, status in (
            ("/", 200),
            ("/streamed", 200),
            ("/refused", 403),
            ("/broken", 500),
            ("/absent", 404),
        ):
            answer = client.get(path, headers={"x-request-id": "Root=1-67:a/b"})
            assert answer.status_code == status
            assert answer.headers.get_list("x-request-id") == ["Root=1-67:a/b"], path
        forged = client.get("/", headers={"x-request-id": 'a" forged="1'})
        assert re.fullmatch(r"[0-9a-f-]{36}", forged.headers["x-request-id"])
        assert forged.json() == {"id": forged.headers["x-request-id"]}
        ids = {client.get("/").json()["id"] for _ in range(10)}
    assert len(ids) == 10


def test_it_is_found_by_name(environment: Path) -> None:
    target = "request_id_middleware:request_id"
    code = (
        "from kit.interface import plugins\n"
        "print(plugins.installed('kit.middleware'))\n"
        "print(plugins.load('kit.middleware', 'request-id') is\n"
        "      plugins.load('kit.middleware', 'Request_Id.Middleware:request-id'))\n"
    )
    listed, same = run(environment, "-c", code).splitlines()
    # Beside it there may be what the test of the README has installed.
    assert (
        "InstalledPlugin(group='kit.middleware', name='request-id', "
        f"distribution='request-id-middleware', version='0.1.0', target='{target}')"
    ) in listed
    assert same == "True"


def test_kit_plugins_lists_it(environment: Path) -> None:
    row = listed_by_kit(environment, "request-id")
    assert (row["kind"], row["distribution"]) == ("middleware", "request-id-middleware")
    assert (row["version"], row["problem"]) == ("0.1.0", None)


def test_its_own_tests_pass_from_its_source_distribution(
    plugin: PluginExample, environment: Path, tmp_path: Path
) -> None:
    assert plugin.run_own_tests(environment, tmp_path) > 20


def test_its_readme_makes_a_middleware(
    plugin: PluginExample, environment: Path, tmp_path: Path
) -> None:
    assert plugin.build_from_readme(environment, tmp_path) == 3
    use = (
        "from kit.interface import plugins; print(plugins.load('kit.middleware', 'my')().__name__)"
    )
    assert run(environment, "-c", use) == "my\n"


def test_its_readme_says_how_it_is_used(plugin: PluginExample, environment: Path) -> None:
    ask = """
import asyncio
headers = {"X-Request-Id": "a7", "X-Correlation-Id": "b8"}
answer = asyncio.run(app.request("/", {"headers": headers}))
print(asyncio.run(answer.text()))
"""
    said = [run(environment, "-c", app + ask).rstrip() for app in plugin.shown_apps()]
    assert said == ['{"id":"a7"}', "b8"]


def test_links_of_its_readme_lead_somewhere(plugin: PluginExample) -> None:
    assert plugin.dead_links() == []
