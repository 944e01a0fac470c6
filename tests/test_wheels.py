# SPDX-License-Identifier: MIT
"""The built wheels, installed with pip into fresh virtual environments, as users do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import run

pytestmark = pytest.mark.slow

APP = """
import asyncio
from kit import Kit

app = Kit()
app.get("/hello/:name", lambda c: c.json({"hello": c.req.param("name")}))
response = asyncio.run(app.request("/hello/wheel"))
print(response.status, asyncio.run(response.text()))
"""
EVERYTHING_LAZY = """
import sys
import kit
kit.Kit().get("/", lambda c: c.text("x"))
late = {"anyio", "multipart", "ada_url", "importlib.metadata", "asyncio", "uvicorn"}
print(sorted(late & set(sys.modules)))
"""


def new_environment(folder: Path) -> Path:
    """A virtual environment with pip and nothing else; gives its interpreter."""
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def core_alone(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    python = new_environment(tmp_path_factory.mktemp("core") / "venv")
    names = ("kit-interface", "kit-routers", "kit-core")
    run(python, "-m", "pip", "install", "--quiet", *(wheels[name] for name in names))
    return python


def test_core_alone_gives_a_working_app(core_alone: Path) -> None:
    assert run(core_alone, "-c", APP) == '200 {"hello":"wheel"}\n'


def test_core_alone_imports_only_what_every_app_needs(core_alone: Path) -> None:
    assert run(core_alone, "-c", EVERYTHING_LAZY) == "[]\n"


def test_middleware_is_there_once_it_is_installed(
    core_alone: Path, wheels: dict[str, Path]
) -> None:
    missing = run(core_alone, "-c", "import kit.logger", code=1)
    assert missing.rstrip().endswith("ModuleNotFoundError: No module named 'kit.logger'")
    run(core_alone, "-m", "pip", "install", "--quiet", "--no-deps", wheels["kit-logger"])
    use = "from kit.logger import logger; print(logger().__name__)"
    assert run(core_alone, "-c", use) == "logger\n"
    listed = run(
        core_alone,
        "-c",
        "from kit.interface import plugins\n"
        "print([p[1:] for p in plugins.installed('kit.middleware')])\n"
        "print(plugins.load('kit.middleware', 'logger').__name__)\n"
        "from kit import Kit\n"
        "print(Kit(router='trie').router.name)",
    )
    assert listed.splitlines() == [
        "[('logger', 'kit-logger', '0.1.0', 'kit.logger:logger')]",
        "logger",
        "TrieRouter",
    ]


@pytest.mark.parametrize("name", ["kit-bearer-auth", "kit-trailing-slash", "kit-logger"])
def test_middleware_stands_on_the_interface_alone(
    name: str, wheels: dict[str, Path], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    run(python, "-m", "pip", "install", "--quiet", wheels["kit-interface"], wheels[name])
    module = name.replace("kit-", "kit.").replace("-", "_")
    assert run(python, "-c", f"import {module}; print({module}.__name__)") == module + "\n"
    # Its types hold without kit-core, those inside the package and those of its use.
    own_name = module.removeprefix("kit.")
    factory = "trim_trailing_slash" if own_name == "trailing_slash" else own_name
    argument = 'token="t"' if factory == "bearer_auth" else ""
    use = tmp_path / "use.py"
    use.write_text(
        "from typing import assert_type\n"
        "from kit.interface import Middleware\n"
        f"from {module} import {factory}\n"
        f"assert_type({factory}({argument}), Middleware)\n"
    )
    mypy = ("-m", "mypy", "--strict", "--python-executable", python, "--cache-dir", tmp_path)
    said = run(sys.executable, *mypy, "-p", module, cwd=tmp_path)
    assert said.startswith("Success: no issues found"), said
    said = run(sys.executable, *mypy, use, cwd=tmp_path)
    assert said.startswith("Success: no issues found"), said


def test_command_without_its_extra_names_the_pip_command(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    names = ("kit-interface", "kit-routers", "kit-core", "kit-dev")
    run(python, "-m", "pip", "install", "--quiet", *(wheels[name] for name in names))
    (tmp_path / "app.py").write_text("from kit import Kit\napp = Kit()\n")
    said = run(python.parent / "kit", "serve", tmp_path / "app.py", code=1)
    assert "pip install 'kit-dev[serve]'" in said
    assert run(python.parent / "kit", "--version").startswith("kit")
