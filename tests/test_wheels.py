# SPDX-License-Identifier: MIT
"""The built wheels in fresh virtual environments: what users can install, and what they get."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import run
from environments import install, install_pinned, metadata, new_environment, with_needed

pytestmark = pytest.mark.slow

CORE = {"kit-core", "kit-interface", "kit-routers"}
ROUTERS = {f"{name} of kit-routers" for name in ("linear", "pattern", "reg-exp", "smart", "trie")}
MIDDLEWARE = {
    "kit-bearer-auth": {"bearer-auth of kit-bearer-auth"},
    "kit-logger": {"logger of kit-logger"},
    "kit-trailing-slash": {
        "append-trailing-slash of kit-trailing-slash",
        "trim-trailing-slash of kit-trailing-slash",
    },
}
SERVERS = {"granian of kit-dev", "uvicorn of kit-dev"}
ALL = CORE | {*MIDDLEWARE, "kit-dev"}
# What is installed, what is to be there then, and which plugins.
COMBINATIONS = {
    "core": (["kit-core"], CORE, ROUTERS),
    "core and a middleware": (
        ["kit-core", "kit-logger"],
        CORE | {"kit-logger"},
        ROUTERS | MIDDLEWARE["kit-logger"],
    ),
    "all": ([*ALL], ALL, ROUTERS.union(SERVERS, *MIDDLEWARE.values())),
}
MODULES = {
    "kit-core": "kit",
    "kit-interface": "kit.interface",
    "kit-routers": "kit.router",
    "kit-bearer-auth": "kit.bearer_auth",
    "kit-trailing-slash": "kit.trailing_slash",
    "kit-logger": "kit.logger",
    "kit-dev": "kit.dev",
}
# Uses each of the middleware that is installed.
APP = """
from kit import Kit
from kit.interface import plugins

names = {plugin.name for plugin in plugins.installed("kit.middleware")}
app = Kit(router="smart")
if "logger" in names:
    app.use(plugins.load("kit.middleware", "logger")(lambda line: print(line, flush=True)))
if "bearer-auth" in names:
    app.use("/secret", plugins.load("kit.middleware", "bearer-auth")(token="s3cret"))
if "trim-trailing-slash" in names:
    app.use(plugins.load("kit.middleware", "trim-trailing-slash")())
app.get("/secret", lambda c: c.text("secret"))
app.get("/hello/:name", lambda c: c.json({"hello": c.req.param("name")}))


@app.post("/upload")
async def upload(c):
    form = await c.req.parse_body()
    return c.json({name: len(await file.bytes()) for name, file in form.items()})
"""
INSTALLED = """
import json
from importlib.metadata import distributions
from importlib.util import find_spec
from kit.interface import plugins

groups = ("kit.routers", "kit.middleware", "kit.commands", "kit.servers")
found = [plugin for group in groups for plugin in plugins.installed(group)]
for plugin in found:
    plugins.load(plugin.group, plugin.name)
print(json.dumps({
    "distributions": [d.name for d in distributions() if d.name.startswith("kit-")],
    "plugins": [f"{plugin.name} of {plugin.distribution}" for plugin in found],
    "modules": [name for name in MODULES if find_spec(name)],
}))
"""
EVERYTHING_LAZY = """
import sys
import kit
kit.Kit().get("/", lambda c: c.text("x"))
late = {"anyio", "multipart", "ada_url", "importlib.metadata", "asyncio", "uvicorn"}
print(sorted(late & set(sys.modules)))
"""
IN_PROCESS = """
import asyncio
from kit import Kit

app = Kit()
app.get("/hello/:name", lambda c: c.json({"hello": c.req.param("name")}))
response = asyncio.run(app.request("/hello/wheel"))
print(response.status, asyncio.run(response.text()))
"""
# More than is kept in memory, so that it goes through a temporary file.
UPLOAD = b"x" * 3_000_000


@pytest.fixture(params=[pytest.param(value, id=key) for key, value in COMBINATIONS.items()])
def combination(
    request: pytest.FixtureRequest, wheels: dict[str, Path], tmp_path: Path
) -> tuple[Path, set[str], set[str]]:
    """An interpreter, the distributions of Kit that it should have, and the plugins."""
    names, distributions, expected = request.param
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *with_needed(wheels, *names), "uvicorn")
    return python, distributions, expected


def test_what_is_installed_is_all_there_is(
    combination: tuple[Path, set[str], set[str]],
    serve_command: Callable[..., Any],
    tmp_path: Path,
) -> None:
    python, distributions, expected = combination
    modules = json.dumps([*MODULES.values()])
    found = json.loads(run(python, "-c", INSTALLED.replace("MODULES", modules)))
    assert sorted(found["distributions"]) == sorted(distributions)
    assert sorted(found["plugins"]) == sorted(expected)
    assert set(found["modules"]) == {MODULES[name] for name in distributions}
    asked = ask_over_uvicorn(python, serve_command, tmp_path)
    assert ("<-- GET /hello/wheel 200" in asked["printed"]) is ("kit-logger" in distributions)
    assert asked["secret"] == (401 if "kit-bearer-auth" in distributions else 200)
    assert asked["slash"] == (301 if "kit-trailing-slash" in distributions else 404)


def ask_over_uvicorn(
    python: Path, serve_command: Callable[..., Any], folder: Path
) -> dict[str, Any]:
    """Serves `APP` with the uvicorn beside an interpreter; gives what differs by middleware."""
    (folder / "smoke.py").write_text(APP)
    options = ("--app-dir", str(folder), "--lifespan", "on", "smoke:app")
    served = serve_command(
        lambda port: [str(python), "-m", "uvicorn", "--port", str(port), *options]
    )
    with httpx.Client(base_url=served.url, timeout=30) as client:
        assert client.get("/hello/wheel").json() == {"hello": "wheel"}
        answer = client.post("/upload", files={"large": ("a.bin", UPLOAD)})
        assert answer.json() == {"large": len(UPLOAD)}
        asked = {
            "secret": client.get("/secret").status_code,
            "slash": client.get("/hello/wheel/").status_code,
        }
    assert served.stop() == 0
    return {**asked, "printed": served.printed()}


def test_oldest_versions_that_the_ranges_allow(
    wheels: dict[str, Path], serve_command: Callable[..., Any], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    needed = [
        re.sub(r"\s*;\s*extra == .*", "", line)
        for wheel in wheels.values()
        for line in metadata(wheel).get("Requires-Dist", [])
        if not line.startswith("kit-") and not line.startswith("pytest")
    ]
    # Asked for by name, which makes them direct; what they need in turn may be the newest.
    oldest = ("--resolution", "lowest-direct", "--no-build")
    install(python, *wheels.values(), *needed, options=oldest)
    asked = ask_over_uvicorn(python, serve_command, tmp_path)
    assert (asked["secret"], asked["slash"]) == (401, 301)
    mount = (
        "from kit import Kit; from kit.asgi import from_wsgi\n"
        "def wsgi(environ, start):\n"
        "    start('200 OK', [('content-type', 'text/plain')])\n"
        "    return [b'old']\n"
        "app = Kit().mount('/old', from_wsgi(wsgi))\n"
    )
    (tmp_path / "mounted.py").write_text(mount)
    kit = python.parent / "kit"
    assert run(kit, "request", "mounted.py", "/old", "--body-only", cwd=tmp_path) == "old"


def test_core_is_installed_by_pip(wheels: dict[str, Path], tmp_path: Path) -> None:
    run("uv", "venv", "--quiet", "--seed", "--python", sys.executable, tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", *with_needed(wheels, "kit-core"))
    assert run(python, "-c", IN_PROCESS) == '200 {"hello":"wheel"}\n'
    assert run(python, "-c", EVERYTHING_LAZY) == "[]\n"
    missing = run(python, "-c", "import kit.logger", code=1)
    assert missing.rstrip().endswith("ModuleNotFoundError: No module named 'kit.logger'")


def test_middleware_stands_on_the_interface_alone(wheels: dict[str, Path], tmp_path: Path) -> None:
    python = new_environment(tmp_path / "venv")
    install(python, wheels["kit-interface"], *(wheels[name] for name in MIDDLEWARE))
    modules = [MODULES[name] for name in MIDDLEWARE]
    for module in modules:
        loaded = f"import sys, {module}; print(*[n for n in sys.modules if n.startswith('kit.')])"
        parts = {name.split(".")[1] for name in run(python, "-c", loaded).split()}
        assert parts == {"interface", module.removeprefix("kit.")}
    # Their types hold without kit-core, those inside the packages and those of their use.
    (tmp_path / "use.py").write_text(
        "from typing import assert_type\n"
        "from kit.bearer_auth import bearer_auth\n"
        "from kit.interface import Middleware\n"
        "from kit.logger import logger\n"
        "from kit.trailing_slash import append_trailing_slash, trim_trailing_slash\n"
        'assert_type(bearer_auth(token="t"), Middleware)\n'
        "assert_type(logger(), Middleware)\n"
        "assert_type(append_trailing_slash(), Middleware)\n"
        "assert_type(trim_trailing_slash(), Middleware)\n"
    )
    mypy = ("-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", tmp_path)
    packages = [part for module in modules for part in ("-p", module)]
    for what in (packages, ["use.py"]):
        said = run(sys.executable, *mypy, *what, cwd=tmp_path)
        assert said.startswith("Success: no issues found"), said


def test_command_without_its_extra_names_the_pip_command(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    install_pinned(python, *with_needed(wheels, "kit-core", "kit-dev"))
    (tmp_path / "app.py").write_text("from kit import Kit\napp = Kit()\n")
    said = run(python.parent / "kit", "serve", tmp_path / "app.py", code=1)
    assert "pip install 'kit-dev[serve]'" in said
    assert run(python.parent / "kit", "--version").startswith("kit")


def test_source_distributions_give_the_same_wheels(wheels: dict[str, Path], tmp_path: Path) -> None:
    """Those of the fixture were built from the source distributions, these are from the tree."""
    root = Path(__file__).resolve().parent.parent
    build = ("build", "--quiet", "--all-packages", "--no-sources", "--wheel", "-o", tmp_path)
    run("uv", "--directory", root, *build)
    assert sorted(path.name for path in tmp_path.glob("*.whl")) == sorted(
        wheel.name for wheel in wheels.values()
    )
    for wheel in wheels.values():
        assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes(), wheel.name
