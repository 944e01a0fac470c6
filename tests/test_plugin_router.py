# SPDX-License-Identifier: MIT
"""A router from a distribution outside of the workspace, as its author and its users have it."""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
from commands import run

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "examples" / "plugin-router"
README = (PLUGIN / "README.md").read_text()
pytestmark = pytest.mark.slow

USE = """
import asyncio
from kit import Kit

app = Kit(router="segment-hash")
app.use("*", lambda c, next: next())
app.get("/hello", lambda c: c.text("literal"))
app.get("/hello/:name", lambda c: c.json({"hello": c.req.param("name")}))
for path in ("/hello", "/hello/w%C3%B6rld", "/hello/"):
    response = asyncio.run(app.request(path))
    print(response.status, asyncio.run(response.text()))
print(app.router.name)
"""
REFUSE = """
from kit import Kit
from kit.interface import UnsupportedPathError

try:
    Kit(router="segment-hash").get("/users/:id{[0-9]+}", lambda c: c.text("x"))
except UnsupportedPathError as error:
    print(error)
"""
LIST = """
from kit.interface import plugins

for plugin in plugins.installed("kit.routers"):
    print(*plugin[1:])
"""
STAND_ALONE = """
import sys
from segment_hash_router import SegmentHashRouter

router = SegmentHashRouter()
router.add("GET", "/users/:id", "handler")
print(router.match("GET", "/users/7"))
print(sorted({name.partition(".")[2].partition(".")[0] for name in sys.modules
    if name.startswith("kit.")}))
"""


def install(python: Path, *what: str | Path) -> None:
    run("uv", "pip", "install", "--quiet", "--python", python, *what)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and source of the plugin."""
    folder = tmp_path_factory.mktemp("plugin")
    run("uv", "--directory", PLUGIN, "build", "--quiet", "--no-sources", "-o", folder)
    return folder


@pytest.fixture(scope="module")
def environment(
    wheels: dict[str, Path], dist: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An interpreter with kit-core, the plugin, and what the plugin's tests need."""
    folder = tmp_path_factory.mktemp("environment")
    run("uv", "venv", "--quiet", "--python", sys.executable, folder / "venv")
    python = folder / "venv" / "bin" / "python"
    [plugin] = dist.glob("*.whl")
    # First with the interface as its only neighbour: that is all it may need.
    install(python, wheels["kit-interface"], plugin)
    assert run(python, "-c", STAND_ALONE).splitlines() == [
        "([('handler', {'id': 1})], ['users', '7'])",
        "['interface']",
    ]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    pins = folder / "pins.txt"
    pins.write_text("\n".join(settings["constraint-dependencies"]))
    kit = (wheels[name] for name in ("kit-interface", "kit-routers", "kit-core"))
    install(python, "--constraint", pins, *kit, f"segment-hash-router[test] @ {plugin.as_uri()}")
    return python


def test_an_app_asks_for_it_by_name(environment: Path) -> None:
    assert run(environment, "-c", USE).splitlines() == [
        "200 literal",
        '200 {"hello":"wörld"}',
        "404 404 Not Found",
        "SegmentHashRouter",
    ]


def test_what_it_refuses_reaches_the_developer(environment: Path) -> None:
    assert run(environment, "-c", REFUSE) == (
        "Unsupported route GET '/users/:id{[0-9]+}' at position 10: "
        "SegmentHashRouter reads no expressions in braces\n"
    )


def test_it_is_listed_with_distribution_and_version(environment: Path) -> None:
    target = "segment_hash_router:SegmentHashRouter"
    listed = run(environment, "-c", LIST).splitlines()
    assert f"segment-hash segment-hash-router 0.1.0 {target}" in listed
    assert [line for line in listed if line.startswith("trie kit-routers ")]


def test_its_own_tests_pass_from_its_source_distribution(
    dist: Path, environment: Path, tmp_path: Path
) -> None:
    [archive] = dist.glob("segment_hash_router-*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(tmp_path, filter="data")
    [folder] = tmp_path.iterdir()
    names = {path.name for path in folder.iterdir()}
    assert {"README.md", "LICENSE", "pyproject.toml", "src", "tests"} <= names
    said = run(environment, "-m", "pytest", "-p", "no:cacheprovider", cwd=folder)
    assert int(re.findall(r"(\d+) passed", said)[0]) > 80


def test_its_readme_makes_a_router(environment: Path, tmp_path: Path) -> None:
    files = re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)```", README, re.DOTALL | re.MULTILINE)
    assert len(files) == 3
    for name, text in [*files, ("src/my_router/py.typed", "")]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    run("uv", "--directory", tmp_path, "build", "--quiet", "--wheel")
    [wheel] = (tmp_path / "dist").glob("*.whl")
    install(environment, "--no-deps", wheel)
    said = run(environment, "-m", "pytest", "-p", "no:cacheprovider", cwd=tmp_path)
    assert int(re.findall(r"(\d+) passed", said)[0]) > 50
    use = "from kit import Kit; print(Kit(router='my').router.name)"
    assert run(environment, "-c", use) == "MyRouter\n"


def test_its_readme_says_how_it_is_used(environment: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)```", README, re.DOTALL | re.MULTILINE)
    uses = [block for block in blocks if block.startswith("from kit import Kit")]
    assert len(uses) == 2
    ask = "\nimport asyncio; print(asyncio.run(app.request('/users/7')).status, app.router.name)"
    said = [run(environment, "-c", block + ask).rstrip() for block in uses]
    assert said == ["200 SegmentHashRouter", "200 SmartRouter + TrieRouter"]


def test_links_of_its_readme_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert len(targets) >= 4
    assert [target for target in targets if not (PLUGIN / target).exists()] == []
